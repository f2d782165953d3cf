package lockstest

import (
	"slices"

	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/rma"
)

// Specimen is a way to break a lock: one defect that an implementation could have. It
// shows that the suite finds the defect.
type Specimen struct {
	Name string
	// Of is the row of the table that Break changes. It does not have the defect.
	Of string
	// Defect says what is wrong with the broken lock.
	Defect string
	// Break puts the defect into a lock.
	Break func(s Subject) Subject
	// RejectedBy names the cases that must fail, each on its own, in the simulator
	// within a few seeds.
	RejectedBy []string
}

// Broken lists every specimen. Each case rejects at least one.
func Broken() []Specimen {
	return slices.Concat(brokenExclusion, brokenOrder, brokenProgress, brokenTries, brokenAborts,
		brokenCohorts, brokenMisuse, brokenCounts, brokenLives)
}

// withSide is the Break of a defect in each rank's side.
func withSide[M locks.Mutex](wrap func(m M, w rma.Window) locks.Mutex) func(Subject) Subject {
	return func(s Subject) Subject {
		whole := s.New
		s.New = func(f rma.Fabric, o locks.Options) (At, error) {
			at, err := whole(f, o)
			return func(w rma.Window) locks.Mutex { return wrap(at(w).(M), w) }, err
		}
		return s
	}
}

// withWindow is the Break of a defect in the lock's window operations.
func withWindow(wrap func(w rma.Window) rma.Window) func(Subject) Subject {
	return func(s Subject) Subject {
		whole := s.New
		s.New = func(f rma.Fabric, o locks.Options) (At, error) {
			at, err := whole(f, o)
			return func(w rma.Window) locks.Mutex { return at(wrap(w)) }, err
		}
		return s
	}
}

// withOptions is the Break of a lock that ignores its options.
func withOptions(with func(o *locks.Options)) func(Subject) Subject {
	return func(s Subject) Subject {
		whole := s.New
		s.New = func(f rma.Fabric, o locks.Options) (At, error) {
			with(&o)
			return whole(f, o)
		}
		return s
	}
}

// The interfaces of the sides of the broken rows.
type (
	queued interface { // MCS, HMCS
		locks.Mutex
		locks.Tryer
		locks.Cohort
		locks.Counter
	}
	plain interface { // D-MCS
		locks.Mutex
		locks.Counter
	}
	handedOn interface { // TKT
		locks.Mutex
		locks.Oblivious
		locks.Counter
	}
	shareable interface { // RMA-RW
		locks.RWMutex
		locks.Tryer
		locks.ReadTryer
		locks.Counter
	}
)
