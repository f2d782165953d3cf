package locks

import (
	"context"
	"slices"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// rmaRW is RMA-RW, the topology-aware reader-writer lock of Schmid, Besta and Hoefler,
// HPDC'16, §3: a distributed counter (DC) for readers, at every T_DC-th rank, and a tree of
// queues (DT) for writers, whose root passes the lock between writers and readers.
//
//	writers   tree of queues ─▶ root ─▶ bars every counter ─▶ holds
//	readers   own counter ─▶ hold
//
// See tree (hmcs.go), and counter (rmarw_counter.go), which says what is corrected of the
// printed protocol. Options.StepBack is in rmarw_stepback.go. A grant at the root is the
// number of turns at the root in a row, plus one: writers keep the counters barred.
// modeChange (MODE_CHANGE) says that the readers were let in, and that the successor has to
// take the lock from them.
//
// Invariant: while a writer holds the lock every counter is barred and no reader is inside.
// Only the holder of the root, or a rank that was passed the lock below it, touches a
// counter's barred, wanted and epoch; or a barger that has found the bits unset.
//
// Fairness: writers as in hmcs. A waiting writer whose turn it is at the root is overtaken
// by at most T_R readers at each counter, besides those that others keep in; a waiting
// reader by at most T_W writers. §3.2.3 defines T_W as the product of the T_L,i but listing
// 8 compares it with the number of turns at the root, and a turn may be
// T_L,2 * ... * T_L,N writers long. Here T_W bounds writers, so that the root turns over
// after T_W / (T_L,2 * ... * T_L,N) turns.
//
// Memory order: side.end comes before a reader departs and before a writer lets other
// ranks in.
//
// Cost, if no rank interferes: a reader two FetchOps, at its counter. A writer hmcs's
// cost, and for every counter three FetchOps: to announce itself, to bar, to let go.
//
// Line numbers refer to listings 7 (Acquire), 8 (Release), 9 and 10 (readers).
type rmaRW struct {
	side
	tree
	dc       []counter // those that a writer bars: all counters
	own      *counter  // the rank's
	tw       uint64    // turns at the root in a row
	barred   []uint64  // the value of each counter when the rank barred it, and
	mine     bool      // it was this rank that barred them
	stepBack           // Options.StepBack
}

// The words of RMA-RW at each rank: its counter, alone on its cache line, and its levels.
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
func newRMARW(lock *Lock, w rma.Window) Mutex {
	l := padded(rmaRW{})
	l.init(lock, w)
	l.tree = newTree(&l.side, allLevels(l.topo), rwLevels)
	l.initCounters()
	return l
}

// initCounters makes what the lock has besides the tree.
func (l *rmaRW) initCounters() {
	l.tw, l.allowed = uint64(l.o.TW), l.o.StepBack
	for _, tl := range l.o.TL[1:] {
		l.tw /= uint64(tl)
	}
	for p := range l.topo.Counters(l.o.TDC) {
		l.dc = append(l.dc, counter{l.at(p, rwCounter), uint64(l.o.TR)})
	}
	for i, mine := 0, l.topo.Counter(l.rank, l.o.TDC); i < len(l.dc); i++ {
		if l.dc[i].Target == mine {
			l.own = &l.dc[i]
		}
	}
	l.barred = make([]uint64, len(l.dc), len(l.dc)+line/8)
}

// Acquire implements Mutex.
func (l *rmaRW) Acquire(ctx context.Context) error {
	if err := l.arrive(ctx); err != nil {
		return err
	}
	if l.barge() {
		return nil
	}
	e, err := l.enter(ctx)
	if err != nil {
		return err
	}
	e.waited = e.waited || l.allowed // it did not come in at once
	l.came(writing, e)
	return nil
}

// enter enters the tree, and bars the counters if the readers have the lock.
func (l *rmaRW) enter(ctx context.Context) (entry, error) {
	e, err := l.tree.enter(ctx)         // l. 2-13
	if err == nil && l.modeChanged(e) { // l. 14-22
		err = l.setCountersToWrite(ctx)
	}
	return e, err
}

// modeChanged reports whether a rank that came into the tree has to take the lock from the
// readers.
func (l *rmaRW) modeChanged(e entry) bool {
	l.mine = false
	if e.root && e.grant > modeChange {
		l.levels[0].run = e.grant - 1
		return false
	}
	return e.root
}

// setCountersToWrite bars all counters (set_counters_to_WRITE, listing 6). The rank
// announces itself to all before it waits for the first, so that the waits overlap.
func (l *rmaRW) setCountersToWrite(ctx context.Context) error {
	for i := range l.dc {
		l.barred[i] = l.dc[i].want()
	}
	return l.barCounters(ctx)
}

// barCounters bars the counters, which know that the rank comes.
func (l *rmaRW) barCounters(ctx context.Context) error {
	if slices.ContainsFunc(l.barred[:len(l.dc)], mustStay) {
		ctx = forever()
	}
	for i := range l.dc {
		v, err := l.dc[i].bar(ctx, l.barred[i])
		l.barred[i] = v
		if err != nil {
			if !l.broken() {
				for i := range l.dc {
					l.dc[i].giveUp(l.barred[i])
				}
				l.tree.leave(modeChange)
			}
			return l.fail(err)
		}
	}
	l.mine = true
	return l.decided()
}

// Release implements Mutex.
func (l *rmaRW) Release() {
	switch {
	case !l.end(writing):
	case l.barged:
		l.letGo(len(l.dc))
	case l.allowed || !l.passOn():
		l.letReadersIn()
	}
}

// letReadersIn gives the lock to the readers: l. 6-23.
func (l *rmaRW) letReadersIn() {
	l.resetCounters()
	l.tree.leave(modeChange)
}

// passOn gives the lock to another writer, with the counters as they are, and reports
// whether there was one that might have it: l. 3-5, 9, 23.
func (l *rmaRW) passOn() bool {
	if l.tree.pass() {
		return true
	}
	root := &l.levels[0]
	if turns := l.run(0); turns < l.tw && root.pass(root.behind.Load(), turns+1+climb) {
		l.climbBelow(0)
		return true
	}
	return false
}

// resetCounters lets the readers in (reset_counters, listing 6), also where another rank
// has barred: l. 6, 12.
func (l *rmaRW) resetCounters() {
	for i := range l.dc {
		c := &l.dc[i]
		if !l.mine {
			l.barred[i] = c.Load()
		}
		c.admit(l.barred[i])
	}
}

// TryAcquire implements Tryer.
func (l *rmaRW) TryAcquire() bool {
	switch {
	case l.begin(forever()) != nil:
		return false
	case l.allowed:
		return l.tryBarge()
	case !l.tryEnter():
		return false
	}
	return l.tried(writing, l.holdOrLeave(l.tryBar()))
}

// tryBar bars all counters, or none: it takes the lock if no rank has it and the head has
// not announced itself.
func (l *rmaRW) tryBar() bool { return l.tryBarFrom(l.dc[0].Load()) }

// tryBarFrom is tryBar for a rank that has found the first counter as v.
func (l *rmaRW) tryBarFrom(v uint64) bool {
	for i := range l.dc {
		if i > 0 {
			v = l.dc[i].Load()
		}
		if !vacant(v) || l.broken() || !l.dc[i].CompareAndSwap(v, shut(v)) {
			l.met = v
			l.letGo(i)
			return false
		}
		l.barred[i] = shut(v)
	}
	return !l.broken() // if it is, the counters stay barred
}

// letGo lets go of the first n counters, which the barger has barred.
func (l *rmaRW) letGo(n int) {
	l.barged = false
	for i := range n {
		if c, v := &l.dc[i], l.barred[i]; !c.CompareAndSwap(v, v+admission(v)) {
			c.letGo(c.Load())
		}
	}
}

// holdOrLeave ends a try of a rank that is in the tree: it holds the lock if it has barred
// the counters, and leaves the tree otherwise.
func (l *rmaRW) holdOrLeave(barred bool) bool {
	if l.mine = barred; !barred {
		l.tree.leave(modeChange)
	}
	return barred
}

// AcquireRead implements RWMutex.
func (l *rmaRW) AcquireRead(ctx context.Context) error {
	if l.hindered() || ctx.Err() != nil {
		if err := l.begin(ctx); err != nil {
			return err
		}
	}
	found := l.own.Add(arriveOne) // l. 12
	l.own.beginAnew(found)        // l. 15-22
	if err := l.decided(); err != nil {
		return err
	}
	kept := l.own.kept(found)
	if kept { // l. 13-14, 5-9
		if err := l.waitToRead(ctx, found); err != nil {
			return l.fail(err)
		}
	}
	l.acquired(reading, kept)
	return nil
}

// waitToRead is for a reader that was kept out. It stays, perhaps after it has stepped back
// and come again.
func (l *rmaRW) waitToRead(ctx context.Context, found uint64) error {
	if l.allowed && l.own.stepBack(found, away) {
		if err := l.own.change(ctx, found); err != nil {
			return err
		}
		found = l.own.Add(arriveOne)
		if l.own.beginAnew(found); !l.own.kept(found) {
			return l.decided()
		}
	}
	_, err := l.own.stay(ctx, found)
	return err
}

// ReleaseRead implements RWMutex.
func (l *rmaRW) ReleaseRead() {
	if l.complete(); (l.ends(reading) || l.end(reading)) && l.own.Add(departOne)&(wanted|barred) != 0 { // listing 10
		l.own.wake() // a writer that waits for it has set a bit
	}
}

// TryAcquireRead implements ReadTryer.
func (l *rmaRW) TryAcquireRead() bool {
	return l.begin(forever()) == nil && l.tried(reading, l.own.tryArrive())
}
