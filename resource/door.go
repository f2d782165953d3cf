package resource

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/rma"
)

// The relaxed door gives access without an order: straight through the guard to the
// bytes. It excludes ordered access, as a reader-writer lock does. It does not take
// part in the FIFO order. A resource has the door if [Options.Door] gives it one.
// Places pay nothing for it until the first relaxed access.
//
// Every relaxed access follows the leaf rule (leaf.go): the task holds no ordered
// grant, and waits for none inside. The first relaxed access also waits for every
// request that was made before it, until that request is acquired or cancelled, or
// until a writer after it is acquired.
//
// A group of ordered readers that more readers keep joining has no end. A relaxed write
// may then wait for ever. An ordered writer ends the group.

// ErrNoDoor says that the resource of a relaxed access has no relaxed door.
var ErrNoDoor = errors.New("resource has no relaxed door: give it one by Options.Door")

// ErrNoReach is a relaxed access on a node that is not the resource's home, if the guard is
// a lock of the home's process alone.
var ErrNoReach = errors.New("guard of the resource serves its home's process only: give it a Guard with Reach")

// Guard is the reader-writer lock between ordered and relaxed access, one side for
// each.
type Guard struct {
	// Ordered is the side of the FIFO. One goroutine at a time uses it. One goroutine
	// may acquire it and another release it.
	Ordered locks.RWMutex
	// Relaxed is the side of relaxed access.
	Relaxed Relaxed
	// Reach, if not nil, makes relaxed access work from every node. Ordered is then nil on
	// the nodes that are not the home.
	Reach *Reach
}

// Relaxed is a reader-writer lock for goroutines: a *lockers.RWLocker.
type Relaxed interface {
	// TryLock and TryRLock report whether the goroutine has the lock now, for writing
	// or beside other readers. They never wait.
	TryLock() bool
	TryRLock() bool
	// LockContext and RLockContext wait for it, and fail as a locks.RWMutex does.
	LockContext(ctx context.Context) error
	RLockContext(ctx context.Context) error
	// Unlock releases a lock for writing, RUnlock one for reading.
	Unlock()
	RUnlock()
}

// NewGuard makes a guard of l, a lock of f whose kind is ReaderWriter. The FIFO uses
// rank 0. Goroutines share the other ranks for relaxed access.
func NewGuard(l *locks.Lock, f rma.Fabric) (Guard, error) {
	ranks := f.Topology().Ranks()
	if ranks < 2 {
		return Guard{}, fmt.Errorf("resource: a guard on a fabric of %d rank: want one for the FIFO and at least one for the relaxed door", ranks)
	}
	relaxed := make([]locks.Rank, 0, ranks-1)
	for p := 1; p < ranks; p++ {
		relaxed = append(relaxed, locks.Rank(p))
	}
	return NewGuardOn(l, f, new(locks.Rank), relaxed, nil)
}

// DoorOptions configure relaxed access.
type DoorOptions struct {
	// Guard makes the lock at the first relaxed access. nil refuses relaxed access.
	Guard func() (Guard, error)
	// TL is the largest number of groups that the FIFO grants in a row while a relaxed
	// access waits: 1 to 2047, 50 if zero.
	TL int
	// Observer is told of each relaxed access, if not nil.
	Observer DoorObserver
}

// DefaultTL is DoorOptions.TL if that is zero.
const DefaultTL = 50

func (o DoorOptions) withDefaults() DoorOptions {
	if o.TL == 0 {
		o.TL = DefaultTL
	}
	return o
}

func (o DoorOptions) validate() error {
	if o.TL < 1 || o.TL > mostRun {
		return fmt.Errorf("resource: DoorOptions.TL is %d, want 1 to %d", o.TL, mostRun)
	}
	return nil
}

// door holds what a resource needs to make its guard.
type door struct {
	mu sync.Mutex   // held while the guard is made; places never take it
	o  *DoorOptions // nil: there is no door
	in func() Bed   // where the first relaxed accesses sleep, if not in a bed of their own
}

// hang gives the resource the door if the options have one.
func (r *Resource) hang(o DoorOptions) error {
	if o.Guard == nil {
		return nil
	}
	o = o.withDefaults()
	if err := o.validate(); err != nil {
		return fmt.Errorf("%q: %w", r.name, err)
	}
	r.door.o = &o
	return nil
}

// Open is the first relaxed access, and reads nothing. Before the first request it does
// not wait.
func (r *Resource) Open(ctx context.Context) error {
	err := holderOf(ctx).mayKnock(r)
	if err == nil {
		var g *guard
		if g, err = r.knock(ctx, Read, nil); err == nil {
			g.locks.Relaxed.RUnlock()
			return nil
		}
	}
	return r.relaxedError("open", Read, err)
}

// ReadRelaxed calls read with the bytes while there is no writer. The function must not
// change the bytes, and must not keep them. ReadRelaxed returns its error unchanged. If
// the resource is poisoned, ReadRelaxed returns an error that matches [ErrPoisoned], and
// does not call read.
func (r *Resource) ReadRelaxed(ctx context.Context, read func(b []byte) error) error {
	in, err := r.come(ctx, "relaxed read", Read)
	if err != nil {
		return err
	}
	defer in.Leave()
	if err := in.unpoisoned("relaxed read"); err != nil {
		return err
	}
	return read(in.Bytes())
}

// WriteRelaxed calls write with the bytes while there is no other reader or writer. The
// function must not keep the bytes. WriteRelaxed returns its error unchanged. If write
// returns an error, panics or calls runtime.Goexit, it has failed, and nothing is
// committed: see [Inside.Abandon].
func (r *Resource) WriteRelaxed(ctx context.Context, write func(b []byte) error) (err error) {
	in, err := r.come(ctx, "relaxed write", Write)
	if err != nil {
		return err
	}
	err = errUnfinished // unless write returns
	defer func() {
		if err != nil {
			in.Abandon(err)
		} else {
			in.Leave()
		}
	}()
	err = write(in.Bytes())
	return err
}

var errUnfinished = errors.New("resource: the relaxed writer ended by a panic or by runtime.Goexit")

// unpoisoned is the error of op if the resource is poisoned, for a relaxed reader inside.
func (i Inside) unpoisoned(op string) error {
	prior := i.Prior()
	if !errors.Is(prior, ErrPoisoned) {
		return nil
	}
	return i.r.relaxedError(op, Read, prior)
}

// Snapshot appends the bytes to dst as they are between two accesses, and returns their
// version. If the resource is poisoned, it appends them, too, and returns an error that
// matches [ErrPoisoned].
func (r *Resource) Snapshot(ctx context.Context, dst []byte) (bytes []byte, version uint64, err error) {
	in, err := r.come(ctx, "snapshot", Read)
	if err != nil {
		return dst, 0, err
	}
	defer in.Leave()
	return append(dst, in.Bytes()...), in.version(), in.unpoisoned("snapshot")
}

func (r *Resource) relaxedError(op string, m Mode, err error) error {
	return &PlaceError{Op: op, Mode: m, Resource: r.name, Err: err}
}

// knockable returns the guard, and makes it at the first call.
func (r *Resource) knockable() (*guard, error) {
	g := r.guard.Load()
	if g == nil {
		var err error
		if g, err = r.makeGuard(); err != nil {
			return nil, err
		}
	}
	g.arm()
	return g, nil
}

func (r *Resource) makeGuard() (*guard, error) {
	r.door.mu.Lock()
	defer r.door.mu.Unlock()
	if g := r.guard.Load(); g != nil {
		return g, nil
	}
	if r.door.o == nil {
		return nil, ErrNoDoor
	}
	made, err := r.door.o.Guard()
	if err != nil {
		return nil, fmt.Errorf("guard cannot be made: %w", err)
	}
	g := newGuard(r, made, r.door.o.TL)
	if made.Reach != nil {
		if err := g.reachable(); err != nil {
			return nil, err
		}
	} else if r.mirrored != nil {
		return nil, ErrNoReach
	}
	r.guard.Store(g)
	return g, nil
}

// knock waits for the guard's relaxed side. It first tries the lock without announcing
// itself: a reader that does not meet the FIFO then changes no word of the guard.
func (r *Resource) knock(ctx context.Context, m Mode, visit Visit) (*guard, error) {
	g, err := r.knockable()
	if err != nil {
		return nil, err
	}
	if r.load(&r.completed)&broken != 0 {
		return nil, r.brokenError()
	}
	k := g.locks.Relaxed
	if g.remote != nil {
		err = g.remote.knock(ctx, k, m, visit)
	} else if g.load()&modeMask == born || !(m == Write && k.TryLock() || m == Read && k.TryRLock()) {
		if visit != nil {
			visit.Waiting()
		}
		if r.home != nil {
			r.home.wanted()
		}
		g.add(oneKnock)
		g.revoke()
		if err = g.first(ctx); err != nil {
		} else if m == Write {
			err = k.LockContext(ctx)
		} else {
			err = k.RLockContext(ctx)
		}
		g.add(^uint64(oneKnock - 1))
	}
	switch {
	case errors.Is(err, locks.ErrBroken):
		r.Break(err)
		return nil, r.brokenError()
	case err != nil:
		return nil, err
	case r.load(&r.completed)&broken == 0:
		return g, nil
	case m == Write:
		k.Unlock()
	default:
		k.RUnlock()
	}
	return nil, r.brokenError()
}

// first waits while the FIFO owns the guard without having taken the lock (born).
func (g *guard) first(ctx context.Context) error {
	r := g.r
	for g.load()&modeMask == born {
		if r.load(&r.completed)&broken != 0 {
			return r.brokenError()
		}
		bed := Bed(nil)
		if r.door.in != nil {
			bed = r.door.in()
		}
		w := newWaiter(bed)
		g.line(w, modeMask, born)
		if err := w.sleep(ctx); err != nil {
			if w.giveUp() {
				g.wake() // so that ghosts do not pile up
			}
			return err
		}
	}
	return nil
}

func (g *guard) add(n uint64) {
	g.r.point()
	g.r.saw(g.word.Add(n))
}

// DoorObserver is told of relaxed accesses, by the goroutine that makes them. It must
// not wait.
type DoorObserver interface {
	// Knocked is called first. It returns the Visit that is told of the rest of this
	// access, or nil.
	Knocked(m Mode) Visit
}

// Visit is told of one relaxed access.
type Visit interface {
	// Waiting comes before the goroutine waits, once.
	Waiting()
	// Entered comes when the access begins, or fails with err. After a failure no Left
	// follows.
	Entered(err error)
	// Left comes when the access has ended.
	Left()
}

// visit is knock with calls to the door's observer.
func (r *Resource) visit(ctx context.Context, m Mode) (*guard, Visit, error) {
	var o DoorObserver
	if r.door.o != nil {
		o = r.door.o.Observer
	}
	if o == nil {
		g, err := r.knock(ctx, m, nil)
		return g, nil, err
	}
	v := o.Knocked(m)
	g, err := r.knock(ctx, m, v)
	if v != nil {
		v.Entered(err)
	}
	return g, v, err
}

// leaves tells the visit of its end. The visit may be nil.
func (r *Resource) leaves(v Visit) {
	if v != nil {
		v.Left()
	}
}
