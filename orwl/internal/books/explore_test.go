package books

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/orwl/go-orwl/internal/invariant"
	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/sim"
	"github.com/orwl/go-orwl/net/topology"
	"github.com/orwl/go-orwl/orwl/internal/plan"
	"github.com/orwl/go-orwl/orwl/liveness"
)

var (
	seeds  = rings.Seeds("books.seeds", 300, 160_000, "TestSeeds: seeds")
	states = rings.Size("books.states", 3000, 12_000, 0, "TestExhaust: states of each search; 0: all")
)

// game is a program whose tasks stand in the books of some workers.
type game struct {
	system liveness.System
	rounds []int
	owner  []int32 // by task: a worker, or Nobody
	books  int     // of workers
	wide   bool    // each access has a counter, also of the tasks in books
	raised bool    // the first task has its round on another node, and two ranks tell of it
	heard  bool    // the first task has its round on another node, and a rank tells of it, or leaves it to a worker that attends
	short  bool    // bodies run under the lock
	stops  bool    // a rank that is no worker stops the pool
	last   []int   // the round in which each task ends; nil: its last one
	fails  int     // the task that fails in its first round, counted from 1
	dies   bool    // it panics
	inARow int
	ahead  []plan.Ahead // by task; nil: none
}

// table is one run of a game.
type table struct {
	game
	pool   *Pool
	plan   *plan.Plan
	at     *sim.Window // of the rank that runs
	eyes   []uint64    // by rank: what it saw
	ran    []int       // rounds of each task that have begun
	did    []int       // and ended
	inside []int       // by resource: readers inside, or -1
	writes []int
	number map[string]int // of resources
	task   []int          // by counter
	failed bool
	// Of a game that is heard.
	lookers int
	comes   bool // a message of the other node waits
}

// The words of each rank.
const (
	touch rma.Disp = iota
	bell           // 1: the one that sleeps wakes up
	turn           // the rank whose turn it is at the lock of the book
	words
)

// ranks are the workers, the one that stops the pool, and two that tell of a round elsewhere.
func (g game) ranks() int {
	n := g.books
	if g.stops {
		n++
	}
	if g.raised {
		n += 2
	}
	if g.heard {
		n++
	}
	return n
}

func (g game) setup(f *sim.Fabric) (sim.Program, error) {
	base, err := f.Alloc(int(words))
	if err != nil || base != 0 {
		return sim.Program{}, fmt.Errorf("the first words are at %d: %w", base, err)
	}
	t := &table{game: g, eyes: make([]uint64, g.ranks()), ran: make([]int, len(g.rounds)), did: make([]int, len(g.rounds)), number: map[string]int{}}
	var tasks []plan.Task
	for i, n := range g.rounds {
		tasks = append(tasks, plan.Task{Rounds: n, Apart: g.wide})
		if g.ahead != nil {
			tasks[i].Ahead = g.ahead[i]
		}
		for _, a := range g.system.Tasks[i].Accesses {
			if _, known := t.number[a.Resource]; !known {
				t.number[a.Resource] = len(t.number)
			}
		}
	}
	t.inside, t.writes = make([]int, len(t.number)), make([]int, len(t.number))
	t.plan = plan.OfSystem(g.system, tasks)
	t.task = make([]int, t.plan.Counters())
	owner := make([]int32, t.plan.Counters())
	for i, task := range g.system.Tasks {
		for a := range task.Accesses {
			c := t.plan.Counter(i, a)
			t.task[c], owner[c] = i, g.owner[i]
			if a > 0 && g.wide && g.owner[i] >= 0 {
				owner[c] = Before
			}
		}
	}
	t.pool = New(Options{Plan: t.plan, Owner: owner, Workers: g.books, Run: t.run, Died: t.died, Waits: t.waits})
	if g.heard {
		t.pool.Ears = t
	}
	t.pool.probe = t
	for i, b := range t.pool.books {
		b.sleepIn(&berth{t: t, rank: rma.Rank(i)})
	}
	if g.inARow != 0 {
		t.pool.inARow, t.pool.mostLooks = g.inARow, g.inARow
	}
	for _, b := range t.pool.books {
		b.short.Store(g.short)
	}
	return sim.Program{Rank: t.play, Check: t.check, State: t.state}, nil
}

func (t *table) fetch(owner rma.Rank, d rma.Disp, op rma.Op, v uint64) {
	w := t.at
	w.FetchOp(owner, d, op, v)
	t.at = w
}

func (t *table) await(owner rma.Rank, d rma.Disp, until rma.Until) {
	w := t.at
	_, _ = w.Await(context.Background(), owner, d, until)
	t.at = w
}

func (t *table) point() { t.fetch(t.at.Rank(), touch, rma.NoOp, 0) }

func (t *table) saw(v uint32) {
	me := t.at.Rank()
	t.eyes[me] = t.eyes[me]*0x9e3779b97f4a7c15 + uint64(v) + 1
}

// berth is where a rank sleeps.
type berth struct {
	t      *table
	rank   rma.Rank
	parked func()
}

func (b *berth) Init(parked func()) { b.parked = parked }

func (b *berth) Park() {
	b.parked()
	b.t.await(b.rank, bell, rma.Is(1))
	b.t.fetch(b.rank, bell, rma.Replace, 0)
}

func (b *berth) Unpark() { b.t.fetch(b.rank, bell, rma.Replace, 1) }

func (t *table) stay(b *book, ticket uint32) {
	t.await(rma.Rank(b.number), turn, rma.Is(uint64(ticket)))
}

func (t *table) turn(b *book, ticket uint32) {
	t.fetch(rma.Rank(b.number), turn, rma.Replace, uint64(ticket))
}

func (t *table) play(_ context.Context, w rma.Window) error {
	t.at = w.(*sim.Window)
	switch me := int(w.Rank()); {
	case me < t.books:
		t.pool.Work(me)
	case t.raised:
		t.ran[0], t.writes[0] = 1, 1
		t.pool.Raise(0, []uint32{1, plan.Ended}[me%2])
	case t.heard:
		t.point()
		t.ran[0], t.writes[0], t.comes = 1, 1, true
		t.point()
		if t.lookers == 0 { // it rings, and who hears the bell does this
			t.Attend()
			t.Look()
			t.Leave()
		}
	default:
		t.pool.Stop()
	}
	return nil
}

// Attend, Look and Leave are what a node does: see package ring.
func (t *table) Attend() {
	t.point()
	t.lookers++
}

func (t *table) Look() bool {
	t.point()
	if t.saw(0); !t.comes {
		return false
	}
	t.saw(1)
	t.comes = false
	t.pool.Raise(0, plan.Ended)
	return true
}

func (t *table) Leave() {
	t.point()
	t.lookers--
	t.saw(uint32(t.lookers))
	if t.lookers == 0 {
		t.Look()
	}
}

// run is a body that a worker calls.
func (t *table) run(_, counter int, k uint32) Outcome {
	task := t.task[counter]
	if t.ran[task]++; t.ran[task] != int(k) {
		panic(fmt.Sprintf("task %d runs round %d, and has begun %d", task, k, t.ran[task]))
	}
	t.uses(task, int(k), t.system.Tasks[task].Accesses)
	if task+1 == t.fails {
		t.failed = true
		if t.dies {
			panic(errDies)
		}
		t.pool.Stop()
		return Fails
	}
	t.did[task] = int(k)
	if int(k) == t.end(task) {
		return Ends
	}
	return Goes
}

// uses is a body while it holds accesses. It checks what the grants of a round promise.
func (t *table) uses(task, k int, accesses []liveness.Access) {
	if t.ahead != nil {
		if a := t.ahead[task]; a.Most > 0 && t.did[a.Of] < min(k-a.Most, t.end(a.Of)) {
			panic(fmt.Sprintf("task %d in round %d is more than %d rounds ahead of task %d, which has ended %d", task, k, a.Most, a.Of, t.did[a.Of]))
		}
	}
	for _, a := range accesses {
		r := t.number[a.Resource]
		if t.fails > 0 && t.failed {
			t.seesFailure(task, k, a)
		}
		if want := t.before(task, k, a.Resource); t.writes[r] != want {
			panic(fmt.Sprintf("task %d in round %d sees %d writes of %s, want %d", task, k, t.writes[r], a.Resource, want))
		}
		if t.inside[r] < 0 || a.Mode == queue.Write && t.inside[r] != 0 {
			panic(fmt.Sprintf("task %d in round %d is not alone in %s", task, k, a.Resource))
		}
		if t.inside[r]++; a.Mode == queue.Write {
			t.inside[r] = -1
		}
	}
	t.point() // another worker comes in between
	for _, a := range accesses {
		r := t.number[a.Resource]
		if t.inside[r]--; a.Mode == queue.Write {
			t.inside[r] = 0
			t.writes[r]++
		}
	}
}

var errDies = errors.New("it dies")

// died hears of a body that has panicked: as it should, or because a check has failed.
func (t *table) died(_ int, value any) {
	if value != errDies {
		panic(value)
	}
	t.pool.Stop()
}

// waits checks that a task that waits does so for another one that it conflicts with, or stays near to.
func (t *table) waits(counter, other int) {
	task, other := t.task[counter], t.task[other]
	if t.ran[task] == t.end(task) {
		panic(fmt.Sprintf("task %d waits after its last round", task))
	}
	if t.ahead != nil && t.ahead[task].Most > 0 && t.ahead[task].Of == other {
		return
	}
	for _, a := range t.system.Tasks[task].Accesses {
		for _, b := range t.system.Tasks[other].Accesses {
			if a.Resource == b.Resource && (a.Mode == queue.Write || b.Mode == queue.Write) {
				return
			}
		}
	}
	panic(fmt.Sprintf("task %d waits for task %d, which shares nothing with it", task, other))
}

// end is the last round of a task.
func (g game) end(task int) int {
	if g.last != nil {
		return g.last[task]
	}
	return g.rounds[task]
}

// seesFailure checks that no round follows one that has failed.
func (t *table) seesFailure(task, k int, a liveness.Access) {
	for _, b := range t.system.Tasks[t.fails-1].Accesses {
		if b.Resource == a.Resource && (a.Mode == queue.Write || b.Mode == queue.Write) && (task > t.fails-1 || k > 1) {
			panic(fmt.Sprintf("task %d in round %d follows a round of task %d that has failed", task, k, t.fails-1))
		}
	}
}

// before counts the writes that a round of a task follows.
func (t *table) before(task, k int, name string) (n int) {
	ahead := true
	for _, f := range t.system.Order() {
		if f.Task == task && t.system.Tasks[task].Accesses[f.Access].Resource == name {
			ahead = false
		}
		if a := t.system.Tasks[f.Task].Accesses[f.Access]; a.Resource == name && a.Mode == queue.Write {
			done := k - 1
			if ahead {
				done = k
			}
			n += min(done, t.end(f.Task))
		}
	}
	return n
}

func (t *table) check() error {
	var errs []error
	for task, n := range t.ran {
		if n != t.end(task) && !t.stops && t.fails == 0 {
			errs = append(errs, fmt.Errorf("task %d has run %d rounds of %d", task, n, t.end(task)))
		}
	}
	if t.lookers != 0 {
		errs = append(errs, fmt.Errorf("%d attend at the end", t.lookers))
	}
	for _, b := range t.pool.books {
		if b.lock.next.Load() != b.lock.now.Load() {
			errs = append(errs, fmt.Errorf("the lock of book %d is held at the end", b.number))
		}
	}
	return errors.Join(errs...)
}

func (t *table) state() uint64 {
	h := uint64(14695981039346656037)
	mix := func(v uint64) { h = (h ^ v) * 0x9e3779b97f4a7c15; h ^= h >> 29 }
	for _, v := range t.eyes {
		mix(v)
	}
	mix(uint64(t.lookers))
	if t.comes {
		mix(5)
	}
	for i := range t.pool.counters {
		mix(uint64(t.pool.counters[i].done.Load()))
	}
	for i := range t.pool.edges {
		e := &t.pool.edges[i]
		mix(uint64(e.armed.Load())<<32 | uint64(e.next))
		mix(uint64(e.first))
		if e.waits {
			mix(3)
		}
	}
	for _, n := range t.ran {
		mix(uint64(n))
	}
	for _, n := range t.inside {
		mix(uint64(n + 1))
	}
	mix(uint64(t.pool.left.Load()))
	if t.pool.over.Load() {
		mix(1)
	}
	for _, b := range t.pool.books {
		mix(uint64(b.lock.next.Load())<<32 | uint64(b.lock.now.Load()))
		mix(uint64(b.mail.Load())<<32 | uint64(b.state.Load()))
		mix(b.look[0][0])
		mix(uint64(b.at))
		for i, v := range b.next {
			mix(uint64(v)<<32 | uint64(b.round[i]))
		}
	}
	return h
}

// needsProbe skips a test in a build whose pool has no steps to schedule.
func needsProbe(t *testing.T) {
	if !invariant.Enabled {
		t.Skip("an ordinary build cannot stop between the steps of a pool: go test -tags invariants, as CI does")
	}
}

func (g game) explored() sim.System {
	return sim.System{Topology: topology.Flat(g.ranks()), Setup: g.setup, MaxSteps: 1 << 16}
}

// chain is tasks that read what the one before writes, and write the next. In a ring the first reads
// what the last one writes.
func chain(n, rounds int, ring bool, owner ...int32) (g game) {
	for i := range n {
		task := liveness.Task{Name: fmt.Sprint("t", i), Accesses: []liveness.Access{{Resource: fmt.Sprint("r", i), Mode: queue.Write}}}
		if i > 0 || ring {
			task.Accesses = append(task.Accesses, liveness.Access{Resource: fmt.Sprint("r", (i+n-1)%n), Mode: queue.Read})
		}
		g.system.Tasks = append(g.system.Tasks, task)
		g.rounds = append(g.rounds, rounds)
	}
	g.owner = owner
	for _, o := range owner {
		g.books = max(g.books, int(o)+1)
	}
	return g
}

// starOf is tasks that all write one resource.
func starOf(n, rounds int, owner ...int32) (g game) {
	for i := range n {
		task := liveness.Task{Name: fmt.Sprint("t", i), Accesses: []liveness.Access{{Resource: "r", Mode: queue.Write}}}
		g.system.Tasks, g.rounds = append(g.system.Tasks, task), append(g.rounds, rounds)
		g.books = max(g.books, int(owner[i])+1)
	}
	g.owner = owner
	return g
}

func (g game) with(change func(g *game)) game {
	change(&g)
	return g
}

// TestExhaust visits every state of small games.
func TestExhaust(t *testing.T) {
	rings.Computes(t)
	needsProbe(t)
	t.Parallel()
	for name, g := range map[string]game{
		"one task":             chain(1, 2, false, 0),
		"two on one":           chain(2, 2, false, 0, 0),
		"two on two":           chain(2, 2, false, 0, 1),
		"two on two, short":    chain(2, 2, false, 0, 1).with(func(g *game) { g.short = true }),
		"help":                 chain(2, 1, false, 0, 0).with(func(g *game) { g.books = 2 }),
		"stop":                 chain(2, 1, false, 0, 1).with(func(g *game) { g.stops = true }),
		"three on two":         chain(3, 1, false, 0, 1, 0),
		"ring of two":          chain(2, 2, true, 0, 1),
		"unequal":              chain(3, 2, false, 0, 1, 0).with(func(g *game) { g.rounds = []int{2, 1, 2}; g.short = true }),
		"one round in a row":   chain(2, 3, false, 0, 0).with(func(g *game) { g.inARow = 1 }),
		"early end":            starOf(3, 3, 0, 0, 0).with(func(g *game) { g.last = []int{3, 1, 3}; g.short = true }),
		"early end, two":       starOf(3, 2, 0, 1, 0).with(func(g *game) { g.last = []int{2, 1, 2}; g.short = true }),
		"failure":              chain(2, 2, false, 0, 1).with(func(g *game) { g.fails = 1 }),
		"death":                chain(2, 2, false, 0, 1).with(func(g *game) { g.fails, g.dies = 1, true }),
		"death, short":         chain(2, 2, false, 0, 1).with(func(g *game) { g.fails, g.dies, g.short = 2, true, true }),
		"writer of three, two": chain(3, 1, true, 0, 1, 1).with(func(g *game) { g.short = true }),
		"heard":                chain(2, 1, false, Nobody, 0).with(func(g *game) { g.heard = true }),
		"heard by two":         chain(3, 1, false, Nobody, 0, 1).with(func(g *game) { g.heard = true }),
		"heard beside":         chain(3, 1, false, Nobody, 0, 1).with(func(g *game) { g.heard, g.short = true, true }),
		"raised":               chain(2, 1, false, Nobody, 0).with(func(g *game) { g.raised = true }),
		"wide":                 chain(2, 2, true, 0, 1).with(func(g *game) { g.wide = true }),
		"wide, early end":      starOf(3, 2, 0, 1, 0).with(func(g *game) { g.last, g.wide = []int{2, 1, 2}, true }),
		"near":                 chain(3, 3, false, 0, 1, 0).with(func(g *game) { g.ahead = []plan.Ahead{{Of: 2, Most: 2}, {}, {}} }),
		"near, an early end":   chain(3, 3, false, 0, 1, 0).with(func(g *game) { g.ahead, g.last = []plan.Ahead{{Of: 2, Most: 1}, {}, {}}, []int{3, 1, 1} }),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			report := g.explored().Exhaust(sim.Limit{States: states.N()})
			if err := report.Err(); err != nil {
				t.Fatal(err)
			}
			t.Logf("%d states, %d runs, complete: %t", report.States, report.Runs, report.Complete)
		})
	}
}

// draw makes a random game of a random system.
func draw(seed uint64) (g game) {
	for rng := rand.New(rand.NewPCG(seed, 3)); ; {
		g = game{books: 1 + rng.IntN(3), short: rng.IntN(2) == 0, stops: rng.IntN(8) == 0}
		priority := rng.IntN(2)
		same := rng.IntN(2) == 0
		for i := range 2 + rng.IntN(4) {
			task := liveness.Task{Name: fmt.Sprint("t", i)}
			for r := range 3 {
				if rng.IntN(2) == 0 {
					task.Accesses = append(task.Accesses, liveness.Access{Resource: fmt.Sprint("r", r), Mode: queue.Mode(rng.IntN(2)), Priority: rng.IntN(2) * priority})
				}
			}
			if len(task.Accesses) == 0 {
				task.Accesses = []liveness.Access{{Resource: "r0"}}
			}
			g.system.Tasks = append(g.system.Tasks, task)
			rounds := 1 + rng.IntN(3)
			if same {
				rounds = 2
			}
			owner := int32(rng.IntN(g.books))
			g.rounds, g.owner = append(g.rounds, rounds), append(g.owner, owner)
		}
		switch rng.IntN(8) {
		case 0: // tasks say before that they end
			for _, n := range g.rounds {
				g.last = append(g.last, 1+rng.IntN(n))
			}
		case 1:
			g.fails, g.dies = 1+rng.IntN(len(g.rounds)), rng.IntN(2) == 0
			for _, task := range g.system.Tasks { // seesFailure knows the order of tasks only
				for a := range task.Accesses {
					task.Accesses[a].Priority = 0
				}
			}
		case 2:
			g.inARow = 1 + rng.IntN(2)
		case 3:
			g.wide = true
		}
		if rng.IntN(2) == 0 {
			for range g.rounds {
				g.ahead = append(g.ahead, plan.Ahead{Of: rng.IntN(len(g.rounds)), Most: 1 + rng.IntN(2)})
			}
		}
		if g.system.Check() == nil {
			return g
		}
	}
}

// TestSeeds plays random games under random schedules.
func TestSeeds(t *testing.T) {
	rings.Computes(t)
	needsProbe(t)
	t.Parallel()
	steps := 0
	for seed := range seeds.All() {
		report := draw(seed).explored().Seeds(seed, 1)
		steps += report.Steps
		if err := report.Err(); err != nil {
			t.Fatalf("seed %d: %v\n%+v", seed, err, draw(seed))
		}
	}
	t.Logf("%d steps", steps)
}
