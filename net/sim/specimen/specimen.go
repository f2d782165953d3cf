package specimen

import (
	"context"

	"github.com/orwl/go-orwl/net/rma"
)

// Lock is one rank's view of a lock.
type Lock interface {
	// Acquire waits until the rank holds the lock. It may give up when ctx is
	// done, and fails when the window does.
	Acquire(ctx context.Context) error
	// Release completes what the rank wrote and lets go.
	Release()
}

// RWLock is one rank's view of a reader-writer lock; Acquire and Release are
// the writer's.
type RWLock interface {
	Lock
	// AcquireRead waits until the rank holds the lock together with readers
	// only.
	AcquireRead(ctx context.Context) error
	// ReleaseRead lets go.
	ReleaseRead()
}

// Specimen is a lock with a verdict.
type Specimen struct {
	Name  string
	About string
	// Wrong says that the lock breaks a promise which the explorer must notice.
	Wrong bool
	// New allocates the lock and returns how a rank gets its view.
	New func(f rma.Fabric) (func(w rma.Window) Lock, error)
}

// All is every specimen.
func All() []Specimen {
	return []Specimen{
		{Name: "mcs", New: newMCS(mcsFlaw{}),
			About: "D-MCS, every operation flushed"},
		{Name: "mcs-no-flush", Wrong: true, New: newMCS(mcsFlaw{noFlush: true}),
			About: "MCS without the flush before hand-over: the next holder sees old data"},
		{Name: "mcs-late-flag", Wrong: true, New: newMCS(mcsFlaw{lateFlag: true}),
			About: "MCS that raises its wait flag after linking: the hand-over is overwritten"},
		{Name: "ticket", New: newTicket(ticketFlaw{}),
			About: "ticket lock"},
		{Name: "ticket-read-add", Wrong: true, New: newTicket(ticketFlaw{readThenAdd: true}),
			About: "ticket lock that reads before it adds: two ranks draw one ticket"},
		{Name: "rw", New: newCounting(countingFlaw{}),
			About: "reader-writer lock, one pair of counters"},
		{Name: "rw-no-recheck", Wrong: true, New: newCounting(countingFlaw{noRecheck: true}),
			About: "the same, but its writer does not look at the readers again after it has barred them"},
		{Name: "rma-rw-printed", Wrong: true, New: newPrinted(printedText{}),
			About: "RMA-RW at one level, listings 6 to 10 to the letter"},
		{Name: "rma-rw-checked", Wrong: true, New: newPrinted(printedText{writerWaits: true}),
			About: "listings 6 to 10, the writer waiting for active readers as §4.1 says"},
		{Name: "rma-rw-no-reset", Wrong: true, New: newPrinted(printedText{writerWaits: true, noReaderReset: true}),
			About: "the same, without the reader that resets the counter"},
	}
}

// ByName finds a specimen.
func ByName(name string) (Specimen, bool) {
	for _, s := range All() {
		if s.Name == name {
			return s, true
		}
	}
	return Specimen{}, false
}
