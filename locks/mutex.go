package locks

import (
	"context"

	"github.com/orwl/go-orwl/net/rma"
)

// Mutex is one rank's side of a lock. It is used by one goroutine at a time,
// like the window it stands on.
type Mutex interface {
	// Acquire returns when the rank holds the lock. It fails with ctx's error,
	// holding nothing, if ctx is done before the rank queues up, and afterwards
	// as far as Spec.Aborts says; with an error that matches ErrBroken if the
	// window fails, and then every later Acquire does. Acquiring a lock that
	// the rank holds is a *MisuseError, as a panic.
	//
	// Everything that the last holder completed, and all its Puts, are visible.
	Acquire(ctx context.Context) error

	// Release completes every operation that the rank issued on the window, and
	// lets go. Releasing a lock that the rank does not hold panics with a
	// *MisuseError. On a broken lock it does nothing.
	Release()
}

// RWMutex is one rank's side of a reader-writer lock; Acquire and Release are
// the writer's. A rank holds it in one mode at a time.
type RWMutex interface {
	Mutex

	// AcquireRead returns when the rank holds the lock together with readers
	// only. It fails as Acquire does.
	AcquireRead(ctx context.Context) error

	// ReleaseRead completes every operation that the rank issued, and lets go.
	ReleaseRead()
}

// Tryer is the capability of a lock that can be had at once or not at all.
type Tryer interface {
	// TryAcquire reports whether the rank holds the lock now. It never waits,
	// and a failed one orders nothing.
	TryAcquire() bool
}

// ReadTryer is Tryer for readers.
type ReadTryer interface {
	// TryAcquireRead reports whether the rank holds the lock now, together with
	// readers only.
	TryAcquireRead() bool
}

// Cohort is the capability of a lock that knows about its waiters: what a cohort
// lock needs of the lock inside it ("alone?" in the papers).
type Cohort interface {
	// Alone reports whether nobody is known to wait, for the holder. True may
	// be out of date at once; false stays true until Release.
	Alone() bool
}

// Oblivious is the capability of a lock that one rank acquires and another one
// releases ("thread-oblivious"): Disown on the side of the holder, then Adopt
// on the side of the rank that will release. How the second learns of the first
// is theirs to arrange.
type Oblivious interface {
	// Disown ends the rank's claim on a lock that it holds, and leaves the lock
	// as it is.
	Disown()
	// Adopt makes the lock the rank's, which another one has disowned.
	Adopt()
}

// Counts is how a rank came by a lock and how it passed it on.
type Counts struct {
	Acquired uint64 // acquisitions that succeeded
	Waited   uint64 // of these, those that found a predecessor

	// Locks with more than one level: acquisitions that had to go beyond the
	// rank's own element, and those that waited there.
	Upper, UpperWaited uint64
	// Passed is how often the rank handed the lock on within its element.
	Passed uint64

	Broken uint64 // acquisitions that failed because the lock is broken
}

// Contention is the share of acquisitions that found a predecessor.
func (c Counts) Contention() float64 { return share(c.Waited, c.Acquired) }

// UpperContention is the share of acquisitions beyond the element that found a
// predecessor there.
func (c Counts) UpperContention() float64 { return share(c.UpperWaited, c.Upper) }

// Locality is the share of acquisitions that were followed by a hand-over within
// the element.
func (c Counts) Locality() float64 { return share(c.Passed, c.Acquired) }

// Add is the sum of two ranks' counts.
func (c Counts) Add(d Counts) Counts {
	return Counts{c.Acquired + d.Acquired, c.Waited + d.Waited, c.Upper + d.Upper,
		c.UpperWaited + d.UpperWaited, c.Passed + d.Passed, c.Broken + d.Broken}
}

func share(part, whole uint64) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// Counter is the capability to tell one's counts, to the goroutine that uses the
// lock. Every lock of this package has it.
type Counter interface {
	// Counts is what the rank has counted so far.
	Counts() Counts
}

// Rank is a place of execution.
type Rank = rma.Rank
