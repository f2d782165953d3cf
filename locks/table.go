package locks

import (
	"fmt"
	"slices"
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
	// Overtakes is how often, at most, each other rank gets the lock while a rank waits that has
	// queued up. Zero says nothing.
	Overtakes int
	// Aborts says when an Acquire that waits gives up because its context ends.
	Aborts Aborts
	// Recoverable says that the lock goes on when a rank is lost, on windows that do
	// (rma.Survivor). Its sides are of type Recoverable.
	Recoverable bool
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
	if s, ok := w.(rma.Survivor); ok && !l.spec.Recoverable {
		w = mortally(s)
	}
	m := l.spec.at(l, w)
	side.CompareAndSwap(nil, &m)
	return *side.Load()
}

// All is the table of locks.
func All() []Spec {
	family := family()
	return slices.Concat(family, tlps(family), crws(family), recoverables(family))
}

// family are the locks that are not made of other locks of the table.
func family() []Spec {
	return slices.Concat([]Spec{
		{
			Name: "TAS", Paper: "Uffmann22 §2.1.1", About: "spin lock, swapping every time, with exponential back-off",
			Fairness: "none", Aborts: Always, Words: wordsOfTAS, Options: []string{"Backoff"},
			at:   newTAS(false),
			Cost: Cost{Uncontended: Operations{Atomics: 1, Puts: 1}, Contended: Operations{Atomics: 2, Puts: 1, Unbounded: true}},
		},
		{
			Name: "TTS", Paper: "Uffmann22 §2.1.1", About: "spin lock, looking before it swaps, with exponential back-off",
			Fairness: "none", Aborts: Always, Words: wordsOfTAS, Options: []string{"Backoff"},
			at:   newTAS(true),
			Cost: Cost{Uncontended: Operations{Atomics: 1, Puts: 1, Gets: 1}, Contended: Operations{Atomics: 1, Puts: 1, Gets: 2, Unbounded: true}},
		},
		{
			Name: "TKT", Paper: "Uffmann22 §5.4.1", About: "ticket lock",
			Fairness: "FIFO", FIFO: true, Words: wordsOfTKT, at: newTKT,
			Cost: Cost{Uncontended: Operations{Atomics: 2, Gets: 1}, Contended: Operations{Atomics: 2, Gets: 2}},
		},
		{
			Name: "TKT-A", Paper: "Uffmann22 §5.4.1", About: "the same, skipping the tickets of waiters that have given up",
			Fairness: "FIFO", FIFO: true, Aborts: Always, Words: wordsOfTKTA, at: newTKTA,
			Cost: Cost{Uncontended: Operations{Atomics: 2, Gets: 1}, Contended: Operations{Atomics: 2, Gets: 2}},
		},
		{
			Name: "MCS", Paper: "HPDC16 §2.4", About: "queue lock, by direct atomics where ranks share memory",
			Fairness: "FIFO", FIFO: true, Aborts: Always, Words: wordsOfMCS, at: newMCS,
			Cost: Cost{Uncontended: Operations{Atomics: 2}, Contended: Operations{Atomics: 1, Puts: 2}},
		},
		{
			Name: "D-MCS", Paper: "HPDC16 §2.4, listings 2 and 3", About: "the same by window operations, handing over by Put",
			Fairness: "FIFO", FIFO: true, Words: wordsOfMCS, at: newDMCS,
			Operations: true,
			Cost:       Cost{Uncontended: Operations{Atomics: 2}, Contended: Operations{Atomics: 1, Puts: 2}},
		},
		{
			Name: "dash::Mutex", Paper: "Uffmann22 §4.3.2", About: "D-MCS that hands over by message, and tries to empty the queue first",
			Fairness: "FIFO", FIFO: true, Words: wordsOfMCS, at: newDash,
			Operations: true,
			Cost:       Cost{Uncontended: Operations{Atomics: 2}, Contended: Operations{Atomics: 2, Puts: 2}},
		},
		{
			Name: "CLH", Paper: "Uffmann22 §5.3.1", About: "queue lock whose nodes travel; waits on the predecessor's",
			Fairness: "FIFO", FIFO: true, Words: wordsOfCLH, at: newCLH,
			Cost: Cost{Uncontended: Operations{Atomics: 1, Puts: 1, Gets: 1}, Contended: Operations{Atomics: 1, Puts: 1, Gets: 2}},
		},
		{
			Name: "CLH-NUMA", Paper: "Uffmann22 §5.3.2", About: "the same; waits on a word of the rank's own",
			Fairness: "FIFO", FIFO: true, Words: wordsOfCLHNUMA, at: newCLHNUMA,
			Cost: Cost{Uncontended: Operations{Atomics: 3}, Contended: Operations{Atomics: 3, Puts: 1}},
		},
		{
			Name: "HCLH", Paper: "Uffmann22 §5.3", About: "CLH with a queue in each element, which is spliced into the global one",
			Fairness: "FIFO among elements; inside one each rank once in a row", Words: wordsOfHCLH, at: newHCLH,
			Cost: Cost{Uncontended: Operations{Atomics: 2, Puts: 2, Gets: 4}, Contended: Operations{Atomics: 2, Puts: 2, Gets: 5}},
		},
		{
			Name: "RH", Paper: "Uffmann22 §5.2", About: "a TTS lock in each element; a rank follows the lock from one to the other",
			Fairness: "none: after T_L,N in a row any rank may have it", Words: wordsOfRH, at: newRH,
			Options: []string{"Backoff", "RemoteBackoff", "TL"},
			Cost:    Cost{Uncontended: Operations{Atomics: 2}, Contended: Operations{Atomics: 3, Gets: 1, Unbounded: true}},
		},
		{
			Name: "HEM", Paper: "Uffmann22 §5.4.4", About: "Hemlock: one word per rank for all locks of a set",
			Fairness: "FIFO", FIFO: true, Words: wordsOfHemlock, at: newHemlock(hemVariant{}),
			Cost: Cost{Uncontended: Operations{Atomics: 2}, Contended: Operations{Atomics: 2, Puts: 1, Gets: 1}},
		},
		{
			Name: "HEM-CTR", Paper: "Uffmann22 §5.4.4", About: "the same, fetching words for writing at once",
			Fairness: "FIFO", FIFO: true, Words: wordsOfHemlock, at: newHemlock(hemVariant{ctr: true}),
			Cost: Cost{Uncontended: Operations{Atomics: 2}, Contended: Operations{Atomics: 3, Gets: 1}},
		},
		{
			Name: "HEM-AH", Paper: "Uffmann22 §5.4.4", About: "the same, and hands over before it knows to whom",
			Fairness: "FIFO", FIFO: true, Words: wordsOfHemlock, at: newHemlock(hemVariant{ctr: true, ah: true}),
			Cost: Cost{Uncontended: Operations{Atomics: 2}, Contended: Operations{Atomics: 3, Gets: 1}},
		},
		{
			Name: "HMCS", Paper: "Uffmann22 §5.4", About: "tree of queues, one level for each of the topology's",
			Fairness: "T_L,i in a row", Aborts: Always, Words: wordsOfHMCS, at: newHMCS, Options: []string{"TL"},
			Cost: Cost{Uncontended: Operations{Atomics: 4, Gets: 2}, Contended: Operations{Atomics: 1, Puts: 2}},
		},
		{
			Name: "AHMCS", Paper: "Uffmann22 §5.5", About: "the same; a rank enters at the level that contention asks for, and at the root if the lock is free",
			Fairness: "FIFO of ranks and elements, T_L,i in a row inside one", Aborts: Always, Words: wordsOfAHMCS, at: newAHMCS, Options: []string{"TL"},
			Cost: Cost{Uncontended: Operations{Atomics: 2, Gets: 2}, Contended: Operations{Atomics: 2, Puts: 4, Gets: 4}},
		},
		{
			Name: "CST", Paper: "Uffmann22 §5.6", About: "C-MCS-MCS that knows an element from the first rank of it that comes",
			Fairness: "T_L,N in a row", Aborts: Always, Words: wordsOfCST, at: newCST, Options: []string{"TL"},
			Cost: Cost{Uncontended: Operations{Atomics: 4, Gets: 2}, Contended: Operations{Atomics: 1, Puts: 2}},
		},
		{
			Name: "RMA-MCS", Paper: "HPDC16 §3.5", About: "tree of queues, one level for each of the topology's, by window operations",
			Fairness: "T_L,i in a row", Aborts: Always, Words: wordsOfHMCS, at: newHMCS, Options: []string{"TL"},
			Operations: true,
			Cost:       Cost{Uncontended: Operations{Atomics: 4, Gets: 2}, Contended: Operations{Atomics: 1, Puts: 2}},
		},
		{
			Name: "foMPI-Spin", Paper: "HPDC16 §5", About: "foMPI's exclusive lock: CAS of one word, with back-off",
			Fairness: "none", Aborts: Always, Words: wordsOfFompi, at: newFompiSpin, Options: []string{"Backoff"},
			Operations: true,
			Cost:       Cost{Uncontended: Operations{Atomics: 1, Puts: 1}, Contended: Operations{Atomics: 2, Puts: 1, Unbounded: true}},
		},
		{
			Name: "foMPI-RW", Kind: ReaderWriter, Paper: "HPDC16 §5", About: "foMPI's reader-writer lock: a writer's bit and a count of readers in one word",
			Fairness: "none: readers starve writers, and writers readers", Aborts: Always, Words: wordsOfFompi, at: newFompiRW,
			Options: []string{"Backoff"}, Operations: true,
			Cost: Cost{Uncontended: Operations{Atomics: 1, Puts: 1}, Contended: Operations{Atomics: 2, Puts: 1, Unbounded: true}, Reader: Operations{Atomics: 1, Puts: 1}},
		},
		{
			Name: "RMA-RW", Kind: ReaderWriter, Paper: "HPDC16 §3", About: "tree of queues for writers, distributed counter for readers",
			Fairness: "T_L,i, T_R, T_W", Aborts: Always, Words: wordsOfRMARW, at: newRMARW,
			Options: []string{"TL", "TDC", "TR", "TW", "StepBack"},
			Cost:    Cost{Uncontended: Operations{Atomics: 10, Gets: 3}, Contended: Operations{Atomics: 1, Puts: 2}, Reader: Operations{Atomics: 2}}, // a writer, with two counters
		},
		{
			Name: "RMA-RW+", Kind: ReaderWriter, Paper: "Uffmann22 §6", About: "RMA-RW whose leaves are Hemlocks",
			Fairness: "T_L,i, T_R, T_W", Words: wordsOfRMARWPlus, at: newRMARWPlus, Options: []string{"TL", "TDC", "TR", "TW"},
			Cost: Cost{Uncontended: Operations{Atomics: 10, Gets: 3}, Contended: Operations{Atomics: 3, Gets: 2}, Reader: Operations{Atomics: 2}},
		},
		{
			Name: "RMA-RW-A", Kind: ReaderWriter, Paper: "HPDC16 §8", About: "RMA-RW whose thresholds follow the mix of readers and writers",
			Fairness: "T_L,i, T_R, T_W at most", Aborts: Always, Words: wordsOfRMARW, at: newRMARWA,
			Options: []string{"TL", "TDC", "TR", "TW", "Hysteresis"},
			Cost:    Cost{Uncontended: Operations{Atomics: 10, Gets: 3}, Contended: Operations{Atomics: 1, Puts: 2}, Reader: Operations{Atomics: 2}},
		},
		{
			Name: "TWA", Paper: "Dice, Kogan, Euro-Par'19", About: "ticket lock; only the next rank looks at the word that is served, others at slots of their own",
			Fairness: "FIFO", FIFO: true, Words: wordsOfTWA, at: newTWA,
			Cost: Cost{Uncontended: Operations{Atomics: 2, Gets: 2}, Contended: Operations{Atomics: 2, Gets: 3}},
		},
		{
			Name: "Reciprocating", Paper: "Dice, Kogan, PPoPP'25", About: "ranks push themselves onto a stack, which a holder detaches as a whole and serves from the top",
			Fairness: "each other rank overtakes twice at most", Overtakes: 2, Words: wordsOfReciprocating, at: newReciprocating,
			Cost: Cost{Uncontended: Operations{Atomics: 2}, Contended: Operations{Atomics: 2}}, // the rank behind goes first
		},
		{
			Name: "MCSCR", Paper: "Dice, EuroSys'17", About: "MCS that lets few ranks take turns, and parks the others in a second queue",
			Fairness: "Batch in a row for each parked rank", Words: wordsOfMCSCR, Options: []string{"Batch"}, at: newMCSCR,
			Cost: Cost{Uncontended: Operations{Atomics: 2}, Contended: Operations{Atomics: 2, Puts: 1}}, // the rank behind goes first
		},
		{
			Name: "ALock", Paper: "Baran et al., SPAA'24", About: "two queues, of home's neighbours and of the others, whose heads compete as in Peterson's lock",
			Fairness: "T_L,N in a row", Words: wordsOfALock, Options: []string{"TL"}, at: newALock,
			Cost: Cost{Uncontended: Operations{Atomics: 2, Puts: 1, Gets: 2}, Contended: Operations{Atomics: 1, Puts: 2}},
		},
		{
			Name: "DecLock", Kind: ReaderWriter, Paper: "Zhang et al., arXiv 2505.17641", About: "the queue lies at home, and is read by the releaser, who writes to the next ranks themselves",
			Fairness: "FIFO, readers beside readers", FIFO: true, Words: wordsOfDecLock, at: newDecLock,
			Cost: Cost{Uncontended: Operations{Atomics: 2}, Contended: Operations{Atomics: 3, Puts: 2, Gets: 1}, Reader: Operations{Atomics: 2}},
		},
		{
			Name: "ShiftLock", Kind: ReaderWriter, Paper: "Gao, Wang, Shu, FAST'25", About: "one word has the tail of the writers' queue and the readers; writers hand over, and let readers in after Batch of them",
			Fairness: "FIFO among writers, Batch of them before readers", Words: wordsOfShiftLock, Options: []string{"Batch"}, at: newShiftLock,
			Cost: Cost{Uncontended: Operations{Atomics: 2}, Contended: Operations{Atomics: 2, Puts: 2, Gets: 1, Unbounded: true}, Reader: Operations{Atomics: 2}},
		},
	}, spinQueues(), cnas(), cohorts(), cloFs())
}

// ByName finds a lock: a row of the table, or one that is made of others, P-X-Y, R-X, CLoF-X-Y-...,
// C-RW-NP-G-L, C-RW-RP-G-L or C-RW-WP-G-L.
func ByName(name string) (Spec, bool) {
	family := family()
	for _, by := range []func([]Spec, string) (Spec, bool){find, tlpByName, crwByName, recoverableByName, cloFByName} {
		if s, ok := by(family, name); ok {
			return s, true
		}
	}
	return Spec{}, false
}

// find finds the row of a name.
func find(rows []Spec, name string) (Spec, bool) {
	for _, s := range rows {
		if s.Name == name {
			return s, true
		}
	}
	return Spec{}, false
}

// crws are the rows of the table: C-RW over one cohort lock. ByName makes any other.
func crws(family []Spec) (rows []Spec) {
	for _, name := range []string{"C-RW-NP-MCS-MCS", "C-RW-RP-MCS-MCS", "C-RW-WP-MCS-MCS"} {
		if row, ok := crwByName(family, name); ok {
			rows = append(rows, row)
		}
	}
	return rows
}

// crwByName is the lock C-RW-X-G-L over a cohort lock of a family.
func crwByName(family []Spec, name string) (Spec, bool) {
	for p, row := range crwRows {
		if parts, ok := strings.CutPrefix(name, row.prefix); ok {
			if cohort, ok := find(family, "C-"+parts); ok {
				return crwOver(preference(p), cohort), true
			}
		}
	}
	return Spec{}, false
}

// crwRows are what the three locks have of their own: the operations on top of the cohort
// lock's, with two indicators.
var crwRows = [...]struct {
	prefix, about, fairness        string
	uncontended, contended, reader Operations
	options                        []string
}{
	noPreference: {"C-RW-NP-", "readers and writers take turns at ", "the cohort lock's, for readers and writers alike",
		Operations{Gets: 4}, Operations{Gets: 4}, Operations{Atomics: 1, Puts: 1}, nil},
	readersFirst: {"C-RW-RP-", "readers go before the writers of ", "readers first, until a writer has looked Patience times",
		Operations{Atomics: 4, Gets: 4}, Operations{Atomics: 4, Gets: 4}, Operations{Atomics: 1, Puts: 1}, []string{"Patience"}},
	writersFirst: {"C-RW-WP-", "readers go behind the writers of ", "writers first, until a reader has seen Patience of them",
		Operations{Atomics: 4, Gets: 7}, Operations{Atomics: 2, Gets: 3}, Operations{Atomics: 1, Puts: 1}, []string{"Patience"}},
}

func crwOver(p preference, cohort Spec) Spec {
	row := crwRows[p]
	cost := Cost{cohort.Cost.Uncontended.plus(row.uncontended), cohort.Cost.Contended.plus(row.contended), row.reader}
	switch p {
	case noPreference:
		cost.Reader = cost.Reader.plus(cohort.Cost.Uncontended)
	case writersFirst:
		alone, known := cohort.costOfAlone()
		cost.Uncontended, cost.Contended = cost.Uncontended.plus(alone), cost.Contended.plus(known)
	}
	return Spec{
		Name: row.prefix + strings.TrimPrefix(cohort.Name, "C-"), Kind: ReaderWriter, Paper: "Calciu et al., PPoPP'13",
		About: row.about + cohort.Name, Fairness: row.fairness, Words: wordsOfCRW(cohort), at: newCRW(p, cohort),
		Options: append([]string{"TDC"}, row.options...),
		Cost:    cost,
	}
}
