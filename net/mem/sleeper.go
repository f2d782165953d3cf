package mem

import "github.com/orwl/go-orwl/net/rma"

// sleeper parks goroutines: one channel of capacity one per rank, the cheapest
// hand-over between two goroutines that was measured here.
type sleeper []chan struct{}

func newSleeper(ranks int) sleeper {
	s := make(sleeper, ranks)
	for p := range s {
		s[p] = make(chan struct{}, 1)
	}
	return s
}

// Sleep implements direct.Sleeper.
func (s sleeper) Sleep(p rma.Rank) { <-s[p] }

// Wake implements direct.Sleeper.
func (s sleeper) Wake(p rma.Rank) { s[p] <- struct{}{} }
