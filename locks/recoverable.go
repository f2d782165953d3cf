package locks

import (
	"context"
	"errors"
	"math/bits"
	"strings"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// Recoverable is the capability of a lock that survives its ranks, on windows that do
// (rma.Survivor). Ask it while the rank holds the lock.
type Recoverable interface {
	// Fence is a number that is larger for each later owner. A reader has the fence of the
	// last owner before it.
	Fence() uint64

	// Prior is nil, or ErrPriorHolderLost if the owner before was lost while it held the
	// lock: what the lock protects may be half changed. The readers behind it are told, too,
	// until a rank has had the lock to write.
	Prior() error
}

// ErrPriorHolderLost says that the owner before was lost while it held the lock.
var ErrPriorHolderLost = errors.New("locks: the holder before was lost: what it changed may be half done, so check or repair it")

// recoverable is R-X: one word that names the owner, and the lock X, in which ranks wait for their
// turn at that word. X is any exclusive lock of the family. It orders ranks and protects nothing: a
// rank lets go of it as soon as it owns the word. The word alone excludes, so every step that
// counts is one atomic operation, and a rank that dies between two steps leaves no half of
// one.
//
//	X, by its own words: each rank waits for the one before it
//	head of X ── waits for ──▶ owner, at home
//
//	63 ...       w+2   w+1    w           w-1 ... 0       w bits hold the number of ranks
//	┌───────────────┬──────┬─────────┬──────────────────┐
//	│ fence         │ torn │ waiting │ rank+1, or 0     │
//	└───────────────┴──────┴─────────┴──────────────────┘
//
//	                                           owner
//	rank takes, if no rank waits       f, 0, 0, free ──▶ f+1, 0, 0, rank
//	head marks                         f, -, 0, rank ──▶ f, -, 1, rank
//	head takes                         f, -, -, free ──▶ f+1, 0, 0, head
//	head takes from a lost rank        f, -, -, lost ──▶ f+1, 0, 0, head, which is told
//	owner releases                     f, 0, -, rank ──▶ f, 0, -, free
//
// # Losses
//
// A window's epoch ends when it hears of a loss. X works for one epoch only: it stands on
// rma.During. So all ranks that wait in X leave it, each when it hears of the loss, and go to
// the X of the next epoch, which has words of its own. Nothing in an X is ever used again, so
// no rank has to know when the last one has left it. For the first orders-1 losses there is an X.
// After more, ranks wait at the owner word without order.
//
// The head of an old X stays a head. Until all ranks know of the loss, each X may have a head: so
// several ranks may wait at the owner word, and one of them takes it. A living owner keeps it
// through any number of losses.
//
// A rank sleeps only until the word that it has marked changes. So an owner wakes ranks only if the
// mark is there, and a rank that finds another owner marks the word again.
//
// Invariant: the rank in the owner word holds the lock, if it lives. Only the owner clears it, and
// only a rank that knows the owner to be lost replaces it. A window knows that only of a rank
// whose operations are over.
//
// Memory order: side.end completes what the owner did, before the subtraction of its rank.
//
// Fairness: X's. While a rank is on its way to be the head of an empty X, and until it has
// marked the word, others may take the lock before it. After a loss ranks queue up again.
// No rank waits longer than its window takes to hear of the loss.
//
// Cost, away from home: a Get, a CAS and a FetchOp, as in TTS. Behind another rank X's cost comes on
// top, and a CAS and a Get.
type recoverable struct {
	side
	owner    word
	survivor rma.Survivor
	x        Spec
	orders   []Mutex // X in each epoch, made when the rank first waits in it
	before   int     // so many words of a rank stand before the first X
	inside   word    // of a reader-writer lock

	me, ranks, waiting, torn, fence uint64 // in the owner word: the own rank, a mask, bits, one

	taken uint64 // the owner word when the rank got the lock
	prior bool   // the owner before was lost
}

// orders is how many epochs have an X.
const orders = 8

// ownerWords is what the owner word takes at home: a line, because ranks change it beside X's words.
const ownerWords = line / 8

func newRecoverable(x Spec) func(*Lock, rma.Window) Mutex {
	return func(lock *Lock, w rma.Window) Mutex {
		l := padded(recoverable{})
		l.make(lock, w, x, 0)
		return l
	}
}

// make makes l the side of w's rank. Each rank has some words before the Xs.
func (l *recoverable) make(lock *Lock, w rma.Window, x Spec, before int) {
	l.init(lock, w)
	l.owner, l.x, l.before = l.atHome(0), x, before
	l.orders = make([]Mutex, min(l.topo.Ranks(), orders))
	if s, ok := w.(rma.Survivor); ok {
		l.survivor = s
	} else {
		l.survivor = mortal{w, new(rma.Epoch)}
	}
	width := bits.Len(uint(l.topo.Ranks()))
	l.waiting, l.torn, l.fence = 1<<width, 2<<width, 4<<width
	l.me, l.ranks = uint64(l.rank)+1, l.waiting-1
}

// mortal is a window that fails when a rank is lost, as a Survivor: it has one epoch.
type mortal struct {
	rma.Window
	epoch *rma.Epoch
}

func (m mortal) Epoch() *rma.Epoch { return m.epoch }

func (m mortal) AwaitIn(ctx context.Context, _ *rma.Epoch, target Rank, disp rma.Disp, until rma.Until) (uint64, error) {
	return m.Await(ctx, target, disp, until)
}

func wordsOfRecoverable(x Spec, before int) func(*topology.Tree, Options) Words {
	return func(t *topology.Tree, o Options) Words {
		each, n := x.Words(t, o), min(t.Ranks(), orders)
		return Words{Home: ownerWords + n*each.Home, Rank: before + n*each.Rank}
	}
}

// order is the X of an epoch, or nil if it has none.
func (l *recoverable) order(e *rma.Epoch) Mutex {
	n := e.Number()
	if n >= len(l.orders) {
		return nil
	}
	if l.orders[n] == nil {
		each := l.x.Words(l.topo, *l.o)
		x := &Lock{spec: l.x, o: *l.o, tree: l.topo, number: 1,
			base: base{l.base.home + rma.Disp(ownerWords+n*each.Home), l.base.rank + rma.Disp(l.before+n*each.Rank)}}
		w := l.w
		if _, ok := l.survivor.(mortal); !ok {
			w = rma.During(l.survivor, e)
		}
		l.orders[n] = l.x.at(x, w)
	}
	return l.orders[n]
}

// Acquire implements Mutex.
func (l *recoverable) Acquire(ctx context.Context) error {
	if l.hindered() || ctx.Err() != nil {
		if err := l.arrive(ctx); err != nil {
			return err
		}
	}
	waited := false
	if v := l.owner.Load(); v&(l.ranks|l.waiting) != 0 || !l.take(v) {
		waited = true
		if _, err := l.enter(ctx, writing); err != nil {
			return err
		}
	}
	l.acquired(writing, waited)
	return nil
}

// take makes the rank the owner, if the owner word is v still.
func (l *recoverable) take(v uint64) bool {
	mine := v&^(l.fence-1) + l.fence + l.me
	if !l.owner.CompareAndSwap(v, mine) {
		return false
	}
	l.taken, l.prior = mine, v&(l.ranks|l.torn) != 0
	return true
}

// enter queues up in the X of the rank's epoch, and returns when the rank has the lock. If the
// epoch ends, the rank queues up in the next one. It returns the epoch that it knows of.
func (l *recoverable) enter(ctx context.Context, m mode) (*rma.Epoch, error) {
	for {
		e := l.survivor.Epoch()
		order := l.order(e)
		if order != nil {
			var err error
			if m == reading {
				err = order.(RWMutex).AcquireRead(ctx)
			} else {
				err = order.Acquire(ctx)
			}
			if err != nil && !l.broken() && e.Err() != nil {
				continue
			}
			if err != nil {
				return nil, l.fail(err)
			}
		}
		e, err := l.lead(l.patience(ctx), e, m)
		switch {
		case order == nil:
		case m == reading:
			order.(RWMutex).ReleaseRead()
		default:
			order.Release()
		}
		return e, err
	}
}

// patience is the context of a wait.
func (l *recoverable) patience(ctx context.Context) context.Context {
	if l.x.Aborts == Never {
		return forever()
	}
	return ctx
}

// lead waits at the owner word for a head of X until it has the lock.
func (l *recoverable) lead(ctx context.Context, e *rma.Epoch, m mode) (*rma.Epoch, error) {
	for {
		v := l.owner.Load()
		if err := l.decided(); err != nil {
			return nil, err
		}
		owner := v & l.ranks
		switch lost := e.Lost(Rank(owner) - 1); {
		case m == reading && lost:
			l.free(v)
			continue
		case m == reading && owner == 0:
			if l.visit() {
				return e, nil
			}
			continue
		case owner == 0 || lost:
			if l.take(v) {
				return e, nil
			}
			continue
		}
		marked := v | l.waiting
		if !l.owner.CompareAndSwap(v, marked) {
			continue
		}
		if err := l.awaitIn(ctx, &e, &l.owner, rma.IsNot(marked)); err != nil {
			return nil, err
		}
	}
}

// awaitIn waits for a word. If the epoch ends, it returns at once, with the epoch after it.
func (l *recoverable) awaitIn(ctx context.Context, e **rma.Epoch, x *word, until rma.Until) error {
	_, err := l.survivor.AwaitIn(ctx, *e, x.Target, x.Disp, until)
	if err == nil || l.broken() || (*e).Err() == nil {
		if err != nil {
			return l.fail(err)
		}
		return nil
	}
	*e = l.survivor.Epoch()
	return nil
}

// TryAcquire implements Tryer. It does not ask whether ranks wait: a rank that has marked the
// word may have gone.
func (l *recoverable) TryAcquire() bool {
	if l.begin(forever()) != nil {
		return false
	}
	return l.tried(writing, l.tryTake(l.survivor.Epoch()) && !l.broken())
}

// tryTake takes the lock if no living rank has it.
func (l *recoverable) tryTake(e *rma.Epoch) bool {
	for {
		v := l.owner.Load()
		owner := v & l.ranks
		if owner != 0 && !e.Lost(Rank(owner-1)) {
			return false
		}
		if l.take(v) {
			return true
		}
		if l.broken() {
			return false
		}
	}
}

// Release implements Mutex.
func (l *recoverable) Release() {
	if l.complete(); l.ends(writing) || l.end(writing) {
		l.leave(0)
	}
}

// leave clears the rank in the owner word, and adds a bit.
func (l *recoverable) leave(bit uint64) {
	if l.owner.Add(bit-l.me)&l.waiting != 0 {
		l.owner.wake()
		l.handedOver()
	}
}

// Fence implements Recoverable.
func (l *recoverable) Fence() uint64 { return l.taken / l.fence }

// Prior implements Recoverable.
func (l *recoverable) Prior() error {
	if l.prior {
		return ErrPriorHolderLost
	}
	return nil
}

// recoverables are the rows of the table: R-X for some locks. ByName makes any other.
func recoverables(family []Spec) (rows []Spec) {
	for _, name := range []string{"R-MCS", "R-C-MCS-MCS", "R-RMA-RW"} {
		if row, ok := recoverableByName(family, name); ok {
			rows = append(rows, row)
		}
	}
	return rows
}

// recoverableByName is the lock R-X over a lock of the family.
func recoverableByName(family []Spec, name string) (Spec, bool) {
	x, ok := strings.CutPrefix(name, "R-")
	if !ok {
		return Spec{}, false
	}
	order, ok := find(family, x)
	if !ok || order.Kind == Priority {
		return Spec{}, false
	}
	return recoverableOver(order), true
}

func recoverableOver(x Spec) Spec {
	s := Spec{
		Name: "R-" + x.Name, Kind: x.Kind, Paper: "robust futexes; Golab and Ramaraju, PODC'16", About: x.Name + " that survives its holder, on windows that survive",
		Fairness: "none until a waiter is the head, then " + x.Fairness, Aborts: x.Aborts, Recoverable: true,
		Operations: x.Operations, Options: x.Options,
		Words: wordsOfRecoverable(x, 0), at: newRecoverable(x),
		Cost: Cost{Uncontended: Operations{Atomics: 2, Gets: 1},
			Contended: Operations{Atomics: 2, Gets: 2, Unbounded: true}},
	}
	if x.Kind == ReaderWriter {
		s.Words, s.at = wordsOfRecoverable(x, insideWords), newRecoverableRW(x)
		s.Cost.Uncontended.Unbounded = true // a Get of each rank
		s.Cost.Reader = Operations{Gets: 1}
	}
	return s
}

// mortally is a window that survives, for a lock that does not: it fails at the first loss.
func mortally(s rma.Survivor) rma.Window {
	e := s.Epoch()
	if e.Number() > 0 {
		e = new(rma.Epoch)
		e.End(rma.ErrPeerLost)
	}
	return rma.During(s, e)
}
