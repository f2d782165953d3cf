package locks

import (
	"context"

	"github.com/orwl/go-orwl/net/rma"
)

// rmaRWA is RMA-RW-A: RMA-RW whose four thresholds follow the mix of readers and writers, as
// Schmid, Besta and Hoefler propose (HPDC'16, §8). Options.TDC, TL, TR and TW are where each
// threshold begins, and its bound. At run time counters are only further apart, and the other
// thresholds only smaller, so that the lock keeps RMA-RW's promises.
//
// # The counters
//
// At spread 0 every counter is open. At each further spread every stride-th one is open, and the
// others are closed. Counter 0 is always open. On a machine of one level with eight counters:
//
//	spread 0   0 1 2 3 4 5 6 7     stride 1
//	spread 1   0   2   4   6       stride 2
//	spread 2   0       4           stride 4
//	spread 3   0                   stride 8
//
// A reader that finds its counter closed takes back its arrival, and goes to the next spread. A
// reader finds at an open counter which spread it is now. It may then go back to a nearer
// counter. A writer finds the spread at counter 0, and bars only what is open.
//
// # The rules
//
// An epoch is what happens from one bar of the counters to the next. The writer that lets the
// readers in knows from the counters how many readers have been inside, and how many wait. It
// changes the words with the same addition that lets the readers in:
//
//	spread   one step further if there were few readers for each counter that is open, and one
//	         back if there were many for each one that would be open. So many epochs in a row as
//	         Options.Hysteresis says have to agree: see mix.vote.
//	T_R      of each counter: an eighth if fewer than a 32nd of T_R readers came, eight times as
//	         much if half of T_R came: see shift.
//	pace     one step slower, which is a fourth of T_W and half of T_L,i, if T_W has ended the
//	         turns of writers and they were more than twice as many as the readers that wait; one
//	         step faster if T_W has not ended them, or if more than twice as many readers wait:
//	         see mix.decide.
//
// # Why it is safe
//
// A change is made by a rank that holds the lock with every open counter barred, and is in the
// words before the rank leaves the root. So every rank that wants to bar finds the spread at
// counter 0 as it is. A closed counter counts no reader as inside. The readers that it still
// counts have been kept out. Each takes back its arrival, by a CAS that fails if the counter is
// open again; then the reader is counted, the next writer waits for it, and it is in. It departs
// before the counter can be closed again. T_R is part of the word in which a reader finds its
// ticket. T_W and T_L,i are compared by the rank that lets go, so that any value is safe.
//
// Invariant, memory order: RMA-RW's, of the counters that are open.
//
// Fairness: RMA-RW's, with the thresholds of Options as bounds.
//
// Cost: RMA-RW's, with the counters that are open. A reader pays three more operations for each
// counter that it finds closed, and a writer one for each counter that it opens.
type rmaRWA struct {
	rmaRW
	all    []counter // dc are those that are open
	near   int       // the rank's counter at spread 0
	spread uint64    // at which it reads

	// The thresholds that it knows as a writer.
	followed uint64      // spread and pace
	strides  []int       // of each spread
	open     [][]counter // at each spread

	// For each spread: so few readers of an epoch vote for the next one, and so many for the one
	// before.
	few, many []uint64
	leastTR   uint64
}

// The spare bits of a counter. Only counter 0 has votes and a pace.
//
//	51 .. 50    49 .. 47   46 .. 43   42 .. 41   40
//	T_R shift │ pace     │ votes    │ spread   │ closed
const (
	spreads, votes, paces, shifts = 4, 16, 8, 4

	closed    = spareOne
	spreadOne = closed << 1
	voteOne   = spreadOne * spreads
	paceOne   = voteOne * votes
	shiftOne  = paceOne * paces

	tunedMask = abortOne - spareOne
	followed  = (spreads-1)*spreadOne | (paces-1)*paceOne

	shiftStep = 3 // a step of T_R is a factor of eight
)

func newRMARWA(lock *Lock, w rma.Window) Mutex {
	l := padded(rmaRWA{})
	l.init(lock, w)
	l.tree = newTree(&l.side, allLevels(l.topo), rwLevels)
	l.initCounters()
	l.all, l.leastTR = l.dc, leastTR
	l.strides = l.stridesOf()
	l.open = [][]counter{l.all}
	for _, stride := range l.strides[1:] {
		var open []counter
		for i := 0; i < len(l.all); i += stride {
			open = append(open, l.all[i])
		}
		l.open = append(l.open, open)
	}
	l.few, l.many = make([]uint64, len(l.strides)), make([]uint64, len(l.strides))
	for k := 1; k < len(l.strides); k++ {
		l.few[k-1] = l.weight(k-1) * fewReaders * l.opened(k-1)
		l.many[k] = l.weight(k-1) * manyReaders * l.opened(k-1)
	}
	for l.all[l.near].Target != l.own.Target {
		l.near++
	}
	return l
}

// stridesOf are the strides of all spreads: every counter, one in each element of the finest
// level, one in several elements, one. A machine of one level has two spreads between. Each is a
// multiple of the one before.
func (l *rmaRWA) stridesOf() []int {
	counters, near := len(l.all), 1
	strides, rest := []int{1}, spreads-2
	if l.topo.Levels() > 1 {
		rest--
		if near = l.perElement(); near > 1 {
			strides = append(strides, near)
		}
	}
	factor := 1
	for power(factor, rest+1)*near < counters {
		factor++
	}
	for i := 1; i <= rest+1; i++ {
		if stride := near * power(factor, i); stride > strides[len(strides)-1] && strides[len(strides)-1] < counters {
			strides = append(strides, stride)
		}
	}
	return strides
}

// perElement is how many counters an element of the finest level has.
func (l *rmaRWA) perElement() int {
	_, members := l.topo.Members(l.topo.Levels(), 0)
	return min(max(1, members/l.o.TDC), len(l.all))
}

func power(base, exponent int) int {
	p := 1
	for range exponent {
		p *= base
	}
	return p
}

// follow sets the thresholds of a writer that found counter 0 as v.
func (l *rmaRWA) follow(v uint64) {
	if v&followed == l.followed {
		return
	}
	l.followed = v & followed
	l.dc = l.open[v/spreadOne%spreads]
	pace, below := v/paceOne%paces, uint64(1)
	for k := 1; k < len(l.levels); k++ {
		l.levels[k].tl = max(1, uint64(l.o.TL[k])>>pace)
		below *= l.levels[k].tl
	}
	l.tw = max(1, uint64(l.o.TW)>>(2*pace)/below)
}

// Acquire implements Mutex.
func (l *rmaRWA) Acquire(ctx context.Context) error {
	if err := l.arrive(ctx); err != nil {
		return err
	}
	e, err := l.tree.enter(ctx)
	if err == nil && l.modeChanged(e) {
		err = l.setCountersToWrite(ctx)
	}
	if err == nil {
		l.came(writing, e)
	}
	return err
}

// setCountersToWrite is rmaRW's for the counters that are open. The first one says which.
func (l *rmaRWA) setCountersToWrite(ctx context.Context) error {
	l.barred[0] = l.dc[0].want()
	l.follow(l.barred[0])
	for i := 1; i < len(l.dc); i++ {
		l.barred[i] = l.dc[i].want()
	}
	for i := range l.dc {
		l.setTR(&l.dc[i], l.barred[i])
	}
	return l.barCounters(ctx)
}

// setTR gives the rank's view of a counter that is v the T_R that v says. It writes only what is new: other ranks
// may have their views on the same line of memory.
func (l *rmaRWA) setTR(c *counter, v uint64) {
	if tr := tunedTR(uint64(l.o.TR), v); c.tr != tr {
		c.tr = tr
	}
}

// tunedTR is T_R of a counter that is v, where tr is the bound.
func tunedTR(tr, v uint64) uint64 {
	shift := v / shiftOne % shifts * shiftStep
	return (tr + 1<<shift - 1) >> shift
}

// TryAcquire implements Tryer.
func (l *rmaRWA) TryAcquire() bool {
	if l.begin(forever()) != nil || !l.tryEnter() {
		return false
	}
	v := l.dc[0].Load()
	l.follow(v)
	return l.tried(writing, l.holdOrLeave(l.tryBarFrom(v)))
}

// Release implements Mutex.
func (l *rmaRWA) Release() {
	if l.end(writing) && !l.passOn() {
		l.letReadersIn()
	}
}

// letReadersIn gives the lock to the readers, with the thresholds that the epoch asks for. On a window
// that fails meanwhile counter 0 seems to be zero: spread 0 and no votes, which is a valid tuning, and
// what the rank adds to the counters has no effect.
func (l *rmaRWA) letReadersIn() {
	if !l.mine {
		l.barred[0] = l.dc[0].Load()
		l.follow(l.barred[0])
		for i := 1; i < len(l.dc); i++ {
			l.barred[i] = l.dc[i].Load()
		}
	}
	v := l.barred[0]
	to, vote, pace := l.observe().decide(v, uint64(l.o.Hysteresis))
	here, there := l.strides[l.followed/spreadOne%spreads], l.strides[to]
	for i := 0; i < len(l.all); i += min(here, there) {
		c := &l.all[i]
		switch {
		case i%here != 0:
			c.Add(to*spreadOne - closed)
		case i%there != 0:
			l.admit(c, l.barred[i/here], closed)
		case i == 0:
			l.admit(c, v, to*spreadOne|vote*voteOne|pace*paceOne)
		default:
			l.admit(c, l.barred[i/here], to*spreadOne)
		}
	}
	l.follow(to*spreadOne | pace*paceOne)
	l.tree.leave(modeChange)
}

// observe is the epoch that the writer ends.
func (l *rmaRWA) observe() (m mix) {
	turns := l.levels[0].run // the run that passOn has found
	m.writers = turns
	if finest := len(l.levels) - 1; finest > 0 {
		m.writers *= l.levels[finest].run
	}
	m.ended = turns >= l.tw && l.levels[0].behind.Load() != 0
	spread := l.followed / spreadOne % spreads
	m.few, m.many = l.few[spread], l.many[spread]
	for _, v := range l.barred[:len(l.dc)] {
		m.readers += departed(v)
		m.waiting += arrived(v) - departed(v)
	}
	return m
}

// opened is how many counters are open at a spread.
func (l *rmaRWA) opened(spread int) uint64 {
	return uint64(len(l.open[spread]))
}

// weight is how many times more readers it takes to pay for a counter at a spread than for one in
// another element.
func (l *rmaRWA) weight(spread int) uint64 {
	switch {
	case l.topo.Levels() == 1:
		return flatWeight
	case l.strides[spread] < l.perElement():
		return nearWeight
	}
	return 1
}

// admit is counter's, with other thresholds.
func (l *rmaRWA) admit(c *counter, v, next uint64) {
	c.Add(admission(v) - v&tunedMask + next + shift(v, uint64(l.o.TR), l.leastTR)*shiftOne)
	c.wake()
}

// withdraw takes back an arrival at a closed counter. It reports false if the counter is open
// again, and the reader is in, or the window has failed.
func (c *counter) withdraw() bool {
	for {
		v := c.Load()
		if v&closed == 0 || c.m.broken() {
			return false
		}
		if c.CompareAndSwap(v, v-arriveOne) {
			return true
		}
	}
}

// seat is the counter where the rank reads at its spread.
func (l *rmaRWA) seat() { l.own = &l.all[l.near-l.near%l.strides[l.spread]] }

// arriveAtSeat is counter's arrive at the rank's seat.
func (l *rmaRWA) arriveAtSeat() (found uint64) {
	l.seat()
	found = l.own.Add(arriveOne)
	l.setTR(l.own, found)
	l.own.beginAnew(found)
	return found
}

// AcquireRead implements RWMutex.
func (l *rmaRWA) AcquireRead(ctx context.Context) error {
	if err := l.begin(ctx); err != nil {
		return err
	}
	waited := false
	for {
		found := l.arriveAtSeat()
		if err := l.decided(); err != nil {
			return err
		}
		if found&closed == 0 && l.own.kept(found) {
			waited = true
			var err error
			if found, err = l.own.stay(ctx, found); err != nil {
				return l.fail(err)
			}
		}
		if found&closed == 0 {
			l.spread = found / spreadOne % spreads
			break
		}
		if !l.own.withdraw() {
			if err := l.decided(); err != nil {
				return err
			}
			break
		}
		l.spread++
	}
	l.acquired(reading, waited)
	return nil
}

// TryAcquireRead implements ReadTryer.
func (l *rmaRWA) TryAcquireRead() bool {
	if l.begin(forever()) != nil {
		return false
	}
	for {
		l.seat()
		v := l.own.Load()
		l.setTR(l.own, v)
		switch {
		case v&closed != 0:
			l.spread++
		case l.own.kept(v) || l.broken():
			return false
		case l.own.arriveAt(v):
			return l.tried(reading, true)
		}
	}
}

// mix is what a writer of RMA-RW-A knows of an epoch.
type mix struct {
	readers, waiting uint64 // readers that were inside, and that wait now
	writers          uint64 // about so many had the lock in a row,
	ended            bool   // and T_W has kept out the next

	// So few readers vote for counters that are further apart, and so many for nearer ones. Zero:
	// there is no such spread.
	few, many uint64
}

// decide is the next spread, votes and pace, where counter 0 is v.
func (m mix) decide(v, hysteresis uint64) (spread, vote, pace uint64) {
	spread, pace = v/spreadOne%spreads, v/paceOne%paces
	switch vote = m.vote(v / voteOne % votes); vote {
	case hysteresis:
		spread, vote = spread+1, 0
	case votes - hysteresis:
		spread, vote = spread-1, 0
	}
	switch {
	case m.ended && m.waiting > 0 && m.writers > 2*m.waiting:
		pace = min(pace+1, paces-1)
	case !m.ended || m.waiting > 2*m.writers || m.waiting == 0:
		pace = max(pace, 1) - 1
	}
	return spread, vote, pace
}

// vote is the sum of the epochs' votes: for counters that are further apart, less those for nearer
// ones. It is a number modulo votes. An epoch that has no opinion brings it nearer to zero.
func (m mix) vote(sum uint64) uint64 {
	switch {
	case m.few > 0 && m.readers <= m.few:
		sum++
	case m.many > 0 && m.readers >= m.many:
		sum--
	case sum == 0:
	case sum < votes/2:
		sum--
	default:
		sum++
	}
	return sum % votes
}

// These numbers weigh the cost of a counter against its use, in readers of an epoch. A writer pays
// three operations in a row for each counter, while all others wait. A reader saves the way to
// another element, and the waits of readers at the same counter.
// In virtual time these numbers make 1.18, 1.06 and 1.17 of the best fixed setting for a changing mix
// (Cray and InfiniBand, 4 nodes of 4 ranks; Cray, 4 nodes of 8), and 1 and 2 make 1.17, 1.04 and 1.19.
const (
	fewReaders  = 2 // for each counter that is open
	manyReaders = 3 // for each counter that would be open

	// So many times more readers pay for a counter inside an element, which saves only waits, and
	// on a machine of one level, where all counters are equally far.
	nearWeight = 16
	flatWeight = 6
)

// leastTR is the least T_R: readers that count anew hide how many have come.
const leastTR = 16

// shift is by how much T_R of a counter is divided in the next epoch, which was v in the last. tr is
// the bound.
func shift(v, tr, least uint64) uint64 {
	shift, readers, limit := v/shiftOne%shifts, departed(v), tunedTR(tr, v)
	switch {
	case 2*readers >= limit && shift > 0:
		return shift - 1
	case 32*readers < limit && limit >= least<<shiftStep && shift < shifts-1:
		return shift + 1
	}
	return shift
}
