package resource

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/orwl/go-orwl/locks"
)

// Relaxed access has no order: it goes straight through the guard to the bytes. It excludes
// ordered access, as a reader-writer lock does. It does not take part in the FIFO order. A
// resource allows relaxed access if [Options.Relaxed] has a guard for it. Places pay
// nothing for it until the first relaxed access. See reach.go for relaxed access from
// every node.
//
// Every relaxed access follows the leaf rule (leaf.go): the task holds no ordered
// grant, and waits for none inside. The first relaxed access also waits for every
// request that was made before it, until that request is acquired or cancelled, or
// until a writer after it is acquired.
//
// A group of ordered readers that more readers keep joining has no end. A relaxed write
// may then wait for ever. An ordered writer ends the group.

// ErrNoRelaxed is a relaxed access to a resource that allows none.
var ErrNoRelaxed = errors.New("resource allows no relaxed access: give it a guard by Options.Relaxed")

// ErrNoReach is a relaxed access on a node that is not the resource's home, if the guard is
// a lock of the home's process alone.
var ErrNoReach = errors.New("guard of the resource serves its home's process only: give it a Guard with Reach")

// RelaxedOptions configure relaxed access.
type RelaxedOptions struct {
	// Guard makes the lock at the first relaxed access. nil refuses relaxed access.
	Guard func() (Guard, error)
	// TL is the largest number of groups that the FIFO grants in a row while a relaxed
	// access waits: 1 to 2047, 50 if zero.
	TL int
}

// DefaultTL is RelaxedOptions.TL if that is zero.
const DefaultTL = 50

func (o RelaxedOptions) withDefaults() RelaxedOptions {
	if o.TL == 0 {
		o.TL = DefaultTL
	}
	return o
}

func (o RelaxedOptions) validate() error {
	if o.TL < 1 || o.TL > mostRun {
		return fmt.Errorf("resource: RelaxedOptions.TL is %d, want 1 to %d", o.TL, mostRun)
	}
	return nil
}

// relaxed holds what a resource needs to make its guard.
type relaxed struct {
	mu sync.Mutex      // held while the guard is made; places never take it
	o  *relaxedAllowed // nil: there is no relaxed access
	in func() Bed      // where the first relaxed accesses sleep, if not in a bed of their own
}

// relaxedAllowed is what a resource with relaxed access has.
type relaxedAllowed struct {
	RelaxedOptions
	hearers  hearers
	accesses atomic.Uint64 // with an observer
}

// allow allows relaxed access if the options have a guard.
func (r *Resource) allow(o RelaxedOptions) error {
	if o.Guard == nil {
		return nil
	}
	o = o.withDefaults()
	if err := o.validate(); err != nil {
		return fmt.Errorf("%q: %w", r.name, err)
	}
	r.relaxed.o = &relaxedAllowed{RelaxedOptions: o}
	return nil
}

// Open is the first relaxed access, and reads nothing. Before the first request it does
// not wait.
func (r *Resource) Open(ctx context.Context) error {
	err := holderOf(ctx).mayRelax(r)
	if err == nil {
		var g *guard
		if g, err = r.enterRelaxed(ctx, Read, 0); err == nil {
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

// guarding returns the guard, and makes it at the first call.
func (r *Resource) guarding() (*guard, error) {
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
	r.relaxed.mu.Lock()
	defer r.relaxed.mu.Unlock()
	if g := r.guard.Load(); g != nil {
		return g, nil
	}
	if r.relaxed.o == nil {
		return nil, ErrNoRelaxed
	}
	made, err := r.relaxed.o.Guard()
	if err != nil {
		return nil, fmt.Errorf("guard cannot be made: %w", err)
	}
	g := newGuard(r, made, r.relaxed.o.TL)
	if made.Reach != nil {
		if err := g.reachable(); err != nil {
			return nil, err
		}
	} else if r.mirror != nil {
		return nil, ErrNoReach
	}
	r.guard.Store(g)
	return g, nil
}

// enterRelaxed waits for the guard's relaxed side. It first tries the lock without announcing
// itself: a reader that does not meet the FIFO then changes no word of the guard.
func (r *Resource) enterRelaxed(ctx context.Context, m Mode, number uint64) (*guard, error) {
	g, err := r.guarding()
	if err != nil {
		return nil, err
	}
	if r.load(&r.completed)&broken != 0 {
		return nil, r.brokenError()
	}
	k := g.locks.Relaxed
	if g.remote != nil {
		err = g.remote.lock(ctx, k, m, number)
	} else if g.load()&modeMask == born || !(m == Write && k.TryLock() || m == Read && k.TryRLock()) {
		r.tellRelaxed(RelaxedWaiting, number, m, nil)
		if r.home != nil {
			r.home.wanted()
		}
		g.add(oneRelaxed)
		g.revoke()
		if err = g.first(ctx); err != nil {
		} else if m == Write {
			err = k.LockContext(ctx)
		} else {
			err = k.RLockContext(ctx)
		}
		g.add(^uint64(oneRelaxed - 1))
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
		if r.relaxed.in != nil {
			bed = r.relaxed.in()
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
