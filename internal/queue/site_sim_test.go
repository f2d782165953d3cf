package queue

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/sim"
	"github.com/orwl/go-orwl/net/topology"
)

// siteRun is whole sites in the simulator: three nodes, two resources with homes on the
// first two, and everything that can happen to nodes and to the ways between them. The
// simulator decides which rank goes on, when a message arrives, and what time it is. The
// seed decides what each rank does.
//
//	rank 0-2    the event loop of a node: delivers messages, polls grants   (site_sim_node_test.go)
//	rank 3-5    a task of a node: waits in Acquire                          (site_sim_task_test.go)
//	rank 6-11   the link from one node to another                           (site_sim_link_test.go)
//	rank 12     the clock: rings the loops, cuts links, ends lives          (site_sim_clock_test.go)
//
// The loop and the task of a node share its Site. With -tags invariants they also take
// turns between the steps of a queue. Then a task may release while its loop delivers.
//
// Every write adds one to a count, and its own number to a chain. So the bytes show what
// was committed, and what it was made of (site_sim_truth_test.go).
type siteRun struct {
	rng    *rand.Rand
	flaw   string
	traced bool
	trace  []string

	clocks bool  // nodes look at the lease before they use a grant
	sweeps bool  // mirrors ask for writes after a while
	few    bool  // half of the writers change nothing
	lease  int64 // in steps

	at    *actor // the rank that runs
	nodes [3]*simNode
	ways  [3]*simWay
	links [3][3]*simLink
	truth [2]*simTruth

	ticks  [3]uint64 // of each loop
	writes simWrites
	phase  uint64
	seen   simSeen
}

// The phases of a run. Each begins when everything of the one before is done.
const (
	faultsHappen = iota
	allIsWell    // all places that hold release, and all that wait are served
	lastWrites   // each place writes once more
	allSettle    // and asks for its writes
	runIsOver
)

// The words of a rank.
const (
	bellWord  = iota // of a loop: what has come, and ticks; of a link: what must go
	phaseWord        // of a task
	tickWord         // of a loop: the last tick that it has taken
	bedWord          // of a task, one for each of its lives
	simWords  = bedWord + mostLives + 1
	mostLives = 60
)

// aTick is a tick in the bell of a loop. The bits below it are messages.
const aTick = 1 << 48

// actor is a rank. A rank of a node belongs to one life of it at a time.
type actor struct {
	c       *siteRun
	w       *sim.Window
	n       *simNode // nil for links and the clock
	life    uint64
	falling bool // its life is over, and its stack unwinds
	within  bool // an operation of the Site
}

// fallen unwinds a rank whose node has started again.
type fallen struct{}

// goesOn follows each step of the simulator. Other ranks have run meanwhile.
func (a *actor) goesOn() {
	a.c.at = a
	if a.n != nil && a.life != a.n.life && !a.falling {
		a.falling = true
		if a.within {
			a.c.seen.midway++
		}
		panic(fallen{})
	}
}

func (a *actor) fetch(target rma.Rank, disp rma.Disp, op rma.Op, v uint64) uint64 {
	if a.falling {
		return 0
	}
	a.c.look()
	v = a.w.FetchOp(target, disp, op, v)
	a.goesOn()
	return v
}

func (a *actor) await(ctx context.Context, target rma.Rank, disp rma.Disp, until rma.Until) error {
	a.c.look()
	_, err := a.w.Await(ctx, target, disp, until)
	a.goesOn()
	return err
}

// pause lets others run.
func (a *actor) pause() { a.fetch(a.w.Rank(), phaseWord, rma.NoOp, 0) }

// point is before each step of a queue. Now and then a rank that has the mutex of its home
// is so slow that all others get ahead of it.
func (c *siteRun) point() {
	a := c.at
	a.pause()
	if a.falling || a.n == nil || c.chance(64) > 0 {
		return
	}
	if h := a.n.home(); h.mu.TryLock() {
		h.mu.Unlock()
		return
	}
	for range 66 {
		a.pause()
	}
}

func (c *siteRun) saw(uint64) {}

// free waits for the mutex of a node's home, as Lock would do in another goroutine. The
// next thing that the rank does is to lock it.
func (a *actor) free() {
	h := a.n.home()
	if h == nil {
		return
	}
	for !h.mu.TryLock() {
		a.c.seen.contended++
		a.w.Pause(1)
		a.goesOn()
	}
	h.mu.Unlock()
}

// begins is followed by an operation of the Site, and then by ends.
func (a *actor) begins() {
	a.within = true
	a.n.inside++
}

// ends checks that no news is left when no rank is there any more that could tell it.
func (a *actor) ends() {
	if a.falling {
		return
	}
	a.within = false
	a.n.inside--
	h := a.n.home()
	a.c.check(h == nil || a.n.inside > 0 || !h.stirred(), "node %d: nobody will tell the news of its home", a.n.node)
}

// lives plays lives of a node until one of them comes to its end.
func (a *actor) lives(live func(context.Context) error, ctx context.Context) error {
	for {
		a.life, a.falling, a.within = a.n.life, false, false
		if over, err := a.oneLife(live, ctx); over || err != nil {
			return err
		}
	}
}

func (a *actor) oneLife(live func(context.Context) error, ctx context.Context) (over bool, err error) {
	defer func() {
		v := recover()
		switch e, bad := v.(found); {
		case v == nil:
		case a.falling:
			over, err = false, nil
		case bad:
			err = a.c.failed(e)
		default:
			panic(v)
		}
	}()
	return true, live(ctx)
}

// failed adds the trace to what was wrong.
func (c *siteRun) failed(err error) error {
	if c.traced {
		return fmt.Errorf("%w\n%s", err, strings.Join(c.trace, "\n"))
	}
	return err
}

func (c *siteRun) chance(n int) int { return c.rng.IntN(n) }

func (c *siteRun) check(so bool, format string, args ...any) {
	if !so {
		panic(violation(format, args...))
	}
}

func (c *siteRun) note(format string, args ...any) {
	if c.traced {
		c.trace = append(c.trace, fmt.Sprintf("%6d ", c.now())+fmt.Sprintf(format, args...))
	}
}

// now is the virtual time.
func (c *siteRun) now() int64 { return int64(c.at.w.Now()) }

// siteSystem is a run for the simulator. Each call of Setup is the same run again.
func siteSystem(seed uint64, flaw string, traced bool, done func(c *siteRun)) sim.System {
	rng := rand.New(rand.NewPCG(seed, 11))
	return sim.System{
		Topology: topology.Flat(13), Words: simWords, MaxSteps: 1 << 18,
		Faults: sim.Faults{Cancels: rng.IntN(2), Pauses: rng.IntN(4), Delays: rng.IntN(4)},
		Setup: func(f *sim.Fabric) (sim.Program, error) {
			if _, err := f.Alloc(simWords); err != nil {
				return sim.Program{}, err
			}
			c := newSiteRun(seed, flaw, traced)
			return sim.Program{Rank: c.play, Check: func() error { return c.conclude(done) }}, nil
		},
	}
}

func newSiteRun(seed uint64, flaw string, traced bool) *siteRun {
	c := &siteRun{rng: rand.New(rand.NewPCG(seed, 7)), flaw: flaw, traced: traced}
	c.writes.by = make(map[[2]uint64]*simWrite)
	c.clocks = c.chance(2) == 0 && flaw == "" || flaw == "lease"
	c.sweeps, c.few = c.chance(2) == 0, c.chance(2) == 0
	c.lease = int64(250) << c.chance(4)
	for i := range c.ways {
		c.ways[i] = &simWay{session: 1}
	}
	for i := range c.nodes {
		c.nodes[i] = &simNode{c: c, node: Node(i), rounds: 4 + c.chance(6)}
		for k := range c.nodes[i].ends {
			c.nodes[i].ends[k] = simEnd{session: 1, last: 1, life: 1}
			c.links[i][k] = &simLink{c: c, from: Node(i), to: Node(k), rank: rma.Rank(6 + 2*i + (k-i+2)%3)}
		}
	}
	for i := range c.truth {
		c.truth[i] = &simTruth{states: [][2]uint64{{}}}
	}
	for _, n := range c.nodes {
		n.start()
	}
	return c
}

// play is the body of each rank.
func (c *siteRun) play(ctx context.Context, w rma.Window) error {
	a := &actor{c: c, w: w.(*sim.Window)}
	c.at = a
	switch r := int(w.Rank()); {
	case r < 3:
		a.n = c.nodes[r]
		return a.lives(a.loop, ctx)
	case r < 6:
		a.n = c.nodes[r-3]
		return a.lives(a.task, ctx)
	case r < 12:
		from := (r - 6) / 2
		l := c.links[from][(from+1+r%2)%3]
		_, err := a.oneLife(func(context.Context) error { return l.run(a) }, ctx)
		return err
	default:
		_, err := a.oneLife(func(context.Context) error { return a.tell() }, ctx)
		return err
	}
}

// conclude checks what is left at the end.
func (c *siteRun) conclude(done func(c *siteRun)) (err error) {
	defer func() {
		if v := recover(); v != nil {
			e, bad := v.(found)
			if !bad {
				panic(v)
			}
			err = c.failed(e)
		}
	}()
	c.account()
	for i := range c.truth {
		r := c.nodes[i].r[i]
		c.check(r.requested.Load()&^flags == r.completed.Load()&^flags, "r%d: %#x requested, %#x completed", i, r.requested.Load(), r.completed.Load())
	}
	for _, n := range c.nodes {
		for from := range Node(3) {
			c.check(n.site.budget.Used(from) == 0, "%d keeps %d bytes of %d for ever", n.node, n.site.budget.Used(from), from)
		}
		c.seen.add(n.site.Counts())
	}
	if done != nil {
		done(c)
	}
	return nil
}

var errLeft = errors.New("the way between the nodes has ended")
