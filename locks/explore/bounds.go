package explore

import (
	"fmt"
	"strings"

	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/locks/lockstest"
	"github.com/orwl/go-orwl/net/topology"
)

// Bound is a comparison of a lock's fairness with its row of the table: how many rivals overtake a rank
// that waits.
type Bound struct {
	Name string
	Rivals
	Least, Most int
}

// Check plays the comparison. It returns how many rivals overtake, and an error if these are too many or
// too few: a bound is also a promise to the ranks that may come first.
func (b Bound) Check() (got int, err error) {
	got, err = b.Overtake()
	if err == nil && (got < b.Least || got > b.Most) {
		err = fmt.Errorf("unfair: %d rivals overtake a rank that waits, want %d to %d", got, b.Least, b.Most)
	}
	return got, err
}

// Bounds are the comparisons for the rows of the table that state a bound.
//
// A rank waits beside ranks that come as often as they can. Beside its neighbours and strangers each
// overtakes it once at most. If only strangers come, a FIFO lock lets each of them overtake it once, and
// the others as many as T_L or Batch says. The bounds between readers and writers of RMA-RW are cases of
// the conformance suite.
func Bounds(l Lock) []Bound {
	if l.Bare || l.Fixed != nil {
		return nil
	}
	switch name := l.Spec.Name; {
	case strings.HasPrefix(name, "P-"):
		return preferences(l, Write, Low, 1, func(o *locks.Options, n int) { o.High = n })
	case strings.HasPrefix(name, "C-RW-RP"):
		return preferences(l, Read, Write, 3, func(o *locks.Options, n int) { o.Patience = n })
	case strings.HasPrefix(name, "C-RW-WP"):
		return preferences(l, Write, Read, 4, func(o *locks.Options, n int) { o.Patience = n })
	case name == "ShiftLock":
		return append(rowBounds(l), preferences(l, Write, Read, 0, func(o *locks.Options, n int) { o.Batch = n })...)
	case strings.HasPrefix(name, "C-RW-"):
		return nil
	}
	heads := headBounds(l)
	if strings.Contains(l.Spec.Fairness, "none") {
		return heads
	}
	return append(rowBounds(l), heads...)
}

// rowBounds are the comparisons with what a row says.
func rowBounds(l Lock) (all []Bound) {
	const strangers, ranks = 4, 8
	tree := machine("node:2 core:4")
	of := func(name string, n, least, most int, apart bool) Bound {
		o := lockstest.Thresholds{TL: n, TR: n, TW: n}.Options(l.Spec, tree)
		o.Operations, o.Hysteresis = true, 0
		return Bound{name, Rivals{Lock: l, Tree: tree, Options: o, Turns: 8, Section: 1 << 17, Apart: apart}, least, most}
	}
	for _, n := range []int{2, 9} {
		least, most := n-1, n
		switch {
		case l.Spec.FIFO, l.Spec.Name == "HCLH", l.Spec.Name == "ShiftLock": // no option, or one for readers
			least, most = strangers-1, strangers
		case l.Spec.Name == "Reciprocating": // no option; some of them have come before
			least, most = 1, strangers*l.Spec.Overtakes
		case l.Spec.Name == "MCSCR": // each of the others may be parked before
			most = strangers*n + strangers
		case l.Spec.Name == "CNA": // those that are in the queue before the rank, too
			most = max(strangers, n)
		}
		all = append(all, of(fmt.Sprint("strangers/", n), n, least, most, true))
	}
	return append(all, of("everybody", 2, 0, (ranks-1)*max(1, l.Spec.Overtakes), false))
}

// preferences are comparisons for a lock that prefers the rivals. With a small bound few of them
// overtake the rank, and about as many as the bound says. With a large one all do. So many more than the
// bound may overtake: those on their way.
func preferences(l Lock, rival, waiter Mode, onTheirWay int, bound func(o *locks.Options, n int)) (all []Bound) {
	const turns, rivals, none = 40, 3, 1<<20 - 2
	for _, way := range Ways(l.Spec) {
		for _, n := range []int{1, 2, 5, 10, none} {
			b := Bound{fmt.Sprintf("preferred/%d/%s", n, way), Rivals{
				Lock: l, Tree: topology.Flat(rivals + 1), Options: locks.Options{Operations: way == ByOperations},
				Turns: turns, Section: 1 << 17, Rival: rival, Waiter: waiter,
			}, n - 2, n + onTheirWay}
			if n == none {
				b.Name = "preferred/unbounded/" + string(way)
				b.Least = rivals * (turns - 4)
			}
			bound(&b.Options, n)
			all = append(all, b)
		}
	}
	return all
}

// headBounds are comparisons for a queue behind a spin lock: a rank steals again and again while the head
// waits. The head of Fissile has the lock after as many looks as Options.Patience says, and that of the others at once.
func headBounds(l Lock) (all []Bound) {
	slow := locks.Backoff{Min: 1 << 14, Max: 1 << 30} // looks after 1, 3, 7 and 15 sections, about
	for _, c := range []struct {
		lock        string
		options     locks.Options
		least, most int
	}{
		{"Fissile", locks.Options{Patience: 1, Backoff: slow}, 1, 3},
		{"Fissile", locks.Options{Patience: 4, Backoff: slow}, 2, 20},
		{"SHFL", locks.Options{}, 0, 1},
		{"SHFL-TAS", locks.Options{}, 0, 1},
		{"TTS-MCS", locks.Options{}, 0, 1},
		{"TAS-MCS", locks.Options{}, 0, 1},
	} {
		if c.lock != l.Spec.Name {
			continue
		}
		for _, way := range Ways(l.Spec) {
			c.options.Operations = way == ByOperations
			all = append(all, Bound{fmt.Sprintf("head/%d/%s", c.options.Patience, way), Rivals{
				Lock: l, Tree: topology.Flat(2), Options: c.options, Turns: 60, Section: 1 << 14,
			}, c.least, c.most})
		}
	}
	return all
}
