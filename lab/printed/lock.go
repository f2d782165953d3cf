package printed

import (
	"fmt"
	"sync"

	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// Lock is a lock of this package. Spec is its row, as the table of package locks would have it.
type Lock struct {
	locks.Spec
	// New allocates the lock. It returns a function that makes a rank's side.
	New func(f rma.Fabric, o locks.Options) (func(w rma.Window) locks.Mutex, error)
}

// All are the locks of this package.
func All() []Lock {
	// A queue has a tail and a node for each rank; a Hemlock has a tail and a word for each rank,
	// which all locks of a set share.
	queue, hemlock := locks.Words{Home: 1, Rank: 2}, locks.Words{Home: 1, Rank: 1, Shared: true}
	costOfHemlock := locks.Cost{Uncontended: locks.Operations{Atomics: 2}, Contended: locks.Operations{Atomics: 2, Puts: 1, Gets: 1}}
	return []Lock{
		row("D-MCS-Acc", "Uffmann22 §4.3.1", "D-MCS that hands over by Accumulate", queue,
			locks.Cost{Uncontended: locks.Operations{Atomics: 2}, Contended: locks.Operations{Atomics: 1, Puts: 2}}, newDMCS),
		row("dash::Mutex-FAO", "Uffmann22 §4.3.2", "dash::Mutex as DASH has it: a rank makes itself known by a FetchOp", queue,
			locks.Cost{Uncontended: locks.Operations{Atomics: 2}, Contended: locks.Operations{Atomics: 3, Puts: 1}}, newDash),
		row("HEM-printed", "Uffmann22 §5.4.4", "HEM as printed: a release waits until the successor has cleared the word", hemlock,
			costOfHemlock, newHemlock(false)),
		row("HEM-Overlap", "Uffmann22 §5.4.4", "the printed Overlap: the rank waits for that before it comes again", hemlock,
			costOfHemlock, newHemlock(true)),
		row("CLH-printed", "Uffmann22 §5.3.1", "CLH that marks its node before it lines up", locks.Words{Home: 2, Rank: 1},
			locks.Cost{Uncontended: locks.Operations{Atomics: 1, Puts: 2, Gets: 1}, Contended: locks.Operations{Atomics: 1, Puts: 2, Gets: 2}}, newCLH(false)),
		row("CLH-NUMA-printed", "Uffmann22 §5.3.2", "CLH for NUMA that marks its node before it lines up", locks.Words{Home: 2, Rank: 2},
			locks.Cost{Uncontended: locks.Operations{Atomics: 3, Puts: 1}, Contended: locks.Operations{Atomics: 3, Puts: 2}}, newCLH(true)),
		ofTree(row("RMA-MCS-Acc", "HPDC16 §3; Uffmann22 §3.3", "RMA-MCS by calls only, which hands over by Accumulate", locks.Words{},
			locks.Cost{Uncontended: locks.Operations{Atomics: 4, Puts: 3, Gets: 1}, Contended: locks.Operations{Atomics: 1, Puts: 2}}, newRMAMCS)),
		unordered(row("RH-printed", "Radović, Hagersten, SC'02; Uffmann22 §5.2", "RH whose waiters try again and again", locks.Words{Rank: 1},
			locks.Cost{Uncontended: locks.Operations{Atomics: 2}, Contended: locks.Operations{Atomics: 3, Gets: 1, Unbounded: true}}, newRH)),
	}
}

// ofTree makes a row that of a tree of queues.
func ofTree(l Lock) Lock {
	l.Fairness, l.FIFO = "50 in a row inside an element", false
	l.Words = func(t *topology.Tree, _ locks.Options) locks.Words {
		return locks.Words{Home: 1, Rank: rmaWords * t.Levels()}
	}
	l.New = maker(l.Spec, newRMAMCS)
	return l
}

// unordered makes the row of RH-printed from that of a queue: it has no order, and other options.
func unordered(l Lock) Lock {
	l.Fairness, l.FIFO, l.Options = "none", false, []string{"TL", "Backoff"}
	l.Operations = false
	l.New = maker(l.Spec, newRH)
	return l
}

// words are where a lock has its words.
type words struct {
	home   rma.Rank // of the tail
	tail   rma.Disp
	rank   rma.Disp // the first one at every rank
	number uint64   // of the lock in its set, from 1
	direct bool     // by atomic instructions where ranks share memory
	tree   *topology.Tree

	options locks.Options
}

func row(name, paper, about string, takes locks.Words, cost locks.Cost, algorithm func(*side, words) algorithm) Lock {
	l := Lock{Spec: locks.Spec{
		Name: name, Paper: paper, About: about, Fairness: "FIFO", FIFO: true, Operations: !takes.Shared, Cost: cost,
		Words: func(*topology.Tree, locks.Options) locks.Words { return takes },
	}}
	l.New = maker(l.Spec, algorithm)
	return l
}

// maker allocates one lock.
func maker(s locks.Spec, algorithm func(*side, words) algorithm) func(rma.Fabric, locks.Options) (func(rma.Window) locks.Mutex, error) {
	return func(f rma.Fabric, o locks.Options) (func(w rma.Window) locks.Mutex, error) {
		set, err := newSet(s, algorithm, f, 1, o)
		if err != nil {
			return nil, err
		}
		return set[0], nil
	}
}

// newSet allocates n locks at one home, which is o's. Their ranks have words for one.
func newSet(s locks.Spec, algorithm func(*side, words) algorithm, f rma.Fabric, n int, o locks.Options) ([]func(w rma.Window) locks.Mutex, error) {
	if err := s.Validate(f.Topology(), o); err != nil {
		return nil, err
	}
	if o.Name == "" {
		o.Name = s.Name
	}
	const line = 8 // words
	takes := s.WordsOn(f.Topology())
	lines := func(words int) int { return (words + line - 1) / line * line }
	tails := lines(n * takes.Home)
	base, err := f.Alloc(tails + lines(takes.Rank))
	if err != nil {
		return nil, fmt.Errorf("printed: %s: %w", s.Name, err)
	}
	rma.Label(f, base, n, o.Name+" home")
	rma.Label(f, base+rma.Disp(tails), takes.Rank, o.Name+" rank")
	var set []func(w rma.Window) locks.Mutex
	for k := range n {
		at := words{
			home: o.Home, tail: base + rma.Disp(k), rank: base + rma.Disp(tails),
			number: uint64(k) + 1, direct: !s.Operations && !o.Operations, tree: f.Topology(), options: o,
		}
		var sides sync.Map // rank: its side
		set = append(set, func(w rma.Window) locks.Mutex {
			if m, ok := sides.Load(w.Rank()); ok {
				return m.(*side)
			}
			m := newSide(o.Name, w)
			m.algorithm = algorithm(m, at)
			first, _ := sides.LoadOrStore(w.Rank(), m)
			return first.(*side)
		})
	}
	return set, nil
}
