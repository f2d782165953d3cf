// Package lockers makes locks of package locks usable for goroutines, which have no ranks:
// [Locker] takes the place of a sync.Mutex, and [RWLocker] of a sync.RWMutex.
//
//	fabric, err := mem.New(mem.Options{Topology: topology.Flat(4)})
//	if err != nil {
//		return err
//	}
//	defer fabric.Close()
//	spec, _ := locks.ByName("MCS")
//	lock, err := spec.New(fabric, locks.Options{})
//	if err != nil {
//		return err
//	}
//	mu, err := lockers.New(lock, fabric)
//	if err != nil {
//		return err
//	}
//	mu.Lock()
//	defer mu.Unlock()
//	fmt.Println("this goroutine has", spec.Name)
//	// Output:
//	// this goroutine has MCS
//
// orwl.NewLocker does all of that on the topology of the machine.
//
// # How it works
//
// A Locker is a cohort lock. Its cohorts are the goroutines of one processor. Its local locks
// are seats: a seat is a rank that goroutines use in turn. Its global lock is the lock of the
// table, which orders the ranks:
//
//	goroutines ─▶ seats of their processor ─┐
//	goroutines ─▶ seats of their processor ─┼─▶ lock
//	goroutines ─▶ seats of their processor ─┘
//
// A processor has the ranks with its CPU number in the fabric's topology. If the topology has
// no CPU numbers, each processor has a share of the ranks. A goroutine asks RDPID for its
// CPU, or sync.Pool for its P where there is no RDPID: package processor says how long that
// takes. Go moves goroutines between processors. So the answer is a hint, and a wrong one
// costs only time.
//
// # Fairness
//
// The lock of the table orders the processors: MCS is FIFO among them. The goroutines of one
// processor wait in a queue of their seat, and a goroutine that runs may take the seat before
// one that sleeps. A waiting goroutine is overtaken at its seat at most 66 times, and as often
// for each goroutine before it in the queue. So a Locker is not FIFO among goroutines, even if
// its lock is FIFO among ranks.
//
// To read the package, begin with seat.go.
package lockers
