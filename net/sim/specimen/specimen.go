package specimen

import (
	"context"
	"fmt"
	"strings"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/sim"
	"github.com/orwl/go-orwl/net/topology"
)

// Lock is one rank's view of a lock.
type Lock interface {
	// Acquire waits until the rank holds the lock. It may give up when ctx ends.
	// It fails when the window fails.
	Acquire(ctx context.Context) error
	// Release completes the rank's writes and releases the lock.
	Release()
}

// RWLock is one rank's view of a reader-writer lock. Acquire and Release are for
// writing.
type RWLock interface {
	Lock
	// AcquireRead waits until the rank holds the lock for reading. Other readers
	// may hold it at the same time.
	AcquireRead(ctx context.Context) error
	// ReleaseRead releases the lock after reading.
	ReleaseRead()
}

// Specimen is a lock for the simulator to judge, with the right verdict.
type Specimen struct {
	Name  string
	About string
	// Wrong says that the lock breaks a promise. The explorer must find it.
	Wrong bool
	// Ranks is how many ranks show what is wrong, if two do not.
	Ranks int
	// New allocates the lock. It returns a function that makes a rank's view.
	New func(f rma.Fabric) (func(w rma.Window) Lock, error)
}

// All is every specimen.
func All() []Specimen {
	return []Specimen{
		{Name: "mcs-flushed", New: newMCS(mcsFlaw{}),
			About: "D-MCS, every operation flushed"},
		{Name: "mcs-no-flush", Wrong: true, New: newMCS(mcsFlaw{noFlush: true}),
			About: "MCS without the flush before hand-over: the next holder sees old data"},
		{Name: "mcs-late-flag", Wrong: true, New: newMCS(mcsFlaw{lateFlag: true}),
			About: "MCS that raises its wait flag after linking: the hand-over is overwritten"},
		{Name: "d-mcs-unflushed", Wrong: true, New: newMCS(mcsFlaw{unflushed: true}),
			About: "D-MCS as its authors' program has it: an Accumulate that is not flushed need not arrive"},
		{Name: "hemlock-overlap", Wrong: true, Ranks: 3, New: newOverlap,
			About: "Hemlock with Overlap that lines up again before its last successor has the lock"},
		{Name: "ticket", New: newTicket(ticketFlaw{}),
			About: "ticket lock"},
		{Name: "ticket-read-add", Wrong: true, New: newTicket(ticketFlaw{readThenAdd: true}),
			About: "ticket lock that reads before it adds: two ranks draw one ticket"},
		{Name: "rw", New: newCounting(countingFlaw{}),
			About: "reader-writer lock, one pair of counters"},
		{Name: "rw-no-recheck", Wrong: true, New: newCounting(countingFlaw{noRecheck: true}),
			About: "the same, but its writer looks at the readers only before it blocks them"},
		{Name: "rma-rw-printed", Wrong: true, New: newPrinted(printedText{}),
			About: "RMA-RW at one level, listings 6 to 10 to the letter"},
		{Name: "rma-rw-checked", Wrong: true, New: newPrinted(printedText{writerWaits: true}),
			About: "listings 6 to 10, but the writer waits for active readers, as §4.1 says"},
		{Name: "rma-rw-no-reset", Wrong: true, New: newPrinted(printedText{writerWaits: true, noReaderReset: true}),
			About: "the same, but readers do not reset the counter"},
	}
}

// ByName finds a specimen. Upper and lower case are the same.
func ByName(name string) (Specimen, bool) {
	for _, s := range All() {
		if strings.EqualFold(s.Name, name) {
			return s, true
		}
	}
	return Specimen{}, false
}

// Contest describes ranks that acquire a lock again and again and check its promises:
// no rank is inside together with a writer, and every rank inside sees the last
// writer's data.
type Contest struct {
	Topology *topology.Tree
	// Acquisitions is how often each rank acquires.
	Acquisitions int
	// Writers is how many ranks write: in their first acquisition, their third
	// and so on. All other acquisitions read, if the lock is an RWLock.
	Writers int
	// Faults are the faults of each run.
	Faults sim.Faults
}

// System is the contest with a specimen, as a system.
func (c Contest) System(s Specimen) sim.System {
	return sim.System{
		Topology: c.Topology,
		Faults:   c.Faults,
		Setup: func(f *sim.Fabric) (sim.Program, error) {
			body, err := c.body(f, s)
			return sim.Program{Rank: body}, err
		},
	}
}

// body allocates a lock and the data that it protects. It returns the body of each
// rank.
func (c Contest) body(f rma.Fabric, s Specimen) (func(context.Context, rma.Window) error, error) {
	at, err := s.New(f)
	if err != nil {
		return nil, err
	}
	data, err := f.Alloc(1)
	if err != nil {
		return nil, err
	}
	rma.Label(f, data, 1, "data")
	home := rma.Rank(c.Topology.Ranks() - 1)
	var inside occupancy
	written := uint64(0)
	return func(ctx context.Context, w rma.Window) error {
		lock := at(w)
		for i := range c.Acquisitions {
			rw, _ := lock.(RWLock)
			write := rw == nil || int(w.Rank()) < c.Writers && i%2 == 0
			if err := acquire(ctx, lock, write); err != nil {
				return err
			}
			if err := inside.enter(w.Rank(), write); err != nil {
				return err
			}
			seen := w.Get(home, data)
			if w.Err() != nil {
				return w.Err()
			}
			if seen != written {
				return fmt.Errorf("stale data: rank %d holds the lock and sees write %d, but write %d was made under it",
					w.Rank(), seen, written)
			}
			if write {
				written++
				w.Put(home, data, written)
			}
			inside.leave(write)
			release(lock, write)
		}
		return nil
	}, nil
}

func acquire(ctx context.Context, l Lock, write bool) error {
	if rw, ok := l.(RWLock); ok && !write {
		return rw.AcquireRead(ctx)
	}
	return l.Acquire(ctx)
}

func release(l Lock, write bool) {
	if rw, ok := l.(RWLock); ok && !write {
		rw.ReleaseRead()
		return
	}
	l.Release()
}

// occupancy counts the ranks inside. The simulator runs one rank at a time, so plain
// variables are enough.
type occupancy struct {
	readers int
	writer  rma.Rank
	writing bool
}

func (o *occupancy) enter(p rma.Rank, write bool) error {
	switch {
	case o.writing:
		return fmt.Errorf("exclusion broken: rank %d enters while rank %d writes", p, o.writer)
	case write && o.readers > 0:
		return fmt.Errorf("exclusion broken: rank %d enters to write beside %d readers", p, o.readers)
	case write:
		o.writing, o.writer = true, p
	default:
		o.readers++
	}
	return nil
}

func (o *occupancy) leave(write bool) {
	if write {
		o.writing = false
	} else {
		o.readers--
	}
}
