package direct

import (
	"runtime"
	"sync"
	"time"
)

// To spin before sleeping pays if the rank that will change the word runs on another
// core right now. If not, it wastes a core. A rank learns which of the two holds: a
// wait that ends while spinning doubles the next wait's looks, and a wait that has to
// sleep halves them.
const (
	spinMost   = 32   // looks at the word, one or two µs
	spinLeast  = 4    // fewer looks are none
	spinRelax  = 1    // pauses between two looks, each 40 to 140 cycles
	spinProbe  = 32   // waits until a rank that has stopped spinning tries again
	spinRarest = 1024 // waits between two tries at most, since a try costs as much as a wait
)

// Spin is how the ranks of a World spin. The zero value is for ranks that are
// goroutines of one process and outnumber its processors.
type Spin struct {
	// Most is how many times a rank looks at the word before it sleeps, at most.
	Most int
	// Probe is how many times a rank looks that has stopped spinning and tries
	// again. Where a wake-up takes long, two ranks of a fast exchange sleep for
	// ever unless one of them tries for longer than that.
	Probe int
	// Rarest is how many waits lie between two tries, at most. Each try that fails
	// doubles their number.
	Rarest int
	// Elsewhere says that ranks run in other processes too. Then spinning may pay
	// although this process has one processor.
	Elsewhere bool
}

func (s Spin) withDefaults() Spin {
	if s.Most == 0 {
		s.Most = spinMost
	}
	if s.Probe == 0 {
		s.Probe = spinLeast
	}
	if s.Rarest == 0 {
		s.Rarest = spinRarest
	}
	return s
}

// spin is one rank's experience with spinning.
type spin struct {
	looks   int32
	slept   int32 // waits since the last try
	between int32 // waits between tries
	trying  bool  // the last wait that spun was a try
	alone   bool  // no other rank can run while this one spins
	Spin
}

func newSpin(limits Spin) spin {
	limits = limits.withDefaults()
	return spin{Spin: limits, looks: int32(limits.Most), between: spinProbe,
		// GOMAXPROCS takes a lock of the Go scheduler.
		alone: runtime.GOMAXPROCS(0) == 1 && !limits.Elsewhere}
}

// begin is how many times the next wait looks before it sleeps.
func (s *spin) begin() int32 {
	if s.alone {
		return 0
	}
	if s.looks < spinLeast {
		if s.slept++; s.slept < s.between {
			return 0
		}
		s.slept, s.looks, s.trying = 0, int32(s.Probe), true
	}
	return s.looks
}

// paid remembers that the wait ended while spinning.
func (s *spin) paid() {
	s.looks = min(2*s.looks, int32(s.Most))
	s.between, s.trying = spinProbe, false
}

// wasted remembers that it did not.
func (s *spin) wasted() {
	if s.looks /= 2; s.trying {
		s.looks, s.trying = 0, false
		s.between = min(2*s.between, int32(s.Rarest))
	}
}

// Looks is how many looks at a word take about d on this machine. Processors differ by
// more than ten times.
func Looks(d time.Duration) int { return max(spinLeast, int(d/lookTime())) }

// lookTime is the shortest of a few measurements. Longer ones were disturbed.
var lookTime = sync.OnceValue(func() time.Duration {
	const tries, looks = 8, 32
	best := time.Hour
	for range tries {
		begin := time.Now()
		relax(looks * spinRelax)
		best = min(best, time.Since(begin))
	}
	return max(1, best/looks)
})
