package locks

import (
	"context"
	"math/bits"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// decLock is DecLock of Zhang, Cheng, Chen, Wei and Chen, 2025 (arXiv 2505.17641), for memory that
// many ranks reach by one network card. The queue lies at the lock's home: a header, which one addition
// moves, and a ring of entries. A releaser reads the entries and writes to the next ranks
// themselves. So no rank looks again and again at a word of the home.
//
//	header                                     ring
//	63     42   41       21   20         0     ┌───┬────────┬────────┬─────────┬───┐
//	head      │ length      │ writers          │   │ (head) │ reader │ writer  │   │
//	                                           └───┴────────┴────────┴─────────┴───┘
//
// A rank adds itself to length, and a writer to writers. It has the place head + length that it
// found. Whether it waits follows from the rest of what it found:
//
//	             length 0   no writers            writers
//	a reader     is in      is in                 writes its entry and waits
//	a writer     is in      waits at the gate     writes its entry and waits
//
// The gate is a second word. The one writer that waits there adds its name and the number of readers
// before it. Each of these subtracts one when it goes, because it finds a writer in the header then. The
// operation that makes the number zero is the last, and lets the writer in:
//
//	63       32   31               0
//	name        │ readers to go         below zero as a whole, until the writer has come
//
// A writer that releases takes the entries behind it, up to the next writer. If that comes at
// once, it is next. Otherwise the readers before it are, together, and the writer waits at the
// gate. Only when it has taken all these entries does the releaser leave the header. So when
// no writer is left there, and readers come and go, each entry is free again.
//
// We have the idea from descriptions of the paper. The gate is ours: readers go in any order, and the
// last of them has to know the writer. A lost rank breaks the lock, as elsewhere here.
//
// A waiter does not give up: those behind it have their places behind its own.
//
// Invariant: the ranks that hold the lock have the first places, or have left some of these to each
// other. Each rank behind them has written its entry or will, or is the writer at the gate.
//
// Memory order: side.end comes before a rank leaves the header, and before it writes to another one.
//
// Fairness: FIFO. Readers that no writer separates are inside together.
//
// Cost, away from home: two atomics. A rank that waits writes its entry, too. A writer that finds
// a rank behind it reads the header, swaps that rank's entry for zero, and writes to the rank. The home has
// a word for each rank.
type decLock struct {
	side
	header word
	gate   word
	status word     // of the own rank: not zero when it may go in
	seen   uint64   // the header when the rank came, with itself; zero if it has waited
	next   []uint64 // the names of those that Release lets in
}

// The words of DecLock at its home. The ring follows. A rank has its status.
const (
	decHeader = 0
	decGate   = 1
	decRing   = 2
)

// The fields of the header, and of the gate. topology.MaxRanks fits.
const (
	decWriter = 1
	decLength = 1 << 21
	decHead   = 1 << 42
	decCame   = decLength + decWriter
	decReader = 1 // readers to go
	decName   = 1 << 32
)

func decWriters(v uint64) uint64 { return v & (decLength - 1) }
func decPlaces(v uint64) uint64  { return v & (decHead - decLength) / decLength }

// decEntries is the length of the ring: a power of two, because places wrap around, and at least
// one entry for each rank.
func decEntries(t *topology.Tree) int { return 1 << bits.Len(uint(t.Ranks()-1)) }

func newDecLock(lock *Lock, w rma.Window) Mutex {
	l := padded(decLock{})
	l.init(lock, w)
	l.header, l.gate, l.status = l.atHome(decHeader), l.atHome(decGate), l.at(l.rank, 0)
	return l
}

func wordsOfDecLock(t *topology.Tree, _ Options) Words {
	return Words{Home: decRing + decEntries(t), Rank: 1}
}

// name is the rank in the gate and, twice as much, in entries. A reader's entry is odd.
func (l *decLock) name() uint64 { return uint64(l.rank) + 1 }

// entry is the entry of a place: so many behind the head.
func (l *decLock) entry(header, behind uint64) word {
	return l.atHome(decRing + int((header/decHead+behind)%uint64(decEntries(l.topo))))
}

// Acquire implements Mutex.
func (l *decLock) Acquire(ctx context.Context) error {
	if err := l.arrive(ctx); err != nil {
		return err
	}
	v := l.header.Add(decCame)
	l.seen = 0
	switch {
	case decPlaces(v) == 0:
		l.seen = v + decCame
		return l.holds(writing, false)
	case decWriters(v) > 0:
		l.write(v, 2*l.name())
	case l.pass(l.name()*decName+decPlaces(v)*decReader) != 0:
		return l.holds(writing, true)
	}
	return l.sleep(writing)
}

// AcquireRead implements RWMutex.
func (l *decLock) AcquireRead(ctx context.Context) error {
	if err := l.arrive(ctx); err != nil {
		return err
	}
	v := l.header.Add(decLength)
	if decWriters(v) == 0 {
		return l.holds(reading, false)
	}
	l.write(v, 2*l.name()+1)
	return l.sleep(reading)
}

// holds is the end of an acquire.
func (l *decLock) holds(m mode, waited bool) error {
	err := l.decided()
	if err == nil {
		l.acquired(m, waited)
	}
	return err
}

// write writes the entry of a rank that found v when it came.
func (l *decLock) write(v, entry uint64) {
	e := l.entry(v, decPlaces(v))
	e.publish(entry)
}

// sleep waits until another rank lets this one in.
func (l *decLock) sleep(m mode) error {
	if _, err := l.status.await(forever(), rma.IsNot(0)); err != nil {
		return l.fail(err)
	}
	l.status.Store(0)
	l.acquired(m, true)
	return nil
}

// letIn lets in the rank of a name.
func (l *decLock) letIn(name uint64) {
	status := l.at(Rank(name-1), 0)
	status.publish(granted)
	l.handedOver()
}

// pass adds to the gate. If all are there then, it clears the gate and returns the writer's name.
func (l *decLock) pass(delta uint64) (writer uint64) {
	v := l.gate.Add(delta) + delta
	if v%decName != 0 {
		return 0
	}
	l.gate.Store(0)
	return v / decName
}

// TryAcquire implements Tryer.
func (l *decLock) TryAcquire() bool {
	return l.begin(forever()) == nil && l.tried(writing, l.tryCome(decHead-1, decCame))
}

// TryAcquireRead implements ReadTryer.
func (l *decLock) TryAcquireRead() bool {
	return l.begin(forever()) == nil && l.tried(reading, l.tryCome(decLength-1, decLength))
}

// tryCome adds to the header if the others of these bits are zero, and reports whether it did.
func (l *decLock) tryCome(others, delta uint64) bool {
	for {
		v := l.header.Load()
		if v&others != 0 || l.broken() {
			return false
		}
		if l.header.CompareAndSwap(v, v+delta) {
			l.seen = v + delta
			return true
		}
	}
}

// Release implements Mutex.
func (l *decLock) Release() {
	if !l.end(writing) {
		return
	}
	l.next = l.next[:0]
	writer := l.leave()
	switch {
	case writer != 0 && len(l.next) > 0:
		l.gate.Store(writer*decName + uint64(len(l.next))*decReader)
	case writer != 0:
		l.next = append(l.next, writer)
	}
	for _, name := range l.next {
		l.letIn(name)
	}
}

// leave takes the entries behind a writer up to the next writer's, and leaves the header. Readers are
// in next then. It returns the writer's name, or zero if there is none.
func (l *decLock) leave() (writer uint64) {
	const gone = decHead - decCame
	v := l.seen
	if v == 0 {
		v = l.header.Load()
	}
	for behind := uint64(1); ; {
		for ; behind < decPlaces(v); behind++ {
			e, err := l.take(l.entry(v, behind))
			switch {
			case err != nil:
				return 0
			case e%2 == 0:
				l.header.Add(gone)
				return e / 2
			}
			l.next = append(l.next, e/2)
		}
		if l.header.CompareAndSwap(v, v+gone) || l.broken() {
			return 0
		}
		v = l.header.Load()
	}
}

// take returns an entry, and clears it for the next round of the ring.
func (l *decLock) take(e word) (v uint64, err error) {
	if v = e.Swap(0); v == 0 {
		if v, err = e.await(forever(), rma.IsNot(0)); err == nil {
			e.Store(0)
		}
	}
	return v, err
}

// ReleaseRead implements RWMutex.
func (l *decLock) ReleaseRead() {
	if !l.end(reading) {
		return
	}
	if v := l.header.Add(decHead - decLength); decWriters(v) > 0 {
		if writer := l.pass(^uint64(decReader - 1)); writer != 0 {
			l.letIn(writer)
		}
	}
}
