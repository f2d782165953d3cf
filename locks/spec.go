package locks

import (
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// Spec is a row of the table: a lock, what it promises and what it costs.
type Spec struct {
	Name  string
	Kind  Kind
	Paper string // where it is described
	About string

	// Fairness says in which order, or how unfairly at most, ranks get the lock.
	Fairness string
	// FIFO says that ranks get it in the order in which they queued up.
	FIFO bool
	// Aborts says when an Acquire that waits gives up because its context ends.
	Aborts Aborts
	// Operations says that the lock uses the window's operations even where ranks share
	// memory, as the RMA papers do.
	Operations bool
	// Options are the names of the fields of Options that the lock heeds, besides
	// Name, Home and Operations. It refuses the others.
	Options []string
	// Words is what the lock takes of the fabric's memory.
	Words func(*topology.Tree, Options) Words
	// Cost is what it takes of the network.
	Cost Cost

	at func(*Lock, rma.Window) Mutex
}

// Kind is what a lock excludes.
type Kind uint8

const (
	Exclusive    Kind = iota // its sides are Mutexes
	ReaderWriter             // its sides are RWMutexes
	Priority                 // its sides are PriorityMutexes
)

func (k Kind) String() string {
	switch k {
	case ReaderWriter:
		return "reader-writer"
	case Priority:
		return "two priorities"
	}
	return "exclusive"
}

// Aborts is when an Acquire that waits gives up because its context ends.
type Aborts uint8

const (
	Never  Aborts = iota // once queued up, it stays until it has the lock
	Always               // at any time, without harm to others
)

// Words is memory in words.
type Words struct {
	Home   int  // at the lock's home
	Rank   int  // at every rank
	Shared bool // those at every rank are there once for all locks of a set
}

// Cost is how many operations on other ranks' memory one acquire and release take, where
// all is done by operations. The rank lives away from the lock's home, its levels' and its
// neighbours'. Where there are readers, it is a writer's cost.
type Cost struct {
	Uncontended Operations // no other rank wants the lock
	Contended   Operations // the rank finds a predecessor and leaves a successor
	Reader      Operations // of a reader that is not kept out
}

// Operations are numbers of operations. Flushes of one target that follow each
// other at once count as one.
type Operations struct {
	Atomics int // FetchOp, CAS
	Puts    int // Put, Accumulate
	Gets    int
	// Unbounded says that there may be any number more: the lock tries again.
	Unbounded bool
}

func (o Operations) String() string {
	var parts []string
	for _, p := range []struct {
		n    int
		name string
	}{{o.Atomics, "atomic"}, {o.Puts, "put"}, {o.Gets, "get"}} {
		if p.n == 1 {
			parts = append(parts, "1 "+p.name)
		} else if p.n > 1 {
			parts = append(parts, fmt.Sprintf("%d %ss", p.n, p.name))
		}
	}
	text := strings.Join(parts, ", ")
	if text == "" {
		text = "none"
	}
	if o.Unbounded {
		text += ", and more"
	}
	return text
}

// Lock is one lock, for all ranks of a fabric.
type Lock struct {
	spec   Spec
	o      Options
	tree   *topology.Tree
	base   base
	number uint64 // among the locks of its set, from 1
	sides  []atomic.Pointer[Mutex]
}

// New allocates a lock. Every process of the fabric makes the same allocations in the same
// order.
func (s Spec) New(f rma.Fabric, o Options) (*Lock, error) {
	set, err := s.NewSet(f, 1, o)
	if err != nil {
		return nil, err
	}
	return set[0], nil
}

// NewSet allocates n locks, which live at one home after the other, beginning
// with o.Home. They take less memory than n single ones: nothing is padded, and
// a lock whose ranks need one node for all locks has it once.
func (s Spec) NewSet(f rma.Fabric, n int, o Options) ([]*Lock, error) {
	if s.at == nil {
		return nil, fmt.Errorf("locks: %q is no row of the table: All and ByName have the rows", s.Name)
	}
	tree := f.Topology()
	o.Operations = o.Operations || s.Operations
	if err := o.validate(s, tree); err != nil {
		return nil, err
	}
	if n < 1 {
		return nil, fmt.Errorf("locks: a set of %d %s: want at least one lock", n, s.Name)
	}
	o = o.withDefaults(s.Name, tree)
	words, ranks := s.Words(tree, o), tree.Ranks()
	homeWords, rankWords := words.Home*((n+ranks-1)/ranks), words.Rank*n
	if words.Shared {
		rankWords = words.Rank
	}
	home, err := f.Alloc(lines(homeWords) + lines(rankWords))
	if err != nil {
		return nil, fmt.Errorf("locks: %d %s: %w", n, s.Name, err)
	}
	rank := home + rma.Disp(lines(homeWords))
	rma.Label(f, home, homeWords, o.Name+" home")
	rma.Label(f, rank, rankWords, o.Name+" rank")
	set := make([]*Lock, n)
	for k := range set {
		l := &Lock{spec: s, o: o, tree: tree, number: uint64(k) + 1, sides: make([]atomic.Pointer[Mutex], ranks)}
		l.base = base{home + rma.Disp(k/ranks*words.Home), rank}
		if !words.Shared {
			l.base.rank += rma.Disp(k * words.Rank)
		}
		l.o.Home = Rank((int(o.Home) + k) % ranks)
		set[k] = l
	}
	return set, nil
}

// lines rounds up to whole cache lines, so that a word that ranks wait for does not share one
// with a word that others write.
func lines(words int) int { return (words + line/8 - 1) / (line / 8) * (line / 8) }

// Validate says what is wrong with options for a lock of ranks in a tree.
func (s Spec) Validate(t *topology.Tree, o Options) error { return o.validate(s, t) }

// WordsOn is the memory that a lock takes of ranks in a tree.
func (s Spec) WordsOn(t *topology.Tree) Words { return s.Words(t, Options{}.withDefaults(s.Name, t)) }

// Counts are the counts of the ranks of this process that have used the lock, in their order.
// Any goroutine may ask at any time; it may see an acquire that is under way in part.
func (l *Lock) Counts() (all []Counts) {
	for i := range l.sides {
		if m := l.sides[i].Load(); m != nil {
			all = append(all, (*m).(Counter).Counts())
		}
	}
	return all
}

// Spec is the row that the lock was made from.
func (l *Lock) Spec() Spec { return l.spec }

// Name is what traces and errors call the lock: see Options.Name.
func (l *Lock) Name() string { return l.o.Name }

// At is the lock for the rank of w, of the spec's kind. It is the same each time, and uses the first window that it was given.
func (l *Lock) At(w rma.Window) Mutex {
	side := &l.sides[w.Rank()]
	if m := side.Load(); m != nil {
		return *m
	}
	m := l.spec.at(l, w)
	side.CompareAndSwap(nil, &m)
	return *side.Load()
}
