package versions

import (
	"bytes"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/orwl/internal/plan"
	"github.com/orwl/go-orwl/orwl/liveness"
)

// crowd runs a program with a goroutine for each task, and two for the messages that come to each node.
type crowd struct {
	*cluster
	*world
	mu     sync.Mutex // of known, lanes, inFlight and err
	change sync.Cond
	onWay  int
	over   bool
	err    error
}

// until waits until something holds, and reports whether nothing has failed.
func (c *crowd) until(holds func() bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.err == nil && !holds() {
		c.change.Wait()
	}
	return c.err == nil
}

// do does the work that a call has left, and raises a counter.
func (c *crowd) do(x int, w *Work, own ...Publication) {
	c.mu.Lock()
	for _, p := range slices.Concat(w.Publish, own) {
		if c.known[x][p.Counter] < p.Round {
			c.known[x][p.Counter] = p.Round
		}
	}
	c.mu.Unlock()
	for _, to := range w.Nodes {
		for header, bulk, ok := c.world.nodes[x].Pass(to, nil, nil); ok; header, bulk, ok = c.world.nodes[x].Pass(to, nil, nil) {
			c.mu.Lock()
			c.lanes = append(c.lanes, message{x, to, header, bulk})
			c.onWay++
			c.mu.Unlock()
		}
	}
	c.change.Broadcast()
}

func (c *crowd) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = err
	c.change.Broadcast()
}

// receive takes messages until the end.
func (c *crowd) receive(x int) {
	for {
		var m message
		mine := func(m message) bool { return m.to == x }
		if !c.until(func() bool { return c.over || slices.ContainsFunc(c.lanes, mine) }) {
			return
		}
		c.mu.Lock()
		at := slices.IndexFunc(c.lanes, mine)
		if at >= 0 {
			m = c.lanes[at]
			c.lanes = slices.Delete(c.lanes, at, at+1)
		}
		over := c.over
		c.mu.Unlock()
		switch {
		case at >= 0:
			var w Work
			if err := c.world.nodes[x].Take(m.from, m.header, m.bulk, &w); err != nil {
				c.fail(err)
				return
			}
			c.do(x, &w)
			c.mu.Lock()
			c.onWay--
			c.mu.Unlock()
			c.change.Broadcast()
		case over:
			return
		}
	}
}

// work runs a task.
func (c *crowd) work(t int) {
	for i := range c.steps[t] {
		s := &c.steps[t][i]
		for _, j := range s.Accesses {
			a := &c.all[c.of[t][j]]
			if s.Op == liveness.Acquire {
				if !c.until(func() bool { return c.met(c.world, a, s.round) }) {
					return
				}
				m := c.copies[a.node][a.resource]
				if want := a.sees[s.round-1]; !bytes.Equal(m.b, want) {
					c.fail(fmt.Errorf("task %d, access %d in round %d: the bytes are\n%x, want\n%x", t, a.index, s.round, m.b, want))
					return
				}
				if a.writes {
					a.tear(m.b)
				}
				continue
			}
			if !c.publish(a, s.round, s.last && !c.quiet[t], false) {
				return
			}
		}
	}
	var turns sync.WaitGroup
	for _, i := range c.of[t] {
		turns.Go(func() { c.turns(&c.all[i]) })
	}
	turns.Wait()
}

// turns ends an access, and takes its empty turns.
func (c *crowd) turns(a *access) {
	if a.position > 0 && c.quiet[a.task] {
		var w Work
		state, own := Rests, Publication{Counter: a.counter, Round: uint32(c.last[a.task])}
		if own.Round >= c.plan.Turns(a.counter) {
			state, own.Round = Ended, plan.Ended
		}
		c.world.nodes[a.node].Ends(a.counter, state, &w)
		c.do(a.node, &w, own)
	}
	for k := uint32(c.last[a.task]) + 1; a.position > 0 && k <= c.plan.Turns(a.counter); k++ {
		if !c.until(func() bool { return c.met(c.world, a, k) }) || !c.publish(a, k, true, true) {
			return
		}
	}
}

// publish releases a round of an access.
func (c *crowd) publish(a *access, k uint32, last, empty bool) bool {
	state, value := Goes, k
	if last {
		state = Rests
		if k >= c.plan.Turns(a.counter) {
			state, value = Ended, plan.Ended
		}
	}
	var changed []Span
	if m := c.copies[a.node][a.resource]; a.writes && !empty {
		m.b, changed = a.change(m.b, k)
	}
	var w Work
	if err := c.world.nodes[a.node].Released(a.counter, k, changed, state, &w); err != nil {
		c.fail(err)
		return false
	}
	c.do(a.node, &w, Publication{Counter: a.counter, Round: value})
	return true
}

// run runs the program.
func (c *crowd) run() error {
	var work, receivers sync.WaitGroup
	c.change.L, c.onWay = &c.mu, len(c.lanes)
	for x := range c.world.nodes {
		for to := range c.world.nodes { // messages wait since the start
			c.do(x, &Work{Nodes: []int{to}})
		}
		for range 2 {
			receivers.Go(func() { c.receive(x) })
		}
	}
	for t := range c.steps {
		work.Go(func() { c.work(t) })
	}
	work.Wait()
	c.until(func() bool { return c.onWay == 0 })
	c.mu.Lock()
	c.over = true
	c.mu.Unlock()
	c.change.Broadcast()
	receivers.Wait()
	if c.err != nil {
		return c.err
	}
	return c.settled(c.world)
}

// TestConcurrent runs random programs with goroutines, as a run does: workers release and pass while receivers take.
func TestConcurrent(t *testing.T) {
	n := 0
	for seed := range uint64(rings.Sampling(400, 100)) {
		c := randomCluster(seed)
		s := c.start()
		if !c.alive || slices.ContainsFunc(c.all, func(a access) bool { return a.position > 0 && int(c.plan.Turns(a.counter)) > 9 }) {
			continue
		}
		n++
		if err := (&crowd{cluster: c, world: s}).run(); err != nil {
			t.Fatalf("seed %d: %v\n%v", seed, err, c)
		}
	}
	if t.Logf("%d programs", n); n == 0 {
		t.Error("no program")
	}
}
