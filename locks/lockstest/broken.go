package lockstest

import (
	"slices"

	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/rma"
)

// Specimen is a way to break a lock: one defect, such as an implementation may
// have. It is there to show that the suite finds it.
type Specimen struct {
	Name string
	// Of is the row of the table that has no such defect.
	Of string
	// Defect says what is wrong with the lock that Break makes.
	Defect string
	// Break puts the defect into a lock.
	Break func(s Subject) Subject
	// RejectedBy names the cases that must fail, each on its own: in the
	// simulator, within a few seeds.
	RejectedBy []string
}

// Broken is every specimen. Each case rejects at least one.
func Broken() []Specimen {
	return slices.Concat(brokenExclusion, brokenOrder, brokenProgress, brokenTries, brokenAborts,
		brokenCohorts, brokenMisuse, brokenCounts, brokenLives)
}

// withHandle is the Break of a defect that is in each rank's handle.
func withHandle[M locks.Mutex](wrap func(m M, w rma.Window) locks.Mutex) func(Subject) Subject {
	return func(s Subject) Subject {
		whole := s.New
		s.New = func(f rma.Fabric, o locks.Options) (At, error) {
			at, err := whole(f, o)
			return func(w rma.Window) locks.Mutex { return wrap(at(w).(M), w) }, err
		}
		return s
	}
}

// withWindow is the Break of a defect in what the lock does with its window.
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

// withOptions is the Break of a lock that does not heed its options.
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

// What the rows that are broken can do.
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
