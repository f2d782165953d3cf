package direct

import (
	"runtime"
	"sync"
	"time"
)

// Spinning before sleeping pays when the rank that will make the condition true
// runs on another core right now, and wastes a core that it needs when it does
// not. Which of the two holds is learnt: a wait that ended while spinning
// doubles the next wait's share, a wait that had to sleep halves it.
const (
	spinMost   = 32 // looks at the word, one or two µs
	spinLeast  = 4
	spinRelax  = 1    // pauses between looks; one is 40 to 140 cycles
	spinProbe  = 32   // a rank that has stopped spinning tries again after so many waits
	spinRarest = 1024 // and if that does not pay, ever more seldom, down to this: a try costs as much as a wait
	spinYield  = 8    // looks between two yields
)

// Spin is how the ranks of a World spin. The zero value is for ranks that are
// goroutines of one process, more than it has processors.
type Spin struct {
	// Most is the largest number of looks at the word before a rank sleeps.
	Most int
	// Probe is the number of looks of a rank that has stopped spinning and
	// tries again. Where waking somebody takes long, both sides of a fast
	// exchange sleep for ever unless one tries for longer than that.
	Probe int
	// Rarest is the largest number of waits between two tries: each that fails
	// doubles it.
	Rarest int
	// Yield, if there is one, lets other processes run. It is called now and
	// then by a rank that looks for long.
	Yield func()
	// Elsewhere says that ranks run in other processes too, so that spinning
	// may pay although this process has one processor.
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
	alone   bool  // nobody else can run while this rank spins
	Spin
}

func newSpin(limits Spin) spin {
	limits = limits.withDefaults()
	return spin{Spin: limits, looks: int32(limits.Most), between: spinProbe,
		// Asked once: it takes a lock of the Go scheduler.
		alone: runtime.GOMAXPROCS(0) == 1 && !limits.Elsewhere}
}

// begin is how often the next wait may look before it sleeps.
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

// Looks is how many looks at a word take about d on this machine. What one
// takes differs between processors by more than ten times.
func Looks(d time.Duration) int { return max(spinLeast, int(d/lookTime())) }

// lookTime is the shortest of a few measurements: the others were disturbed.
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
