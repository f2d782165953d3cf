package locks

import (
	"context"
	"strings"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// tlp is TLP, the two-level priority lock P-X-Y of Amer et al., TOPC'19, §4.1, figure 5: a lock
// X for the ranks of high priority, a lock Y for ranks of low priority, and a ticket lock, the
// filter, for which the holder of X and the holder of Y compete. The holder of the filter
// holds the lock. X and Y are any locks of the family. X has to know its waiters.
//
//	high  ─▶ X ─▶ filter ─▶ holds         X is passed on together with the filter
//	low   ─▶ Y ─────┘
//
// A holder of high priority that is not alone in X keeps the filter for its successor. The word
// straight (go_straight) tells it. In the paper it is a flag; here it counts the acquisitions
// that have gone straight, so that Options.High can bound them.
//
//	straight, at home      0: the next holder of X takes the filter
//	                       n: it has the filter; n acquisitions of high priority in a row
//
// The paper's nowaiters_high_p may say that no rank waits though one does; it must never say
// that one waits though none does: then no rank would let go of the filter. Cohort.Alone is
// that check. It holds as long as waiters stay, so a rank does not give up in X.
//
// The paper has no bound: ranks of low priority wait for as long as others come to X. With
// Options.High the filter goes to the holder of Y after so many acquisitions. It is the next,
// because the filter is fair, and two ranks at most compete for it.
//
// Invariant: only the holder of X reads and writes straight. If it is not zero, a holder of X,
// or the rank that X was passed to, has the filter.
//
// Memory order: side.end comes before the filter or X is passed on.
//
// Fairness: X's among ranks of high priority, Y's among ranks of low priority. The rank that
// has Y waits for at most Options.High acquisitions of high priority; without that, for any
// number.
//
// Cost, away from home: X's, and the filter's, which is TKT's, and a Get and two Puts of
// straight. A rank that goes straight: X's, and a Get; with Options.High a Put.
//
// Line numbers refer to figure 5.
type tlp struct {
	side
	high, low nested
	straight  word
	filter    tickets
	run       uint64 // the value of straight while the rank holds X
	byLow     bool   // the rank holds the lock with low priority
}

// The words of TLP at home. X's and Y's follow.
const (
	tlpStraight = ticketWords
	tlpHome     = tlpStraight + 1
)

func newTLP(x, y Spec) func(*Lock, rma.Window) Mutex {
	return func(lock *Lock, w rma.Window) Mutex {
		l := padded(tlp{})
		l.init(lock, w)
		l.filter, l.straight = newTickets(&l.side), l.atHome(tlpStraight)
		above := x.Words(l.topo, nestedOptions(lock.o).withDefaults(lock.o.Name, l.topo))
		at := base{l.base.home + tlpHome, l.base.rank}
		l.high = newNested(lock, x, at, w)
		l.low = newNested(lock, y, base{at.home + rma.Disp(above.Home), at.rank + rma.Disp(above.Rank)}, w)
		return l
	}
}

func wordsOfTLP(x, y Spec) func(*topology.Tree, Options) Words {
	return func(t *topology.Tree, o Options) Words {
		o = nestedOptions(o).withDefaults(o.Name, t)
		a, b := x.Words(t, o), y.Words(t, o)
		return Words{Home: tlpHome + a.Home + b.Home, Rank: a.Rank + b.Rank}
	}
}

// Acquire implements Mutex: l. 12-18.
func (l *tlp) Acquire(ctx context.Context) error {
	if err := l.arrive(ctx); err != nil {
		return err
	}
	waited, err := l.high.acquire()
	if err != nil {
		return l.fail(err)
	}
	run := l.straight.Load()
	if run == 0 { // l. 14-15
		grant, err := l.filter.enter(forever())
		if err != nil {
			return err
		}
		waited = waited || grant != none
	}
	l.goesStraight(run, waited)
	return nil
}

// goesStraight is the end of an acquire: l. 16.
func (l *tlp) goesStraight(run uint64, waited bool) {
	l.run = run + 1
	if run == 0 || l.o.High != 0 {
		l.straight.Store(l.run)
	}
	l.byLow = false
	l.acquired(writing, waited)
}

// AcquireLow implements PriorityMutex: l. 28-32.
func (l *tlp) AcquireLow(ctx context.Context) error {
	if err := l.arrive(ctx); err != nil {
		return err
	}
	waited, err := l.low.acquire()
	if err != nil {
		return l.fail(err)
	}
	grant, err := l.filter.enter(forever())
	if err != nil {
		return err
	}
	l.byLow = true
	l.acquired(writing, waited || grant != none)
	return nil
}

// TryAcquire implements Tryer, with high priority.
func (l *tlp) TryAcquire() bool {
	if l.begin(forever()) != nil || !l.high.tryAcquire() {
		return false
	}
	run := l.straight.Load()
	if run == 0 && !l.filter.tryEnter() {
		l.high.Release()
		return false
	}
	l.goesStraight(run, false)
	return true
}

// Release implements Mutex, for either priority.
func (l *tlp) Release() {
	switch {
	case !l.end(writing):
	case l.byLow: // l. 34-37
		l.filter.leave(granted)
		l.low.Release()
	default: // l. 20-26
		if l.high.alone() || l.o.High != 0 && l.run >= uint64(l.o.High) {
			l.straight.Store(0)
			l.filter.leave(granted)
		}
		l.high.Release()
	}
}

// tlps are the rows of the table: some of the locks P-X-Y. ByName makes any other.
func tlps(family []Spec) (rows []Spec) {
	for _, name := range []string{"P-TKT-TKT", "P-MCS-MCS", "P-HMCS-MCS"} {
		if row, ok := tlpByName(family, name); ok {
			rows = append(rows, row)
		}
	}
	return rows
}

// tlpByName is the lock P-X-Y over two locks of a family.
func tlpByName(family []Spec, name string) (Spec, bool) {
	both, ok := strings.CutPrefix(name, "P-")
	for i := 0; ok && i < len(both); i++ {
		if both[i] != '-' {
			continue
		}
		x, first := find(family, both[:i])
		y, second := find(family, both[i+1:])
		if first && second && x.knowsWaiters() {
			return tlpOver(x, y), true
		}
	}
	return Spec{}, false
}

func tlpOver(x, y Spec) Spec {
	alone, known := x.costOfAlone()
	filter := alone.plus(Operations{Atomics: 2, Gets: 2, Puts: 2})
	contended := x.Cost.Contended.plus(known.plus(Operations{Gets: 1}))
	if x.Name == "Reciprocating" || x.Name == "MCSCR" { // the rank behind goes first, so that none is left
		contended = contended.plus(Operations{Atomics: 1, Puts: 1})
	}
	return Spec{
		Name: "P-" + x.Name + "-" + y.Name, Kind: Priority, Paper: "TOPC19 §4",
		About:    "two priorities: " + x.Name + " for high, " + y.Name + " for low, and a ticket lock between them",
		Fairness: "High of high priority in a row, or any number", Words: wordsOfTLP(x, y), Options: []string{"High"}, at: newTLP(x, y),
		Cost: Cost{Uncontended: x.Cost.Uncontended.plus(filter), Contended: contended},
	}
}
