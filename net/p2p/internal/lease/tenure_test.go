package lease

import (
	"math/rand/v2"
	"testing"

	"github.com/orwl/go-orwl/net/p2p/internal/loan"
)

// easy are terms in units that are easy to count: a peer is quiet after 600, and lost
// after 1200; a notice stands for 600.
var easy = Terms{Lease: 1000, Skew: 200}

// village is a witness in virtual time.
type village struct {
	at     int64
	is     loan.Condition
	notice bool
	odd    bool // it was told again what it knew
}

func (v *village) Now() int64                { return v.at }
func (v *village) Condition() loan.Condition { return v.is }
func (v *village) Give(notice bool) {
	v.odd = v.odd || notice == v.notice
	v.notice = notice
}

// TestTenure plays what a home sees of a peer, look by look.
func TestTenure(t *testing.T) {
	type sight struct {
		at, heard int64
		is        loan.Condition
		notice    bool // it has given notice afterwards
		slow      bool
		lost      error
	}
	for name, sights := range map[string][]sight{
		"a peer that is heard is not looked at": {
			{at: 599, is: loan.Ended},
			{at: 1599, heard: 1000, is: loan.Stopped},
		},
		"a peer that runs is slow, for however long": {
			{at: 600, is: loan.Runs},
			{at: 1199, is: loan.Runs},
			{at: 1200, is: loan.Runs, slow: true},
			{at: 1e9, is: loan.Runs, slow: true},
			{at: 1e9 + 1, heard: 1e9, is: loan.Runs},
		},
		"a stopped peer is lost at lease and skew": {
			{at: 599, is: loan.Stopped},
			{at: 600, is: loan.Stopped, notice: true},
			{at: 1199, is: loan.Stopped, notice: true},
			{at: 1200, is: loan.Stopped, notice: true, lost: ErrStopped},
		},
		"a notice stands for its time, however late the home is": {
			{at: 5000, is: loan.Stopped, notice: true},
			{at: 5599, is: loan.Stopped, notice: true},
			{at: 5600, is: loan.Stopped, notice: true, lost: ErrStopped},
		},
		"a slow peer that is stopped is lost after its notice": {
			{at: 9000, is: loan.Runs, slow: true},
			{at: 9100, is: loan.Stopped, notice: true, slow: true},
			{at: 9699, is: loan.Stopped, notice: true, slow: true},
			{at: 9700, is: loan.Stopped, notice: true, slow: true, lost: ErrStopped},
		},
		"a notice is withdrawn when the peer runs, and begins anew": {
			{at: 600, is: loan.Stopped, notice: true},
			{at: 900, is: loan.Runs},
			{at: 1000, is: loan.Stopped, notice: true},
			{at: 1599, is: loan.Stopped, notice: true},
			{at: 1600, is: loan.Stopped, notice: true, lost: ErrStopped},
		},
		"a notice is withdrawn when the peer is heard": {
			{at: 600, is: loan.Stopped, notice: true},
			{at: 1200, heard: 1100, is: loan.Stopped},
			{at: 1700, heard: 1100, is: loan.Stopped, notice: true},
			{at: 2300, heard: 1100, is: loan.Stopped, notice: true, lost: ErrStopped},
		},
		"a notice from before the peer was heard is not enough": {
			{at: 600, is: loan.Stopped, notice: true},
			{at: 1799, heard: 600, is: loan.Stopped, notice: true},
			{at: 1800, heard: 600, is: loan.Stopped, notice: true, lost: ErrStopped},
		},
		"a peer that has ended is lost at once": {
			{at: 600, is: loan.Ended, lost: ErrEnded},
		},
		"a slow peer that has ended, too": {
			{at: 5000, is: loan.Runs, slow: true},
			{at: 5001, is: loan.Ended, slow: true, lost: ErrEnded},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var v village
			var held Tenure
			for _, s := range sights {
				v.at, v.is = s.at, s.is
				lost := held.Look(easy, s.heard, &v)
				if lost != s.lost || v.notice != s.notice || held.slow != s.slow {
					t.Fatalf("at %d: lost by %v, notice %t, slow %t; want %v, %t, %t",
						s.at, lost, v.notice, held.slow, s.lost, s.notice, s.slow)
				}
				if v.odd {
					t.Errorf("at %d: a notice is given or withdrawn twice", s.at)
				}
				if next := held.Next(easy, s.heard); !v.notice && next != s.heard+easy.Quiet() {
					t.Errorf("at %d: the next look is at %d, want when the peer is quiet", s.at, next)
				}
				waits := v.notice || s.at-s.heard < easy.Quiet()
				if next := held.Next(easy, s.heard); waits && lost == nil && next <= s.at {
					t.Errorf("at %d: the next look is at %d, want later", s.at, next)
				}
			}
		})
	}
}

// race is a witness whose holder looks for a notice while the home is held up between
// any two steps.
type race struct {
	*rand.Rand
	at     int64
	notice bool
	late   bool // a broken home reads its clock before it writes the word
	unsaid bool // and has not written it yet
	next   int64
	claim  int64 // until when the holder keeps what it holds
	given  int
	taken  int
}

// beatMost is the longest beat that the terms allow, by the home's clock: the holder's is as
// slow as it may be, and the home's as fast.
var beatMost = int64(easy.MostBeat()) * int64(easy.Lease+easy.Skew) / int64(easy.Lease-easy.Skew)

// pass lets time pass, in which the holder looks.
func (r *race) pass(most int64) {
	r.at += r.Int64N(most)
	for r.next <= r.at {
		if !r.notice {
			r.claim = r.next + beatMost
		}
		r.next += 1 + r.Int64N(beatMost)
	}
}

func (r *race) Now() int64 {
	r.pass(300)
	now := r.at
	if r.unsaid {
		r.pass(3000)
		r.notice, r.unsaid = true, false
	}
	return now
}

func (r *race) Condition() loan.Condition {
	r.pass(300)
	if r.IntN(20) == 0 {
		return loan.Runs
	}
	return loan.Stopped
}

func (r *race) Give(notice bool) {
	if notice {
		r.given++
	} else {
		r.taken++
	}
	if r.late && notice {
		r.unsaid = true
		return
	}
	r.pass(3000)
	r.notice = notice
	r.pass(3000)
}

// outlives plays until the home loses the holder, and reports whether the holder then
// still keeps something.
func (r *race) outlives() bool {
	var held Tenure
	for heard := int64(0); ; {
		if r.IntN(10) == 0 {
			heard = r.at
		}
		if held.Look(easy, heard, r) != nil {
			return r.claim > r.at
		}
		r.pass(400)
	}
}

// TestTenureProof lets a home lose a holder under 10,000 schedules. In each the holder has
// let go before. The test must catch a home that reads its clock before it writes the
// notice.
func TestTenureProof(t *testing.T) {
	given, taken, caught := 0, 0, 0
	for seed := range uint64(10_000) {
		r := &race{Rand: rand.New(rand.NewPCG(seed, 0))}
		if r.outlives() {
			t.Fatalf("seed %d: the home loses the holder at %d, who keeps what it holds until %d", seed, r.at, r.claim)
		}
		given, taken = given+r.given, taken+r.taken
		broken := &race{Rand: rand.New(rand.NewPCG(seed, 0)), late: true}
		if broken.outlives() {
			caught++
		}
	}
	if given == 0 || taken == 0 || caught == 0 {
		t.Errorf("%d notices given, %d withdrawn, %d broken homes caught: want some of each", given, taken, caught)
	}
}
