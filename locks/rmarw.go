package locks

import (
	"context"
	"sync/atomic"

	"github.com/orwl/go-orwl/net/topology"
)

// rmaRW is the topology-aware reader-writer lock of Schmid, Besta and Hoefler,
// HPDC'16, §3: a distributed counter (DC) for readers, at every T_DC-th rank, and
// a tree of queues (DT) for writers, whose root passes the lock between writers
// and readers.
//
//	writers   tree of queues ─▶ root ─▶ bars every counter ─▶ holds
//	readers   own counter ─▶ hold
//
// See tree and readers; readers says what is corrected of the printed protocol. This
// file has the writers, and rmarwreader.go the readers. A grant at the root is the
// number of turns at the root in a row, plus one: writers keep the counters barred;
// modeChange says that the readers were let in, and that the successor has to take the
// lock from them (MODE_CHANGE).
//
// Invariant: while a writer holds the lock every counter is barred and nobody is
// inside. Only who holds the root, or was passed the lock below it, touches a counter's
// barred, wanted and epoch, or a barger (barge.go) that has found the bits unset.
//
// Fairness: writers as in hmcs. A waiting writer whose turn it is at the root is
// overtaken by at most T_R readers at each counter, besides those that are kept
// in by others; a waiting reader by at most T_W writers. §3.2.3 defines T_W as the
// product of the T_L,i but listing 8 compares it with the number of turns at the
// root, each of which may be T_L,2 * ... * T_L,N writers long; here T_W bounds
// writers, so that the root turns over after T_W / (T_L,2 * ... * T_L,N) turns.
//
// With Options.StepBack nothing is passed on, and neither T_L nor T_W matters. The
// writer whose turn it is at the root is overtaken by readers as above, and from
// when it has announced itself at all counters by no writer but the one that is
// inside. Each queue keeps its order, but until its first has announced itself any
// number of bargers may come. A reader that has stepped back is overtaken by any
// number of writers until it comes again, and then by two: the one that is inside
// and the one that has announced itself.
//
// Memory order: a reader's flush comes before it departs, a writer's before it
// lets anybody in.
//
// Cost, if nobody interferes: a reader one FetchOp and one Accumulate, at its
// counter. A writer those of hmcs, and for every counter two FetchOps (to
// announce itself, to bar) and one Accumulate.
type rmaRW struct {
	seat
	t  tree
	tw uint64    // turns at the root in a row
	c  readers   // the rank's own counter
	dc []readers // all counters
	// what each counter was when the rank barred it, if it was the rank
	state []uint64
	mine  bool
	steps bool // Options.StepBack

	met uint64 // the counter that it could not bar when it tried last
}

// The words of RMA-RW at each rank: its counter, alone on its cache line, and
// its levels.
const (
	rwCounter = 0
	rwLevels  = 8
)

// modeChange tells the successor at the root that the readers have the lock.
const modeChange = climb

func wordsOfRMARW(t *topology.Tree, _ Options) Words {
	return Words{Rank: rwLevels + levelWords*t.Levels()}
}

// newRMARW is the lock for a rank.
func newRMARW(s seat) Mutex {
	l := apart(rmaRW{seat: s, tw: uint64(s.o.TW), steps: s.o.StepBack})
	l.goesAtOnce(l.direct)
	l.t = newTree(&l.seat, allLevels(l.tree), rwLevels)
	for _, tl := range s.o.TL[1:] {
		l.tw /= uint64(tl)
	}
	counter := func(p Rank) readers { return readers{l.at(p, rwCounter), uint64(s.o.TR)} }
	l.c = counter(l.tree.Counter(l.rank, s.o.TDC))
	for p := range l.tree.Counters(s.o.TDC) {
		l.dc = append(l.dc, counter(p))
	}
	l.state = apartRow[uint64](len(l.dc))
	return l
}

// Acquire implements Mutex. Whoever may barge tries here, without a function: memory has
// answered, and whether the window has failed meanwhile does not matter.
func (l *rmaRW) Acquire(ctx context.Context) error {
	was := l.turn
	switch {
	case was.mode() != ready, !l.steps, was >= l.asks, !l.endless(&ctx), l.failed.Load():
		return l.acquire(ctx)
	}
	for i := range l.dc {
		at := l.dc[i].at
		v := atomic.LoadUint64(at)
		if !vacant(v) || !atomic.CompareAndSwapUint64(at, v, shut(v)) {
			l.lost(i, v)
			return l.acquireLater(ctx)
		}
		l.state[i] = shut(v)
	}
	l.barged()
	return nil
}

// acquire is Acquire for who has something to see to before, has to go far, or may not
// barge.
func (l *rmaRW) acquire(ctx context.Context) error {
	if err := l.arrive(ctx); err != nil {
		return err
	}
	if l.steps && l.tryBar() {
		if err := l.decided(); err != nil {
			return err
		}
		l.barged()
		return nil
	}
	return l.acquireLater(ctx)
}

// acquireLater is the rest of Acquire for who could not have the lock at once.
func (l *rmaRW) acquireLater(ctx context.Context) error {
	if l.steps && l.bargeLater() {
		if err := l.decided(); err != nil {
			return err
		}
		l.barged()
		return nil
	}
	before := l.counts
	grant, root, alone, err := l.t.enter(ctx)
	if err != nil {
		return err
	}
	if alone {
		l.t.first(-1)
	}
	l.mine = false
	switch {
	case root && grant > modeChange:
		l.t.levels[0].run = grant - 1
	case root:
		if err := l.takeFromReaders(ctx); err != nil {
			l.recount(before)
			return l.fail(err)
		}
	}
	if l.steps && l.counts.Waited == before.Waited {
		count(&l.counts.Waited) // it did not come in at once
	}
	l.acquired(writing)
	return nil
}

// Release implements Mutex.
func (l *rmaRW) Release() {
	was := l.turn
	if was.mode() != alone || !l.direct {
		l.release()
		return
	}
	l.setTurn(was - alone + ready)
	for i := range l.dc {
		v := l.state[i]
		if !atomic.CompareAndSwapUint64(l.dc[i].at, v, v+admission(v)) {
			l.dc[i].letGo(l.dc[i].load())
		}
	}
}

// release is Release for who did not barge directly.
func (l *rmaRW) release() {
	if l.turn.mode() == alone {
		l.end(alone)
		l.letGo(len(l.dc))
		return
	}
	l.end(writing)
	if l.steps || !l.passOn() {
		l.passToReaders()
		l.t.leave(modeChange)
	}
}

// passOn gives the lock to another writer, with the counters as they are, and
// reports whether there was one that might have it.
func (l *rmaRW) passOn() bool {
	if l.t.pass() {
		return true
	}
	root := &l.t.levels[0]
	if run := l.t.run(0); run < l.tw && root.pass(root.successor(), run+1+climb) {
		l.t.climbBelow(0)
		return true
	}
	return false
}

// takeFromReaders bars all counters. All are announced to before the first is
// waited for, so that the waits overlap.
func (l *rmaRW) takeFromReaders(ctx context.Context) error {
	for i := range l.dc {
		l.state[i] = l.dc[i].want()
		if patient(l.state[i]) {
			ctx = context.Background()
		}
	}
	for i := range l.dc {
		v, err := l.dc[i].bar(ctx, l.state[i])
		l.state[i] = v
		if err != nil {
			for i := range l.dc {
				l.dc[i].giveUp(l.state[i])
			}
			l.t.leave(modeChange)
			return err
		}
	}
	l.mine = true
	return l.decided()
}

// passToReaders lets the readers in, also where another rank has barred.
func (l *rmaRW) passToReaders() {
	for i := range l.dc {
		c := &l.dc[i]
		if !l.mine {
			l.state[i] = c.load()
		}
		c.admit(l.state[i])
	}
}

// TryAcquire implements Tryer.
func (l *rmaRW) TryAcquire() bool {
	if l.begin(context.Background()) != nil {
		return false
	}
	if l.steps {
		if !l.tryBar() {
			return false
		}
		l.barged()
		return true
	}
	if !l.t.tryEnter() {
		return false
	}
	if l.mine = l.tryBar(); !l.mine {
		l.t.leave(modeChange)
		return false
	}
	l.acquired(writing)
	return true
}
