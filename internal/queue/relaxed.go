package queue

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"sync/atomic"

	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/locks/lockers"
	"github.com/orwl/go-orwl/net/rma"
)

// Relaxed access has no order: it goes straight through the guard to the bytes. It excludes
// ordered access, as a reader-writer lock does. It does not take part in the FIFO order. A
// resource allows relaxed access if [Options.Relaxed] has a guard for it. Places pay
// nothing for it until the first relaxed access. See entry.go for the way in. It works at the resource's home.
//
// Every relaxed access follows the leaf rule (below): the task holds no ordered
// grant, and waits for none inside. The first relaxed access also waits for every
// request that was made before it, until that request is acquired or cancelled, or
// until a writer after it is acquired.
//
// A group of ordered readers that more readers keep joining has no end. A relaxed write
// may then wait for ever. An ordered writer ends the group.

// ErrNoRelaxed is a relaxed access to a resource that allows none.
var ErrNoRelaxed = errors.New("resource allows no relaxed access: give it a guard by Options.Relaxed")

// ErrNoReach is a relaxed access on a node that is not the resource's home.
var ErrNoReach = errors.New("guard of the resource serves its home's process only: make the relaxed access there")

// Guard is the reader-writer lock between ordered and relaxed access, one side for
// each.
type Guard struct {
	// Ordered is the side of the FIFO. One goroutine at a time uses it. One goroutine
	// may acquire it and another release it.
	Ordered locks.RWMutex
	// Relaxed is the side of relaxed access.
	Relaxed Relaxed
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
		return Guard{}, fmt.Errorf("resource: a guard on a fabric of %d rank: want one for the FIFO and at least one for relaxed access", ranks)
	}
	relaxed := make([]locks.Rank, 0, ranks-1)
	for p := 1; p < ranks; p++ {
		relaxed = append(relaxed, locks.Rank(p))
	}
	k, err := lockers.NewRW(l, f, relaxed...)
	if err != nil {
		return Guard{}, fmt.Errorf("resource: guard: %w", err)
	}
	w, err := f.Window(0)
	if err != nil {
		return Guard{}, fmt.Errorf("resource: guard: %w", err)
	}
	return Guard{Ordered: l.At(w).(locks.RWMutex), Relaxed: k}, nil
}

// RelaxedOptions configure relaxed access.
type RelaxedOptions struct {
	// Guard makes the lock of the resource with a name, at the first relaxed access. nil refuses relaxed access.
	Guard func(name string) (Guard, error)
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
	RelaxedOptions // without a Guard there is no relaxed access
	made           atomic.Pointer[relaxedState]
}

// relaxedState is what a resource has as soon as somebody makes a relaxed access, or observes these.
type relaxedState struct {
	mu       sync.Mutex // held while the guard is made; places never take it
	in       func() Bed // where the first relaxed accesses sleep, if not in a bed of their own
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
	r.relaxed.RelaxedOptions = o
	return nil
}

// state is the state, which the first call makes.
func (r *relaxed) state() *relaxedState {
	if s := r.made.Load(); s != nil {
		return s
	}
	r.made.CompareAndSwap(nil, new(relaxedState))
	return r.made.Load()
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
	if r.relaxed.Guard == nil {
		return nil, ErrNoRelaxed
	}
	s := r.relaxed.state()
	s.mu.Lock()
	defer s.mu.Unlock()
	if g := r.guard.Load(); g != nil {
		return g, nil
	}
	if r.mirror != nil {
		return nil, ErrNoReach
	}
	made, err := r.relaxed.Guard(r.name)
	if err != nil {
		return nil, fmt.Errorf("guard cannot be made: %w", err)
	}
	g := newGuard(r, made, r.relaxed.TL)
	r.guard.Store(g)
	return g, nil
}

func (r *Resource) relaxedError(op string, m Mode, err error) error {
	return &PlaceError{Op: op, Mode: m, Resource: r.name, Err: err}
}

// The leaf rule keeps relaxed access from breaking liveness:
//
//  1. A task that holds an ordered grant makes no relaxed access to a resource that has
//     ordered requests. The access waits for them, and one of them may wait for the task.
//  2. A task inside a relaxed access waits for no ordered grant. Ordered requests wait
//     until it leaves.
//  3. The first relaxed access of a resource waits for every request that was made before
//     it. A task with a request that it has not acquired must not make that access.
//     A pair always has such a request: make a relaxed access before the first one.
//
// Go cannot tell which task a goroutine runs, so a context says it. With a context that
// carries a [Holder], an access that breaks the rule fails at once. With any other
// context it may wait for ever.

// ErrLeafRule says that an access breaks the leaf rule. It would mix ordered and relaxed
// access in a way that may wait for ever.
var ErrLeafRule = errors.New("breaks the leaf rule")

// Holder stands for a task in the contexts that are used on its behalf. It knows what the
// task holds in order, and whether the task is inside a relaxed access.
//
// One goroutine at a time uses such a context for ordered and relaxed access. Another
// goroutine of the same program uses a context without the Holder.
type Holder struct {
	name   string
	places iter.Seq[*Place]
	inside atomic.Int64             // relaxed accesses
	outer  atomic.Pointer[Resource] // of the outermost one
}

// NewHolder makes a Holder. The name is for errors, and the task makes its ordered
// accesses by places.
func NewHolder(name string, places iter.Seq[*Place]) *Holder {
	return &Holder{name: name, places: places}
}

// holderKey is the key of a context's Holder.
type holderKey struct{}

// Context returns a context that carries h.
func (h *Holder) Context(parent context.Context) context.Context {
	return context.WithValue(parent, holderKey{}, h)
}

// holderOf returns the Holder that ctx carries, or nil. All methods of a nil Holder allow
// everything.
func holderOf(ctx context.Context) *Holder {
	h, _ := ctx.Value(holderKey{}).(*Holder)
	return h
}

// Inside reports whether the task is inside a relaxed access.
func (h *Holder) Inside() bool { return h != nil && h.inside.Load() > 0 }

// enter notes that the task is inside a relaxed access of r, until leave.
func (h *Holder) enter(r *Resource) {
	if h != nil {
		if h.inside.Add(1) == 1 {
			h.outer.Store(r)
		}
	}
}

func (h *Holder) leave() {
	if h != nil {
		h.inside.Add(-1)
	}
}

// mayRelax returns an error if a relaxed access of r by the task breaks the leaf rule.
func (h *Holder) mayRelax(r *Resource) error {
	if h == nil || r.mirror == nil && !r.outstanding() {
		return nil // a mirror does not know of other nodes' requests
	}
	return h.conflict(r, r.unopened() && r.run.Load() == nil)
}

// conflict returns an error if a relaxed access of r conflicts with an ordered access of
// the task. First says that no relaxed access of r has come before. It is apart from
// mayRelax because its loop allocates.
func (h *Holder) conflict(r *Resource, first bool) error {
	for p := range h.places {
		switch s := p.state.Load(); {
		case s&heldBit != 0:
			return fmt.Errorf("%w: %s holds an ordered grant of %q: release it first", ErrLeafRule, h.name, p.r.name)
		case first && s&(requestedBit|guardedBit) == requestedBit && p.r == r:
			return fmt.Errorf("%w: %s has requested %q, and the first relaxed access waits for that: make one before Run, or before the first request", ErrLeafRule, h.name, r.name)
		}
	}
	return nil
}

// mayWait returns an error if the task must not wait for the grant of a place: the task is inside a relaxed
// access, or its own run has the resource for itself, and the place is none of the run.
func (h *Holder) mayWait(p *Place) error {
	switch hold := p.r.run.Load(); {
	case h == nil:
		return nil
	case h.Inside():
		return fmt.Errorf("%w: %s is inside a relaxed access of %q: leave it first", ErrLeafRule, h.name, h.outer.Load().name)
	case hold != nil && !p.planned && h.within(hold.run):
		return fmt.Errorf("%w, and %s is a task of this run: declare the access", ErrRunHas, h.name)
	}
	return nil
}

// taken returns an error if a run has the resource for itself: then no relaxed access begins.
func (r *Resource) taken() error {
	if r.run.Load() == nil {
		return nil
	}
	return fmt.Errorf("%w: look at it before or after", ErrRunHas)
}

// unopened reports whether the next relaxed access has to wait for all earlier requests.
func (r *Resource) unopened() bool {
	g := r.guard.Load()
	return g == nil || g.word.Load()&modeMask == opening
}

// By relaxed access a program takes a snapshot, or goes inside until it leaves.

// Snapshot appends the bytes to dst as they are between two accesses, and returns their
// version. If the resource is poisoned, it appends them, too, and returns an error that
// matches [ErrPoisoned].
func (r *Resource) Snapshot(ctx context.Context, dst []byte) (bytes []byte, version uint64, err error) {
	in, err := r.come(ctx, "snapshot", Read)
	if err != nil {
		return dst, 0, err
	}
	defer in.Leave()
	return append(dst, in.Bytes()...), r.ledger.Version(), in.unpoisoned("snapshot")
}

// unpoisoned is the error of op if the resource is poisoned, for a relaxed reader inside.
func (i Inside) unpoisoned(op string) error {
	prior := i.Prior()
	if !errors.Is(prior, ErrPoisoned) {
		return nil
	}
	return i.r.relaxedError(op, Read, prior)
}

// ErrNotInside is the use of an Inside that has left, or a write through one that only
// reads.
var ErrNotInside = errors.New("resource: no relaxed access for writing is open here: call Relaxed with Write, and Leave last")

// Inside is a relaxed access, from [Resource.Relaxed] to Leave. It is a value, so that an
// access allocates nothing. One goroutine uses it, once.
//
//	in, err := r.Relaxed(ctx, queue.Write)
//	if err != nil {
//		return err
//	}
//	b := in.Bytes()
//	...
//	in.Leave()
//
// The leaf rule holds as for any relaxed access: between Relaxed and Leave the task waits
// for no ordered grant. If a panic between them is recovered elsewhere, the resource
// stays locked for good.
type Inside struct {
	r      *Resource
	g      *guard
	mode   Mode
	number uint64  // for observers: see Event.Relaxed
	by     *Holder // nil: the context carries none
}

// Relaxed begins a relaxed access: for reading beside other readers, or for writing
// alone. It waits until the guard lets it in. All earlier writes are then visible.
func (r *Resource) Relaxed(ctx context.Context, m Mode) (Inside, error) {
	if m > Write {
		return Inside{}, fmt.Errorf("resource: %q: Relaxed for mode %d: want Read or Write", r.name, m)
	}
	return r.come(ctx, "relaxed access", m)
}

// come begins every relaxed access. op names the access in errors.
func (r *Resource) come(ctx context.Context, op string, m Mode) (Inside, error) {
	h := holderOf(ctx)
	if err := h.mayRelax(r); err != nil {
		return Inside{}, r.relaxedError(op, m, err)
	}
	if err := r.taken(); err != nil {
		return Inside{}, r.relaxedError(op, m, err)
	}
	number := r.numberRelaxed()
	g, err := r.enterRelaxed(ctx, m, number)
	if err != nil {
		r.tellRelaxed(RelaxedFailed, number, m, err)
		return Inside{}, r.relaxedError(op, m, err)
	}
	in := Inside{r: r, g: g, mode: m, number: number, by: h}
	if m == Write {
		r.buffer.Own()
	}
	r.tellRelaxed(RelaxedAcquired, number, m, nil)
	h.enter(r)
	return in, nil
}

// Bytes returns the resource's bytes. They are valid until Leave or Resize. A reader
// must not change them.
func (i Inside) Bytes() []byte {
	b := i.r.buffer.Bytes()
	return b[:len(b):len(b)]
}

// Resize changes the number of bytes, as Place.Resize does, and returns them: the old
// bytes as far as they fit, then zeros. Slices of the old bytes keep their contents,
// except with fault pages, with Options.Memory, and with memory of a Site's Allocator.
func (i Inside) Resize(size int) ([]byte, error) {
	switch {
	case i.r == nil || i.mode != Write:
		return nil, ErrNotInside
	case !validSize(size):
		return nil, fmt.Errorf("resource: %q: %w", i.r.name, sizeError(size))
	case size == len(i.Bytes()):
		return i.Bytes(), nil
	}
	if err := i.r.buffer.Resize(size); err != nil {
		return nil, fmt.Errorf("resource: %q: %w", i.r.name, err)
	}
	return i.Bytes(), nil
}

// Prior tells what happened to a writer before, or is nil: see [Place.Prior].
func (i Inside) Prior() error { return i.r.prior() }

// Leave ends the access. If it was for writing, the bytes count as written.
func (i Inside) Leave() {
	if i.mode == Write {
		i.r.ledger.Commit()
	}
	i.by.leave()
	if i.mode == Write {
		i.g.locks.Relaxed.Unlock()
	} else {
		i.g.locks.Relaxed.RUnlock()
	}
	i.r.tellRelaxed(RelaxedReleased, i.number, i.mode, nil)
}
