package leases

import (
	"testing"
	"time"
)

var easy = Terms{Lease: 1000, Skew: 200}

// TestTerms has the numbers of an easy lease.
func TestTerms(t *testing.T) {
	for what, c := range map[string][2]int64{
		"lets go":  {easy.LetsGo(5000), 5800},
		"gives up": {easy.GivesUp(5000), 6200},
		"notice":   {easy.Notice(), 600},
		"quiet":    {easy.Quiet(), 600},
		"stalls":   {easy.Stalls(5000), 5400},
		"beat":     {int64(easy.MostBeat()), 400},
		"pace":     {int64(easy.Pace(8)), 31},
		"of many":  {int64(easy.Pace(9)), 62},
	} {
		if c[0] != c[1] {
			t.Errorf("%s: %d, want %d", what, c[0], c[1])
		}
	}
}

// TestTermsOfAnyLease sees that a notice leaves time for beats before it.
func TestTermsOfAnyLease(t *testing.T) {
	for _, lease := range []time.Duration{10 * time.Millisecond, 1500 * time.Millisecond, time.Hour} {
		for _, skew := range []time.Duration{0, lease / 6, lease / 2} {
			terms := Terms{Lease: lease, Skew: skew}
			if most := int64(terms.MostBeat()); terms.Quiet() < most || terms.Notice() < most {
				t.Errorf("%+v: a peer is quiet after %d, and its notice stands for %d, with a beat of %d", terms, terms.Quiet(), terms.Notice(), most)
			}
		}
	}
}
