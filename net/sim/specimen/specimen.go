package specimen

import (
	"context"
	"strings"

	"github.com/orwl/go-orwl/net/rma"
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
