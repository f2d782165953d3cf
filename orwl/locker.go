package orwl

import (
	"fmt"
	"runtime"

	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/mem"
	"github.com/orwl/go-orwl/net/topology"
	"github.com/orwl/go-orwl/resource"
)

// NewLocker makes a lock of package locks one to put where a sync.Mutex was, by the
// name that it has in `orwl locks`: "MCS" is one in FIFO order.
func NewLocker(lock string) (*locks.Locker, error) {
	l, f, err := goroutineLock(lock)
	if err != nil {
		return nil, err
	}
	return locks.NewLocker(l, f)
}

// NewRWLocker makes a lock of package locks one to put where a sync.RWMutex was:
// "RMA-RW".
func NewRWLocker(lock string) (*locks.RWLocker, error) {
	l, f, err := goroutineLock(lock)
	if err != nil {
		return nil, err
	}
	return locks.NewRWLocker(l, f)
}

// NewGuard is the guard of a resource that is none of a Runtime's, made of the lock of
// that name, whose kind is ReaderWriter:
//
//	resource.Options{Door: resource.DoorOptions{
//		Guard: func() (resource.Guard, error) { return orwl.NewGuard("RMA-RW") },
//	}}
func NewGuard(lock string) (resource.Guard, error) {
	l, f, err := goroutineLock(lock)
	if err != nil {
		return resource.Guard{}, err
	}
	return resource.NewGuard(l, f)
}

// ranksPerProcessor is how many goroutines may compete for a Locker, for each
// processor, before some wait for others to have a rank.
const ranksPerProcessor = 8

// goroutineLock is a lock on a fabric of its own.
func goroutineLock(name string) (*locks.Lock, *mem.Fabric, error) {
	spec, ok := locks.ByName(name)
	if !ok {
		return nil, nil, fmt.Errorf("orwl: no lock %q: `orwl locks` lists them", name)
	}
	f, err := mem.New(mem.Options{Topology: topology.Flat(ranksPerProcessor * runtime.GOMAXPROCS(0))})
	if err != nil {
		return nil, nil, err
	}
	l, err := spec.New(f, locks.Options{})
	return l, f, err
}
