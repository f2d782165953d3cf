package workers

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/orwl/go-orwl/internal/invariant"
	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/sim"
	"github.com/orwl/go-orwl/net/topology"
)

var (
	seeds  = rings.Seeds("workers.seeds", 3000, 320_000, "TestSeeds: seeds")
	states = rings.Size("workers.states", 1000, 8000, 0, "TestExhaust: states of each search; all of them, if 0")
)

// job is a step of a game.
type job struct {
	number int
	home   int // the worker that gets it, when it is pushed
	rank   Rank
	next   []int // given to Ready when it has run
	push   []int // given to Push then
	meets  []int // it does not end before these have run
}

// game is a pool whose workers run jobs. One more rank, no worker, pushes some of them. The
// last job finishes the pool, or the rank does so before if it cancels.
type game struct {
	workers  int
	searches int // before a worker sleeps
	jobs     []job
	outside  []int // the jobs that the rank pushes; none: there is no such rank
	cancels  bool
}

// table is one run of a game.
type table struct {
	game
	pool *Pool[job]
	at   *sim.Window // of the rank that runs
	ran  []int       // how often each job has begun
	left int
	eyes []uint64 // what each rank saw
}

// The words of each rank: one that points touch, one that is set when a worker may have to
// wake up, and one for each job, set on the first rank when it has begun.
const (
	touch rma.Disp = iota
	bell
	begun
)

func (g game) ranks() int {
	if len(g.outside) == 0 {
		return g.workers
	}
	return g.workers + 1
}

func (g game) setup(f *sim.Fabric) (sim.Program, error) {
	base, err := f.Alloc(int(begun) + len(g.jobs))
	if err != nil || base != 0 {
		return sim.Program{}, fmt.Errorf("the first words are at %d: %w", base, err)
	}
	t := &table{game: g, pool: New[job](g.workers), ran: make([]int, len(g.jobs)), left: len(g.jobs), eyes: make([]uint64, g.ranks())}
	t.pool.searches = g.searches
	if len(g.outside) == 0 { // before the workers begin
		t.pool.Worker(g.jobs[0].home).put(&t.jobs[0], g.jobs[0].rank)
	}
	t.pool.probe = t
	return sim.Program{Rank: t.play, Check: t.check, State: t.state}, nil
}

func (t *table) fetch(owner rma.Rank, d rma.Disp, op rma.Op, v uint64) {
	w := t.at
	w.FetchOp(owner, d, op, v)
	t.at = w
}

// point lets another rank go first.
func (t *table) point() { t.fetch(t.at.Rank(), touch, rma.NoOp, 0) }

func (t *table) saw(v int64) {
	me := t.at.Rank()
	t.eyes[me] = t.eyes[me]*0x9e3779b97f4a7c15 + uint64(v) + 1
}

func (t *table) sleep() {
	w := t.at
	for me := w.Rank(); ; {
		t.fetch(me, bell, rma.Replace, 0)
		if len(t.pool.wake) > 0 {
			return
		}
		_, _ = w.Await(context.Background(), me, bell, rma.Is(1))
		t.at = w
	}
}

func (t *table) signal() {
	for i := range t.workers {
		t.fetch(rma.Rank(i), bell, rma.Replace, 1)
	}
}

func (t *table) play(_ context.Context, w rma.Window) error {
	t.at = w.(*sim.Window)
	me := int(w.Rank())
	if me == t.workers {
		for _, j := range t.outside {
			t.pool.Worker(t.jobs[j].home).Push(&t.jobs[j], t.jobs[j].rank)
		}
		if t.cancels {
			t.pool.Finish()
		}
		return nil
	}
	own := t.pool.Worker(me)
	for {
		j := own.Take()
		if j == nil {
			if own.first != nil || !t.pool.over.Load() {
				return errors.New("a worker ends too early")
			}
			return nil
		}
		for ; j != nil; j = own.Following() {
			if err := t.run(own, j); err != nil {
				return err
			}
		}
	}
}

func (t *table) run(own *Worker[job], j *job) error {
	if t.ran[j.number]++; t.ran[j.number] > 1 {
		return fmt.Errorf("job %d is run twice", j.number)
	}
	t.eyes[own.number] = t.eyes[own.number]*31 + uint64(j.number) + 7
	t.fetch(0, begun+rma.Disp(j.number), rma.Replace, 1)
	for _, i := range j.next {
		own.Ready(&t.jobs[i], t.jobs[i].rank, t.pool.Worker(t.jobs[i].home))
	}
	for _, i := range j.push {
		t.pool.Worker(t.jobs[i].home).Push(&t.jobs[i], t.jobs[i].rank)
	}
	for _, i := range j.meets {
		w := t.at
		if _, err := w.Await(context.Background(), 0, begun+rma.Disp(i), rma.Is(1)); err != nil {
			return err
		}
		t.at = w
	}
	if t.left--; t.left == 0 {
		t.pool.Finish()
	}
	return nil
}

func (t *table) check() error {
	if n := t.pool.searching.Load(); n != 0 {
		return fmt.Errorf("%d workers search at the end", n)
	}
	if n := t.pool.sleeping.Load(); n != 0 {
		return fmt.Errorf("%d workers sleep at the end", n)
	}
	for _, w := range t.pool.workers {
		have, top := 0, 0
		for r, q := range w.queues {
			if q.len() != 0 {
				have, top = have+q.len(), r
			}
		}
		if n := int(w.ready.Load()); n != have || n != 0 && !t.cancels {
			return fmt.Errorf("worker %d counts %d ready jobs, and has %d", w.number, n, have)
		}
		if n := int(w.top.Load()); n != top {
			return fmt.Errorf("worker %d says that its highest rank is %d, and it is %d", w.number, n, top)
		}
	}
	if t.left != 0 && !t.cancels {
		return fmt.Errorf("%d jobs are left", t.left)
	}
	return nil
}

func (t *table) state() uint64 {
	h := uint64(14695981039346656037)
	mix := func(v uint64) { h = (h ^ v) * 0x9e3779b97f4a7c15; h ^= h >> 29 }
	for _, v := range t.eyes {
		mix(v)
	}
	mix(uint64(t.pool.searching.Load()))
	mix(uint64(t.pool.sleeping.Load()))
	mix(uint64(len(t.pool.wake)))
	if t.pool.over.Load() {
		mix(1)
	}
	mix(uint64(t.left))
	for _, n := range t.ran {
		mix(uint64(n))
	}
	for _, w := range t.pool.workers {
		mix(uint64(w.since))
		if w.first != nil {
			mix(uint64(w.first.number) + 1)
		}
		for _, q := range w.queues {
			mix(uint64(q.len()))
			for _, j := range q.steps[q.head:] {
				mix(uint64(j.number))
			}
		}
	}
	return h
}

func (g game) system() sim.System {
	return sim.System{Topology: topology.Flat(g.ranks()), Setup: g.setup, MaxSteps: 1 << 16}
}

// needsProbe skips a test in a build whose pool has no steps to schedule.
func needsProbe(t *testing.T) {
	if !invariant.Enabled {
		t.Skip("an ordinary build cannot stop between the steps of a pool: go test -tags invariants, as CI does; TestNoWakeUpIsLost runs here")
	}
}

// TestExhaust visits every state of small games.
func TestExhaust(t *testing.T) {
	rings.Computes(t)
	needsProbe(t)
	t.Parallel()
	for name, g := range map[string]game{
		"one worker, one push":   {workers: 1, jobs: []job{{}}, outside: []int{0}},
		"one worker, two pushes": {workers: 1, jobs: []job{{}, {}}, outside: []int{0, 1}},
		"two workers, one push":  {workers: 2, jobs: []job{{}}, outside: []int{0}},
		"two workers search":     {workers: 2, searches: 1, jobs: []job{{push: []int{1}}, {home: 1}}},
		"worker pushes":          {workers: 2, jobs: []job{{push: []int{1}}, {home: 1}}},
		"worker has a next":      {workers: 2, jobs: []job{{next: []int{1, 2}}, {}, {}}},
		"worker sends one home":  {workers: 2, jobs: []job{{next: []int{1, 2}}, {}, {home: 1}}},
		"sent home to meet":      {workers: 2, jobs: []job{{next: []int{1, 2}}, {meets: []int{2}}, {home: 1, meets: []int{1}}}},
		// A job that waits for another shows that the other worker does not sleep on it.
		"jobs meet":                 {workers: 2, jobs: []job{{push: []int{1}, meets: []int{1}}, {}}},
		"worker has an urgent next": {workers: 2, jobs: []job{{next: []int{1, 2}}, {}, {rank: 1}}},
		"urgent job comes":          {workers: 2, jobs: []job{{next: []int{2}}, {rank: 1}, {}}, outside: []int{0, 1}},
		"first gives way":           {workers: 2, jobs: []job{{next: []int{1}, push: []int{2}}, {}, {rank: 1, meets: []int{1}}}},
		"urgent job is sent home":   {workers: 2, jobs: []job{{next: []int{1, 2}}, {}, {home: 1, rank: 1}}},
		"pushed jobs meet":          {workers: 2, jobs: []job{{meets: []int{1}}, {meets: []int{0}}}, outside: []int{0, 1}},
		"cancelled":                 {workers: 2, jobs: []job{{}, {}}, outside: []int{0}, cancels: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			report := g.numbered().system().Exhaust(sim.Limit{States: states.N()})
			if err := report.Err(); err != nil {
				t.Fatal(err)
			}
			t.Logf("%d states, %d runs, complete: %t", report.States, report.Runs, report.Complete)
		})
	}
}

func (g game) numbered() game {
	for i := range g.jobs {
		g.jobs[i].number = i
	}
	return g
}

// draw makes a random game: a tree of jobs for two to four workers. As many jobs of a
// crowd as there are workers wait for each other.
func draw(seed uint64) game {
	rng := rand.New(rand.NewPCG(seed, 2))
	g := game{workers: 2 + rng.IntN(3), searches: rng.IntN(3)}
	for i := range 1 + rng.IntN(10) {
		g.jobs = append(g.jobs, job{home: rng.IntN(g.workers), rank: Rank(rng.IntN(int(Ranks)))})
		if i == 0 {
			continue
		}
		if parent := &g.jobs[rng.IntN(i)]; rng.IntN(2) == 0 {
			parent.next = append(parent.next, i)
		} else {
			parent.push = append(parent.push, i)
		}
	}
	if rng.IntN(2) == 0 { // nothing else runs when the crowd meets
		g.jobs = nil
		all := make([]int, g.workers)
		for i := range all {
			all[i] = i
			g.jobs = append(g.jobs, job{home: rng.IntN(g.workers), meets: all})
		}
		g.outside = all
	} else if rng.IntN(2) == 0 {
		g.outside = []int{0}
	}
	if len(g.outside) == 1 {
		g.cancels = rng.IntN(4) == 0
	}
	return g.numbered()
}

// TestSeeds plays random games under random schedules.
func TestSeeds(t *testing.T) {
	rings.Computes(t)
	needsProbe(t)
	t.Parallel()
	steps, n := 0, 0
	for seed := range seeds.All() {
		report := draw(seed).system().Seeds(seed, 1)
		steps += report.Steps
		n++
		if err := report.Err(); err != nil {
			t.Fatalf("seed %d: %v\n%+v", seed, err, draw(seed))
		}
	}
	t.Logf("%d seeds, %d steps", n, steps)
}
