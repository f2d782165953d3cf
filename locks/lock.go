package locks

import (
	"context"
	"errors"
	"fmt"
	"strings"

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

// ErrBroken is matched by every *BrokenError.
var ErrBroken = errors.New("locks: lock is broken")

// BrokenError is the error of a lock whose protocol a failure of the window
// interrupted. Nobody gets such a lock any more.
type BrokenError struct {
	Lock  string
	Rank  Rank
	Cause error // the window's failure
}

func (e *BrokenError) Error() string {
	return fmt.Sprintf("locks: %s is broken for rank %d: %v: make a new lock on a fabric of the survivors", e.Lock, e.Rank, e.Cause)
}

// Is matches ErrBroken.
func (e *BrokenError) Is(target error) bool { return target == ErrBroken }

// Unwrap makes errors.Is find the cause.
func (e *BrokenError) Unwrap() error { return e.Cause }

// MisuseError is the value of the panic after a call that no correct program
// makes.
type MisuseError struct {
	Lock string
	Rank Rank // negative if a goroutine without a rank made it
	What string
}

func (e *MisuseError) Error() string {
	if e.Rank < 0 {
		return fmt.Sprintf("locks: %s %s", e.Lock, e.What)
	}
	return fmt.Sprintf("locks: %s, rank %d: %s", e.Lock, e.Rank, e.What)
}

// OptionError is an option that a lock cannot be made with.
type OptionError struct {
	Lock, Option string
	Value        any
	Want         string
}

func (e *OptionError) Error() string {
	return fmt.Sprintf("locks: %s: option %s is %v, want %s", e.Lock, e.Option, e.Value, e.Want)
}

// nested is a whole lock inside another one: a lock of the family that the other one is made
// of, whichever it is.
type nested struct {
	Mutex
	lock *Lock
}

// newNested is the rank's side of a lock of that spec, whose words begin at base.
func newNested(outer *Lock, s Spec, base base, w rma.Window) nested {
	o := nestedOptions(outer.o)
	o.Operations = o.Operations || s.Operations
	l := &Lock{spec: s, o: o.withDefaults(o.Name, outer.tree), tree: outer.tree, base: base, number: 1}
	return nested{s.at(l, w), l}
}

// nestedOptions are those that a lock hands on to the locks that it is made of.
func nestedOptions(o Options) Options {
	return Options{Name: o.Name, Home: o.Home, Operations: o.Operations}
}

// acquire acquires the lock, and reports whether the rank found a predecessor. The rank does
// not give up: a lock whose waiters give up may know of one that has gone.
func (n nested) acquire() (waited bool, err error) {
	before := n.counted()
	err = n.Acquire(forever())
	return n.counted() > before, err
}

// counted is how often the rank has found a predecessor.
func (n nested) counted() uint64 {
	c := n.Mutex.(Counter).Counts()
	return c.Waited + c.UpperWaited
}

// tryAcquire takes the lock if it is free.
func (n nested) tryAcquire() bool { return n.Mutex.(Tryer).TryAcquire() }

// alone reports whether the holder knows of no waiter.
func (n nested) alone() bool { return n.Mutex.(Cohort).Alone() }

// knowsWaiters reports whether the lock's sides are a Cohort.
func (s Spec) knowsWaiters() bool {
	switch s.Name {
	case "TAS", "TTS", "TKT-A", "foMPI-Spin", "SHFL", "SHFL-TAS", "TTS-MCS", "TAS-MCS", "Fissile":
		return false
	}
	return s.Kind == Exclusive && !s.Recoverable
}

// costOfAlone is what Alone takes of the network: where no rank waits, and where a neighbour
// does. A cohort lock asks its local lock, whose name comes last.
func (s Spec) costOfAlone() (none, one Operations) {
	look := Operations{Gets: 1}
	switch local := s.Name[strings.LastIndex(s.Name, "-")+1:]; {
	case s.Name == "HMCS", s.Name == "RMA-MCS", s.Name == "ALock":
		return look, Operations{} // each level but the finest, or the other tail, is at another rank
	case local == "TKT", local == "TWA":
		return look.plus(look), look.plus(look)
	case local == "TTS", local == "RH", local == "Reciprocating", strings.Contains(s.Name, "CLH"), strings.Contains(s.Name, "HEM"):
		return look, look
	}
	return Operations{}, Operations{}
}
