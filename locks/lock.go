package locks

import (
	"context"

	"github.com/orwl/go-orwl/net/rma"
)

// Rank is a place of execution.
type Rank = rma.Rank

// Mutex is one rank's side of a lock. One goroutine at a time uses it, as it uses the
// window below it.
type Mutex interface {
	// Acquire returns when the rank holds the lock. Then everything that the last
	// holder completed, and all its Puts, are visible.
	//
	// Acquire fails with ctx's error, and holds nothing, if ctx is done before the
	// rank queues up; after that, Spec.Aborts says whether it gives up. It fails with
	// a *BrokenError if the window fails; then every later Acquire fails, too. A rank
	// that acquires a lock which it holds makes it panic with a *MisuseError.
	Acquire(ctx context.Context) error

	// Release completes every operation that the rank issued on the window, and lets
	// go of the lock. It panics with a *MisuseError if the rank does not hold the
	// lock. If the window has failed, Release hands over nothing.
	Release()
}

// RWMutex is one rank's side of a reader-writer lock. Acquire and Release are the
// writer's. A rank holds the lock in one mode at a time.
type RWMutex interface {
	Mutex

	// AcquireRead returns when the rank holds the lock, alone or beside other readers.
	// It fails as Acquire does.
	AcquireRead(ctx context.Context) error

	// ReleaseRead is Release for a reader.
	ReleaseRead()
}

// PriorityMutex is one rank's side of a lock with two priorities. Acquire and TryAcquire are
// for high priority. Release is for both.
type PriorityMutex interface {
	Mutex

	// AcquireLow is Acquire with low priority: ranks of high priority go first.
	AcquireLow(ctx context.Context) error
}

// Tryer is the capability of a lock that a rank can have at once or not at all.
type Tryer interface {
	// TryAcquire takes the lock if it is free, and reports whether the rank holds it
	// now. It never waits. A failed one orders nothing.
	TryAcquire() bool
}

// ReadTryer is Tryer for readers.
type ReadTryer interface {
	// TryAcquireRead takes the lock if no writer has it or wants it, and reports
	// whether the rank holds it now.
	TryAcquireRead() bool
}

// Cohort is the capability of a lock that knows its waiters. A cohort lock needs it
// of its local lock ("alone?" in the papers).
type Cohort interface {
	// Alone reports whether the holder knows of no waiter. True may be out of date at
	// once; false stays false until Release.
	Alone() bool
}

// Oblivious is the capability of a lock that one rank acquires and another releases
// ("thread-oblivious"): Disown at the holder's side, then Adopt at the side of the
// rank that will release. The program orders the two.
type Oblivious interface {
	// Disown ends the rank's claim on a lock that it holds, and leaves the lock held.
	Disown()
	// Adopt makes a lock that another rank has disowned the rank's own.
	Adopt()
}

// Counter is the capability to count. Every lock of this package has it.
type Counter interface {
	// Counts is what the rank has counted so far. Any goroutine may ask; it may see an
	// acquisition that is under way in part.
	Counts() Counts
}

// Counts tells how a rank came by a lock and how it passed it on.
type Counts struct {
	Acquired uint64 // acquisitions that succeeded
	Waited   uint64 // the share of Acquired that found a predecessor

	// In locks with more than one level: acquisitions that went beyond the rank's own
	// element, and the share of them that waited there.
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

// Locality is the share of acquisitions that ended in a hand-over within the element.
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
