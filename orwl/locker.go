package orwl

import (
	"fmt"
	"slices"
	"sync"

	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/locks/lockers"
	"github.com/orwl/go-orwl/net/mem"
	"github.com/orwl/go-orwl/net/topology"
	"github.com/orwl/go-orwl/net/topology/host"
	"github.com/orwl/go-orwl/resource"
)

// LockerOptions are the parameters of locks for goroutines. The zero value is what
// NewLocker, NewRWLocker and NewGuard use.
type LockerOptions struct {
	// Tree is the machine of the lock: its leaves are the ranks. By default it is the
	// machine that the process runs on, one rank for each CPU that the process may use,
	// as host.Detect describes it. If that fails, it is a flat tree with GOMAXPROCS
	// ranks.
	Tree *topology.Tree
	// Lock are the options of the lock. By default they are the zero value, and StepBack if
	// the lock has it, because goroutines outnumber processors.
	Lock *locks.Options
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
func NewLocker(lock string) (*lockers.Locker, error) { return NewLockerWith(lock, LockerOptions{}) }

// NewLockerWith is NewLocker with options.
func NewLockerWith(lock string, o LockerOptions) (*lockers.Locker, error) {
	l, f, err := o.goroutineLock(lock)
	if err != nil {
		return nil, err
	}
	return lockers.New(l, f)
}

// NewRWLocker makes a lock for goroutines that replaces a sync.RWMutex, for example of
// "RMA-RW". See NewLocker and [lockers.RWLocker].
func NewRWLocker(lock string) (*lockers.RWLocker, error) {
	return NewRWLockerWith(lock, LockerOptions{})
}

// NewRWLockerWith is NewRWLocker with options.
func NewRWLockerWith(lock string, o LockerOptions) (*lockers.RWLocker, error) {
	l, f, err := o.goroutineLock(lock)
	if err != nil {
		return nil, err
	}
	return lockers.NewRW(l, f)
}

// NewGuard makes the guard of a resource without a Runtime. Its lock must have readers:
//
//	resource.Options{Relaxed: resource.RelaxedOptions{
//		Guard: func() (resource.Guard, error) { return orwl.NewGuard("RMA-RW") },
//	}}
func NewGuard(lock string) (resource.Guard, error) { return NewGuardWith(lock, LockerOptions{}) }

// NewGuardWith is NewGuard with options. The tree gets one rank more, for the resource's
// queue.
func NewGuardWith(lock string, o LockerOptions) (resource.Guard, error) {
	o = o.withDefaults()
	tree, err := o.Tree.WithRanks(o.Tree.Ranks() + 1)
	if err != nil {
		return resource.Guard{}, fmt.Errorf("orwl: guard: %w", err)
	}
	o.Tree = tree
	l, f, err := o.goroutineLock(lock)
	if err != nil {
		return resource.Guard{}, err
	}
	return resource.NewGuard(l, f)
}

func (o LockerOptions) withDefaults() LockerOptions {
	if o.Tree == nil {
		o.Tree = machine()
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
func (o LockerOptions) goroutineLock(name string) (*locks.Lock, *mem.Fabric, error) {
	spec, ok := locks.ByName(name)
	if !ok {
		return nil, nil, fmt.Errorf("orwl: no lock %q: `orwl locks` lists them", name)
	}
	o = o.withDefaults()
	if o.Lock == nil {
		o.Lock = &locks.Options{StepBack: slices.Contains(spec.Options, "StepBack")}
	}
	const line = 8 // words; the lock aligns its words to a line at the home and at each rank
	words := spec.WordsOn(o.Tree)
	f, err := mem.New(mem.Options{Topology: o.Tree, Words: words.Home + words.Rank + 2*line})
	if err != nil {
		return nil, nil, err
	}
	l, err := spec.New(f, *o.Lock)
	return l, f, err
}
