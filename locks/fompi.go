package locks

import (
	"context"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// fompiWord is the word of foMPI-Spin and foMPI-RW, the locks that foMPI (Gerstenberger,
// Besta and Hoefler, SC'13) builds MPI_Win_lock on, the baselines of Schmid, Besta and
// Hoefler, HPDC'16, §5: one word at the lock's home, for a writer and for readers, which all
// ranks try for from afar until it suits.
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
// A writer makes the word a writer's by CAS, if it is zero. A reader adds itself and looks
// what was there: if no writer was, it is in; otherwise it takes itself out and tries again
// later. foMPI-Spin is the writer's part alone. After a failed try a rank backs off, as
// backoff does.
//
// Invariant: the writer bit is set only by a CAS from zero, so when no reader is in; a reader
// is in only if it added itself while the bit was off.
//
// Memory order: side.end completes what the holder did, before the subtraction, which is
// flushed itself. A writer subtracts its bit and does not store zero, because readers may be
// on their way out.
//
// Fairness: none. Writers get in only when the word is zero: readers that follow each other
// closely, or only try, starve them. A reader gets in only if it tries between two writers.
//
// Cost, away from home: one CAS or FetchOp to acquire, one Accumulate to release, and one
// atomic more for each failed try; a reader's failed try takes two.
type fompiWord struct {
	side *side
	word word
}

const (
	fompiReader = 1
	fompiWriter = 1 << 63
)

func newFompiWord(s *side) fompiWord { return fompiWord{s, s.atHome(0)} }

func wordsOfFompi(*topology.Tree, Options) Words { return Words{Home: 1} }

// enter is the writer's. It reports whether it had to try again.
func (f *fompiWord) enter(ctx context.Context) (waited bool, err error) {
	return f.retry(ctx, f.tryEnter, rma.Is(0))
}

// tryEnter never succeeds on a window that has failed.
func (f *fompiWord) tryEnter() bool { return f.word.CompareAndSwap(0, fompiWriter) }

func (f *fompiWord) leave() { f.subtract(fompiWriter) }

// enterRead is the reader's.
func (f *fompiWord) enterRead(ctx context.Context) (waited bool, err error) {
	return f.retry(ctx, f.tryEnterRead, rma.Is(0).Masked(fompiWriter))
}

func (f *fompiWord) tryEnterRead() bool {
	if f.word.Add(fompiReader)&fompiWriter == 0 {
		return !f.side.broken()
	}
	f.leaveRead()
	return false
}

func (f *fompiWord) leaveRead() { f.subtract(fompiReader) }

func (f *fompiWord) subtract(n uint64) { f.word.accumulate(-n) }

// retry tries until it succeeds or ctx is done; until is when another try may succeed.
func (f *fompiWord) retry(ctx context.Context, try func() bool, until rma.Until) (waited bool, err error) {
	b := newBackoff(f.side)
	for !try() {
		if waited = true; f.side.broken() {
			return waited, f.side.intact()
		}
		if err := b.wait(ctx, &f.word, until); err != nil {
			return waited, f.side.fail(err)
		}
	}
	return waited, nil
}

// fompiSpin is foMPI-Spin.
type fompiSpin struct {
	side
	fompiWord
}

func newFompiSpin(lock *Lock, w rma.Window) Mutex {
	l := padded(fompiSpin{})
	l.init(lock, w)
	l.fompiWord = newFompiWord(&l.side)
	return l
}

// Acquire implements Mutex.
func (l *fompiSpin) Acquire(ctx context.Context) error {
	if err := l.arrive(ctx); err != nil {
		return err
	}
	waited, err := l.enter(ctx)
	if err == nil {
		l.acquired(writing, waited)
	}
	return err
}

// TryAcquire implements Tryer.
func (l *fompiSpin) TryAcquire() bool {
	return l.begin(forever()) == nil && l.tried(writing, l.tryEnter())
}

// Release implements Mutex.
func (l *fompiSpin) Release() {
	if l.end(writing) {
		l.leave()
	}
}

// fompiRW is foMPI-RW.
type fompiRW struct{ fompiSpin }

func newFompiRW(lock *Lock, w rma.Window) Mutex {
	l := padded(fompiRW{})
	l.init(lock, w)
	l.fompiWord = newFompiWord(&l.side)
	return l
}

// AcquireRead implements RWMutex.
func (l *fompiRW) AcquireRead(ctx context.Context) error {
	if err := l.begin(ctx); err != nil {
		return err
	}
	waited, err := l.enterRead(ctx)
	if err == nil {
		l.acquired(reading, waited)
	}
	return err
}

// TryAcquireRead implements ReadTryer.
func (l *fompiRW) TryAcquireRead() bool {
	return l.begin(forever()) == nil && l.tried(reading, l.tryEnterRead())
}

// ReleaseRead implements RWMutex.
func (l *fompiRW) ReleaseRead() {
	if l.end(reading) {
		l.leaveRead()
	}
}
