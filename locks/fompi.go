package locks

import (
	"context"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// foMPI-Spin and foMPI-RW are the locks that foMPI (Gerstenberger, Besta and
// Hoefler, SC'13) builds MPI_Win_lock on, the baselines of Schmid, Besta and
// Hoefler, HPDC'16, §5: one word at the lock's home, for a writer and for
// readers, which everybody tries for from afar until it suits.
//
//	63       62                           0
//	┌────────┬─────────────────────────────┐
//	│ writer │ readers, and ranks that try │
//	└────────┴─────────────────────────────┘
//
//	               writer   readers
//	free           0        0
//	read           0        n     readers hold it
//	written        1        any   the readers are on their way out again
//
// A writer makes the word a writer's by CAS, if it is zero. A reader adds itself
// and looks what was there: if no writer was, it is in; else it takes itself out
// and tries again later. foMPI-Spin is the writer's part alone.
//
// Who has tried in vain backs off, as backoff does.
//
// Invariant: the writer bit is set only by a CAS from zero, so when no reader is
// in; a reader is in only if it added itself while the bit was off.
//
// Memory order: the flush of a release completes what the holder did, before the
// subtraction, which is flushed itself. A writer subtracts its bit and does not
// store zero, because readers may be on their way out.
//
// Fairness: none. Writers get in only when the word is zero: readers who follow
// each other closely, or only try, starve them. And a reader gets in only if it
// tries between two writers.
//
// A rank that gives up has left no trace: who waits is not in the word.
//
// Cost, away from home: one CAS or one FetchOp to acquire, one Accumulate to
// release. Each vain try costs a writer a CAS, a reader a FetchOp and an
// Accumulate.
type fompi struct {
	s    *seat
	word word
}

const (
	fompiReader = 1
	fompiWriter = 1 << 63
)

func newFompi(s *seat) fompi { return fompi{s, s.atHome(0)} }

func newFompiSpin(s *seat) core {
	return apart(newFompi(s))
}

func wordsOfFompi(*topology.Tree, Options) Words { return Words{Home: 1} }

// enter is the writer's.
func (f *fompi) enter(ctx context.Context) (grant uint64, err error) {
	if f.tryEnter() {
		return 0, nil
	}
	return granted, f.retry(ctx, f.tryEnter, rma.Is(0))
}

// tryEnter never succeeds on a window that has failed.
func (f *fompi) tryEnter() bool { return f.word.cas(0, fompiWriter) }

func (f *fompi) leave(uint64) { f.subtract(fompiWriter) }

// enterRead reports whether the reader found a writer.
func (f *fompi) enterRead(ctx context.Context) (waited bool, err error) {
	if f.tryEnterRead() {
		return false, nil
	}
	return true, f.retry(ctx, f.tryEnterRead, rma.Is(0).Masked(fompiWriter))
}

func (f *fompi) tryEnterRead() bool {
	if f.word.add(fompiReader)&fompiWriter == 0 {
		return f.s.decided() == nil
	}
	f.leaveRead()
	return false
}

func (f *fompi) leaveRead() { f.subtract(fompiReader) }

func (f *fompi) subtract(n uint64) {
	f.word.accumulate(-n)
	f.word.wake()
}

// retry tries until it succeeds or ctx is done; until is when that may be.
func (f *fompi) retry(ctx context.Context, try func() bool, until rma.Until) error {
	b := newBackoff(f.s)
	for {
		if err := b.wait(ctx, &f.word, until); err != nil {
			return f.s.fail(err)
		}
		if try() {
			return nil
		}
	}
}

// fompiRW is foMPI-RW for a rank.
type fompiRW struct {
	seat
	lock fompi
}

func newFompiRW(s seat) Mutex {
	l := apart(fompiRW{seat: s})
	l.lock = newFompi(&l.seat)
	return l
}

// Acquire implements Mutex.
func (l *fompiRW) Acquire(ctx context.Context) error {
	if err := l.begin(ctx); err != nil {
		return err
	}
	grant, err := l.lock.enter(ctx)
	return l.entered(writing, grant != 0, err)
}

// AcquireRead implements RWMutex.
func (l *fompiRW) AcquireRead(ctx context.Context) error {
	if err := l.begin(ctx); err != nil {
		return err
	}
	waited, err := l.lock.enterRead(ctx)
	return l.entered(reading, waited, err)
}

// entered is the end of an acquire.
func (l *fompiRW) entered(mode turn, waited bool, err error) error {
	if err != nil {
		return err
	}
	if waited {
		count(&l.counts.Waited)
	}
	l.acquired(mode)
	return nil
}

// TryAcquire implements Tryer.
func (l *fompiRW) TryAcquire() bool { return l.try(writing, l.lock.tryEnter) }

// TryAcquireRead implements ReadTryer.
func (l *fompiRW) TryAcquireRead() bool { return l.try(reading, l.lock.tryEnterRead) }

func (l *fompiRW) try(mode turn, enter func() bool) bool {
	if l.begin(context.Background()) != nil || !enter() {
		return false
	}
	l.acquired(mode)
	return true
}

// Release implements Mutex.
func (l *fompiRW) Release() {
	l.end(writing)
	l.lock.leave(granted)
}

// ReleaseRead implements RWMutex.
func (l *fompiRW) ReleaseRead() {
	l.end(reading)
	l.lock.leaveRead()
}
