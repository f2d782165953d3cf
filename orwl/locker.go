package orwl

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/orwl/go-orwl/internal/inner"
	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/locks/lockers"
	"github.com/orwl/go-orwl/net/mem"
	"github.com/orwl/go-orwl/net/topology"
	"github.com/orwl/go-orwl/net/topology/host"
)

// lockerOptions are the parameters of locks for goroutines. The zero value is what
// NewLocker, NewRWLocker and NewGuard use.
type lockerOptions struct {
	// tree is the machine of the lock: its leaves are the ranks. By default it is the
	// machine that the process runs on, one rank for each CPU that the process may use,
	// as host.Detect describes it. If that fails, it is a flat tree with GOMAXPROCS
	// ranks.
	tree *topology.Tree
	// lock are the options of the lock. By default they are the zero value, and StepBack if
	// the lock has it, because goroutines outnumber processors.
	lock *locks.Options
}

// NewLocker makes a lock for goroutines that replaces a sync.Mutex. It takes the name
// of a lock of package locks, as in `orwl locks`:
//
//	mu, err := orwl.NewLocker("C-MCS-HEM")
//
// It knows the caches and sockets of the machine. A goroutine takes a rank of the
// processor that it runs on. An MCS is FIFO among processors, but not among the
// goroutines of one processor: package lockers says how often one overtakes another.
// See [lockers.Locker].
func NewLocker(lock string) (*lockers.Locker, error) { return newLocker(lock, lockerOptions{}) }

// newLocker is NewLocker with options.
func newLocker(lock string, o lockerOptions) (*lockers.Locker, error) {
	l, f, err := o.goroutineLock(lock)
	if err != nil {
		return nil, err
	}
	return lockers.New(l, f)
}

// NewRWLocker makes a lock for goroutines that replaces a sync.RWMutex, for example of
// "RMA-RW". See NewLocker and [lockers.RWLocker].
func NewRWLocker(lock string) (*lockers.RWLocker, error) {
	return newRWLocker(lock, lockerOptions{})
}

// newRWLocker is NewRWLocker with options.
func newRWLocker(lock string, o lockerOptions) (*lockers.RWLocker, error) {
	l, f, err := o.goroutineLock(lock)
	if err != nil {
		return nil, err
	}
	return lockers.NewRW(l, f)
}

// NewGuard makes the guard of a resource without a Runtime, at the first relaxed access. Its lock must have readers:
//
//	resource.Options{Guard: orwl.NewGuard("RMA-RW")}
func NewGuard(lock string) func() (queue.Guard, error) {
	return func() (queue.Guard, error) { return newGuard(lock, lockerOptions{}) }
}

// newGuard makes a guard. The tree gets one rank more, for the resource's queue.
func newGuard(lock string, o lockerOptions) (queue.Guard, error) {
	o = o.withDefaults()
	tree, err := o.tree.WithRanks(o.tree.Ranks() + 1)
	if err != nil {
		return queue.Guard{}, fmt.Errorf("orwl: guard: %w", err)
	}
	o.tree = tree
	l, f, err := o.goroutineLock(lock)
	if err != nil {
		return queue.Guard{}, err
	}
	return queue.NewGuard(l, f)
}

func (o lockerOptions) withDefaults() lockerOptions {
	if o.tree == nil {
		o.tree = machine()
	}
	return o
}

// machine is the machine that this process runs on.
var machine = sync.OnceValue(func() *topology.Tree {
	if tree, err := host.Detect(); err == nil {
		return tree
	}
	return topology.Flat(processors())
})

// goroutineLock makes a lock on a fabric of its own, which has room for this lock only.
func (o lockerOptions) goroutineLock(name string) (*locks.Lock, *mem.Fabric, error) {
	spec, ok := locks.ByName(name)
	if !ok {
		return nil, nil, fmt.Errorf("orwl: no lock %q: `orwl locks` lists them", name)
	}
	o = o.withDefaults()
	if o.lock == nil {
		o.lock = &locks.Options{StepBack: slices.Contains(spec.Options, "StepBack")}
	}
	const line = 8 // words; the lock aligns its words to a line at the home and at each rank
	words := spec.WordsOn(o.tree)
	f, err := mem.New(mem.Options{Topology: o.tree, Words: words.Home + words.Rank + 2*line})
	if err != nil {
		return nil, nil, err
	}
	l, err := spec.New(f, *o.lock)
	return l, f, err
}

// makeGuard makes the lock between ordered and relaxed access to a resource, at its home.
func (rt *Runtime) makeGuard(name string) (queue.Guard, error) {
	if rt.o.Nodes.many() {
		rt.mu.Lock()
		home, d := rt.homes[name], rt.resources[name]
		rt.mu.Unlock()
		switch {
		case d == nil || !d.settled:
			return queue.Guard{}, fmt.Errorf("%w: %q", inner.ErrEarly, name)
		case home != rt.Node():
			return queue.Guard{}, fmt.Errorf("%w: %q", errNotRelaxed, name)
		}
	}
	return newGuard(guardLock, lockerOptions{tree: rt.o.tree})
}

// identity is the task's context, and the holder in it, by which package resource applies
// the leaf rule. Context makes it. Most step tasks never ask for it.
type identity struct {
	ctx    context.Context
	holder *queue.Holder
}

// eachPlace yields the places of the task's accesses.
func (t *Task) eachPlace(yield func(*queue.Place) bool) {
	for _, a := range t.accesses {
		if !yield(&a.place) { // no other place of the access holds
			return
		}
	}
}

// Context ends when the run does. It stands for the task: a relaxed access with it, or
// with one derived from it, fails if it breaks the leaf rule.
// With any other context such an access may wait for ever. A goroutine that the body
// starts uses the context of Run for its own relaxed accesses.
func (t *Task) Context() context.Context {
	if t.identity.Load() == nil {
		h := queue.NewHolder(fmt.Sprintf("task %q", t.name), t.eachPlace)
		t.identity.CompareAndSwap(nil, &identity{h.Context(t.run.ctx), h})
	}
	return t.identity.Load().ctx
}
