package locks

import (
	"context"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// shiftLock is ShiftLock of Gao, Wang and Shu, FAST'25, for remote memory whose ranks hand the lock
// over to each other directly. One word at the lock's home has the numbers of readers, and the tail of a queue of writers
// with the nodes of mcs.go:
//
//	 63     62       42   41      21   20    0
//	phase │ waiting     │ inside     │ tail            tail ─▶ last ... writer ◀─ holder
//
//	tail   inside   waiting
//	none   n        0           free, or n readers hold the lock
//	w      n        m           the first writer waits until n is zero, or holds the lock; m readers wait
//
// A reader adds itself to inside. If it finds no tail it is in. Otherwise it moves itself to
// waiting, and waits for another phase.
//
// A writer makes itself the tail by compare and swap, if the word is free. If that fails, the word tells the
// writer before it. It registers there, and waits at its own node. If there is no writer before it, it
// waits until no reader is inside.
//
// A writer that releases hands over directly, without a look at home. After Options.Batch
// writers in a row, and if no writer is behind, it moves those that wait inside, and changes the phase. The
// writer behind is told, and waits for them.
//
// A reader may come while a writer releases. Then it is inside, and finds another phase or no tail before
// it has moved itself: it is in. The next writer waits for it.
//
// We have the idea from the paper's abstract. Readers and the first writer wait at home here, and sleep.
//
// A waiter does not give up: a node of mcs.go has no mark for that, and a rank that reads has no node.
//
// Invariant: waiting is zero if there is no tail. No writer holds the lock while a reader that has it is
// inside. So the phase changes once, at most, before a reader that it lets in has gone.
//
// Memory order: as for queue. A reader leaves the word after side.end.
//
// Fairness: writers are FIFO. At most Batch of them follow each other while a reader waits. A writer that
// has queued up is overtaken by writers before it, and by the readers that each Batch of these lets in.
//
// Cost, away from home: a compare and swap to acquire, and one to release. Behind a writer a look and another
// try, and MCS's Put; with a writer behind one Put. A reader two additions.
type shiftLock struct {
	side
	queue
	word word
	seen uint64 // the phase when the rank became the tail, or had waited for readers. Others may have changed it
	run  uint64 // writers in a row
}

// The fields of the word. topology.MaxRanks fits.
const (
	shiftInside  = 1 << 21
	shiftWaiting = 1 << 42
	shiftPhase   = 1 << 63

	shiftTail  = shiftInside - 1
	shiftCount = shiftWaiting - shiftInside
)

// shiftReaders is the grant of a writer that has to wait for readers. Others are its number among the writers in a row.
const shiftReaders = 1 << 32

func newShiftLock(lock *Lock, w rma.Window) Mutex {
	l := padded(shiftLock{})
	l.init(lock, w)
	l.word = l.atHome(0)
	l.queue = newQueue(&l.side, l.word, l.rank, 0)
	return l
}

func wordsOfShiftLock(*topology.Tree, Options) Words { return Words{Home: 1, Rank: nodeWords} }

// admit moves the readers that wait inside.
func admit(v uint64) uint64 {
	waiting := v &^ shiftPhase / shiftWaiting
	if waiting == 0 {
		return v
	}
	return v ^ shiftPhase - waiting*(shiftWaiting-shiftInside)
}

// Acquire implements Mutex.
func (l *shiftLock) Acquire(ctx context.Context) error {
	if err := l.arrive(ctx); err != nil {
		return err
	}
	return l.entered(l.enter())
}

// enter makes the rank the tail, and returns when it has the lock. The grant is none if it has not waited.
func (l *shiftLock) enter() (grant uint64, err error) {
	if l.stale {
		l.prepare()
	}
	v := l.seen
	for !l.word.CompareAndSwap(v, v&^shiftTail|l.name) {
		if v = l.word.Load(); l.broken() {
			return none, l.intact()
		}
	}
	pred := v & shiftTail
	if pred != 0 {
		if grant, err = l.register(pred); err != nil {
			return none, l.fail(err)
		}
	} else if v&shiftCount != 0 {
		grant = shiftReaders
	}
	if grant == shiftReaders {
		if v, err = l.word.await(forever(), rma.Is(0).Masked(shiftCount)); err != nil {
			return none, l.fail(err)
		}
	}
	l.seen, l.run = v&shiftPhase, max(granted, grant%shiftReaders)
	return grant, nil
}

// register waits behind a writer for its grant.
func (l *shiftLock) register(pred uint64) (grant uint64, err error) {
	next := l.of(pred, nodeNext)
	next.publish(l.name)
	l.stale = true
	return l.status.await(forever(), rma.IsNot(0))
}

// TryAcquire implements Tryer.
func (l *shiftLock) TryAcquire() bool {
	return l.begin(forever()) == nil && l.tried(writing, l.tryEnter())
}

// tryEnter makes the rank the tail if the word is free.
func (l *shiftLock) tryEnter() bool {
	v := l.word.Load()
	l.run = granted
	return v&^shiftPhase == 0 && l.word.CompareAndSwap(v, v+l.name)
}

// Release implements Mutex.
func (l *shiftLock) Release() {
	if !l.end(writing) {
		return
	}
	succ := l.next.Load()
	if succ == 0 {
		if l.free() {
			return
		}
		var err error
		if succ, err = l.next.await(forever(), rma.IsNot(0)); err != nil {
			return
		}
	}
	grant := l.run + 1
	if l.run >= uint64(l.o.Batch) {
		grant = l.shift()
	}
	l.handTo(succ, grant)
}

// free takes the rank out of the word and lets readers in, if no writer is behind it. It reports whether it did.
func (l *shiftLock) free() bool {
	for v := l.seen + l.name; ; v = l.word.Load() {
		if v&shiftTail != l.name {
			return false
		}
		if l.word.CompareAndSwap(v, admit(v)-l.name) {
			l.word.wake()
			return true
		}
	}
}

// shift lets readers in before the writer behind, if any wait, and returns that writer's grant.
func (l *shiftLock) shift() (grant uint64) {
	for {
		v := l.word.Load()
		now := admit(v)
		if now == v {
			return granted
		}
		if l.word.CompareAndSwap(v, now) {
			l.word.wake()
			return shiftReaders
		}
	}
}

// AcquireRead implements RWMutex.
func (l *shiftLock) AcquireRead(ctx context.Context) error {
	if err := l.arrive(ctx); err != nil {
		return err
	}
	v := l.word.Add(shiftInside)
	waits := v&shiftTail != 0 && l.stayOut(v)
	if waits {
		if _, err := l.word.await(forever(), rma.IsNot(v&shiftPhase).Masked(shiftPhase)); err != nil {
			return l.fail(err)
		}
	}
	if err := l.decided(); err != nil {
		return err
	}
	l.acquired(reading, waits)
	return nil
}

// stayOut moves a reader that found a tail to those that wait, and reports whether it did. If not, the reader is in.
func (l *shiftLock) stayOut(found uint64) bool {
	for {
		v := l.word.Load()
		if v&shiftTail == 0 || (v^found)&shiftPhase != 0 {
			return false
		}
		if l.word.CompareAndSwap(v, v-shiftInside+shiftWaiting) {
			l.word.wake()
			return true
		}
	}
}

// TryAcquireRead implements ReadTryer.
func (l *shiftLock) TryAcquireRead() bool {
	return l.begin(forever()) == nil && l.tried(reading, l.tryEnterRead())
}

func (l *shiftLock) tryEnterRead() bool {
	for {
		v := l.word.Load()
		if v&shiftTail != 0 || l.broken() {
			return false
		}
		if l.word.CompareAndSwap(v, v+shiftInside) {
			return true
		}
	}
}

// ReleaseRead implements RWMutex.
func (l *shiftLock) ReleaseRead() {
	if l.end(reading) && l.word.Add(^uint64(shiftInside-1))&shiftTail != 0 {
		l.word.wake()
	}
}
