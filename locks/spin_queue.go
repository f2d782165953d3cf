package locks

import (
	"context"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// spinQueue is a spin lock before a queue, the frame of SHFL (Kashyap et al., SOSP'19;
// Uffmann 2022, §5.7, Abbildung 5.5). A rank tries the spin lock once: it steals the lock. If
// that fails it goes through the queue. The head of the queue waits for the spin lock, takes
// it, and leaves the queue at once. Only the spin lock protects the section.
//
//	tail ──────────────▶ last
//	head ─next─▶ waiter ─next─▶ waiter
//	 │ waits for
//	 ▼
//	top, at home
//	 63 ... 1    0
//	disabled │ locked
//
//	                                 top
//	rank steals               0 ───────────────▶ locked
//	head takes         disabled ───────────────▶ disabled, locked
//	first in the queue        v ───────────────▶ v + disabled
//	last of the queue         v ───────────────▶ v - disabled
//
// The paper's disabled is a flag: the first in the queue sets it, and the last one clears it
// after it has left the queue. Between the two a new first may set it, and loses it. Then
// ranks steal beside a queue. Here it counts. The last one holds the lock when it subtracts,
// or gives up. So the head may take the lock when top is disabled exactly.
//
// TTS-MCS looks at top before it tries (l. 1 and 12). TAS-MCS tries at once, with back-off.
// Both leave the queue's order as it is. SHFL sorts it: see shfl.go.
//
// Invariant: a rank that has set locked holds the lock. While the queue has a head that has
// announced itself, disabled is at least 1, and no rank steals.
//
// Memory order: side.end completes what the holder did, before the subtraction of locked.
//
// Fairness: the queue's. A rank in the queue is overtaken by the ranks before it, and by any
// number that steal until the first in the queue has announced itself.
//
// Cost, away from home: a CAS and a FetchOp; TTS looks besides. Through the queue the cost of
// MCS comes on top, and the first and the last in it add to top.
//
// Line numbers refer to Abbildungen 5.5 (Acquire) and 5.6 (Release).
type spinQueue struct {
	side
	top   word
	looks bool // TTS
	below queueBelow
}

// queueBelow is a queue below a spin lock.
type queueBelow interface {
	// patience is the context of a wait.
	patience(ctx context.Context) context.Context
	// enter returns when the rank is the head: with none if the queue was empty.
	enter(ctx context.Context) (grant uint64, err error)
	// handOn makes a successor the head, or reports that the queue is empty now.
	handOn(grant uint64) (last bool)
	// sort is what the head does while it waits for the spin lock.
	sort(top *word)
}

// The fields of top.
const (
	topLocked   = 1
	topDisabled = 2
)

// unsorted is a queue in the order of arrival.
type unsorted struct{ abortQueue }

func (*unsorted) patience(ctx context.Context) context.Context { return ctx }

func (*unsorted) sort(*word) {}

func newUnsorted(s *side) queueBelow {
	return &unsorted{newAbortQueue(s, s.atHome(1), s.rank, 0)}
}

func newSpinQueue(looks bool, below func(*side) queueBelow) func(*Lock, rma.Window) Mutex {
	return func(lock *Lock, w rma.Window) Mutex {
		l := padded(spinQueue{looks: looks})
		l.init(lock, w)
		l.top, l.below = l.atHome(0), below(&l.side)
		return l
	}
}

func wordsOfSpinQueue(*topology.Tree, Options) Words { return Words{Home: 2, Rank: nodeWords} }

// Acquire implements Mutex.
func (l *spinQueue) Acquire(ctx context.Context) error {
	if err := l.arrive(ctx); err != nil {
		return err
	}
	if l.steal() {
		if err := l.decided(); err != nil {
			return err
		}
		l.acquired(writing, false)
		return nil
	}
	ctx = l.below.patience(ctx)
	first, err := l.below.enter(ctx) // l. 5
	if err != nil {
		return err
	}
	if first == none { // l. 6-7
		l.top.accumulate(topDisabled)
	}
	err = l.take(ctx)
	if broken := l.decided(); broken != nil {
		return broken
	}
	if l.below.handOn(granted) { // l. 15-17
		l.top.accumulate(^uint64(topDisabled - 1))
	}
	if err == nil {
		l.acquired(writing, true)
	}
	return err
}

// take takes the spin lock for the head: l. 9-13.
func (l *spinQueue) take(ctx context.Context) error {
	free := rma.Is(topDisabled)
	for b := newBackoff(&l.side); ; {
		l.below.sort(&l.top) // l. 10-11
		if l.looks {
			if _, err := l.top.await(ctx, free); err != nil { // l. 12
				return err
			}
		}
		if l.top.CompareAndSwap(topDisabled, topDisabled|topLocked) { // l. 13
			return nil
		}
		if !l.looks {
			if err := b.wait(ctx, &l.top, free); err != nil {
				return err
			}
		}
	}
}

// steal takes the spin lock if it is free and no rank is in the queue: l. 1-3.
func (l *spinQueue) steal() bool {
	return (!l.looks || l.top.Load() == 0) && l.top.CompareAndSwap(0, topLocked)
}

// TryAcquire implements Tryer.
func (l *spinQueue) TryAcquire() bool {
	return l.begin(forever()) == nil && l.tried(writing, l.steal())
}

// Release implements Mutex: l. 1.
func (l *spinQueue) Release() {
	if l.end(writing) && l.top.Add(^uint64(topLocked-1)) != topLocked {
		l.top.wake()
		l.handedOver()
	}
}

// Disown and Adopt implement Oblivious.
func (l *spinQueue) Disown() { l.disown() }
func (l *spinQueue) Adopt()  { l.adopt() }

// spinQueues are the rows of the table: a spin lock before a queue.
func spinQueues() []Spec {
	tts, tas := newSpinQueue(true, newUnsorted), newSpinQueue(false, newUnsorted)
	const sorted = "none until a waiter is the head, then Batch in a row"
	return []Spec{
		{
			Name: "SHFL", Paper: "Uffmann22 §5.7", About: "TTS before a queue that waiters sort by element",
			Fairness: sorted, Words: wordsOfSHFL, Options: []string{"Batch"},
			at:   newSpinQueue(true, newShuffler),
			Cost: Cost{Uncontended: Operations{Atomics: 2, Gets: 1}, Contended: Operations{Atomics: 3, Puts: 2, Gets: 2, Unbounded: true}},
		},
		{
			Name: "SHFL-TAS", Paper: "Uffmann22 §5.7.1", About: "the same with TAS",
			Fairness: sorted, Words: wordsOfSHFL, Options: []string{"Batch", "Backoff"},
			at:   newSpinQueue(false, newShuffler),
			Cost: Cost{Uncontended: Operations{Atomics: 2}, Contended: Operations{Atomics: 5, Puts: 2, Unbounded: true}},
		},
		{
			Name: "TTS-MCS", Paper: "Uffmann22 §5.7.2", About: "SHFL without sorting",
			Fairness: "none until a waiter is the head, then FIFO", Aborts: Always, Words: wordsOfSpinQueue, at: tts,
			Cost: Cost{Uncontended: Operations{Atomics: 2, Gets: 1}, Contended: Operations{Atomics: 3, Puts: 2, Gets: 2}},
		},
		{
			Name: "TAS-MCS", Paper: "Uffmann22 §5.7.2", About: "SHFL-TAS without sorting",
			Fairness: "none until a waiter is the head, then FIFO", Aborts: Always, Words: wordsOfSpinQueue, at: tas,
			Options: []string{"Backoff"},
			Cost:    Cost{Uncontended: Operations{Atomics: 2}, Contended: Operations{Atomics: 5, Puts: 2, Unbounded: true}},
		},
	}
}

// fissile is the Fissile lock of Dice and Kogan, NETYS'20 (Uffmann 2022, §6): a spin lock
// before CNA. A rank tries the spin lock once. If that fails it goes through CNA's queue, and
// its head, the alpha thread, competes for the spin lock with the ranks that come. So a lock
// without contention costs what a spin lock costs.
//
//	tail ──▶ ... ─▶ waiter ─▶ head ─▶ top ◀─ ranks that come
//
// A head that has failed Options.Patience times becomes impatient: no rank steals then, until
// it has the lock. The frame and its top are SHFL's (spin_queue.go), with two
// differences. A head of SHFL is impatient from the beginning, and stealing is off until the
// queue is empty; here it is off for one head at a time, and on again for the next.
//
// Invariant, memory order: spinQueue's, and cnaQueue's.
//
// Fairness: a head tries at most Options.Patience times before it is the next. A rank in the
// queue is overtaken as in CNA, and by ranks that steal.
//
// Cost, away from home: a CAS and a FetchOp.
type fissile struct {
	side
	top   word
	below cnaQueue
}

func newFissile(lock *Lock, w rma.Window) Mutex {
	l := padded(fissile{})
	l.init(lock, w)
	l.top, l.below = l.atHome(0), newCNAQueue(&l.side, 1)
	return l
}

func wordsOfFissile(*topology.Tree, Options) Words { return Words{Home: 2, Rank: nodeWords} }

// Acquire implements Mutex.
func (l *fissile) Acquire(ctx context.Context) error {
	if err := l.arrive(ctx); err != nil {
		return err
	}
	waited := !l.top.CompareAndSwap(0, topLocked)
	if waited {
		if _, err := l.below.enter(ctx); err != nil {
			return err
		}
		l.take()
		if !l.broken() {
			l.below.handOn()
		}
	}
	if err := l.decided(); err != nil {
		return err
	}
	l.came(writing, entry{waited: waited, upper: !waited || l.below.run == 1})
	return nil
}

// take takes the spin lock for the head.
func (l *fissile) take() {
	b := newBackoff(&l.side)
	for range l.o.Patience {
		if b.wait(forever(), &l.top, rma.Is(0)) != nil || l.top.CompareAndSwap(0, topLocked) {
			return
		}
	}
	l.top.accumulate(topDisabled)
	if _, err := l.top.await(forever(), rma.Is(topDisabled)); err == nil {
		// Only the head changes top now. It takes the lock, and lets other ranks steal.
		l.top.CompareAndSwap(topDisabled, topLocked)
	}
}

// TryAcquire implements Tryer.
func (l *fissile) TryAcquire() bool {
	if l.begin(forever()) != nil || !l.top.CompareAndSwap(0, topLocked) {
		return false
	}
	l.came(writing, entry{upper: true})
	return true
}

// Release implements Mutex.
func (l *fissile) Release() {
	if l.end(writing) {
		if l.top.Add(^uint64(topLocked-1)) != topLocked {
			l.handedOver()
		}
		l.top.wake() // also a head that is still patient
	}
}

// Disown and Adopt implement Oblivious.
func (l *fissile) Disown() { l.disown() }
func (l *fissile) Adopt()  { l.adopt() }
