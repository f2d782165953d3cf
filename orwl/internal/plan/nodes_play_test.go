package plan

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/orwl/liveness"
)

var nodeSeeds = rings.Seeds("plan.nodeseeds", 200, 160_000, "TestNodes: seeds")

// expect notes what an access sees without nodes: the last write of each word, where all tasks do one
// round after another in the start order.
func (c *cluster) expect(a *access) {
	for k := range c.last[a.task] { // the round before, counted from 1
		var sees [wordsEach]uint8
		for _, b := range c.all {
			round := k
			if b.position < a.position {
				round++
			}
			if round = min(round, c.last[b.task]); round == 0 || b.resource != a.resource {
				continue
			}
			for i := range sees {
				if b.changes>>i&1 != 0 {
					sees[i] = max(sees[i], version(uint32(round), b.position))
				}
			}
		}
		a.sees = append(a.sees, sees)
	}
}

// hold notes which accesses a task holds after each of its steps.
func (c *cluster) hold() {
	for t, steps := range c.steps {
		holds := [][]int{nil}
		for _, s := range steps {
			held := slices.Clone(holds[len(holds)-1])
			for _, i := range s.Accesses {
				a := c.of[t][i]
				if s.Op == liveness.Acquire {
					held = append(held, a)
				} else {
					held = slices.DeleteFunc(held, func(b int) bool { return b == a })
				}
			}
			holds = append(holds, held)
		}
		c.holds = append(c.holds, holds)
	}
}

// readsWrong is an error if a task holds an access and sees other bytes than without nodes.
func (c *cluster) readsWrong(w *world) error {
	for t := range c.holds {
		at := w.at[t]
		for _, i := range c.holds[t][at] {
			a := &c.all[i]
			k := c.steps[t][at-1].round
			want := a.sees[k-1]
			for i := range wordsEach {
				if a.changes>>i&1 != 0 {
					want[i] = torn
				}
			}
			if got := w.words[a.node][a.resource]; got != want {
				return fmt.Errorf("task %d on node %d, access %d in round %d: the words are %x, want %x", t, a.node, a.use.access, k, got, want)
			}
		}
	}
	return nil
}

// point is a state of the nodes, and of the queues that would be there without nodes.
type point struct {
	world
	queues [][]use
}

// verdict is what a game on nodes has shown.
type verdict struct {
	outcome
	what      error // says more, if the outcome is not the same
	states    int
	waits     bool // a task waited for a message that was on its way
	deadlocks bool
}

// outcome is how nodes compare with queues.
type outcome int

const (
	same      outcome = iota
	wrongRead         // a task sees other bytes than without nodes
	tooEarly          // a node allows what the queues do not
	stops             // no message is on its way, and a node does not allow what the queues do
)

// moves are the states after a point, and what is wrong in it.
func (c *cluster) moves(p *point, v *verdict) (next []point) {
	if err := c.readsWrong(&p.world); err != nil {
		v.outcome, v.what = wrongRead, err
		return nil
	}
	late, left := -1, false
	for t, steps := range c.steps {
		if int(p.at[t]) == len(steps) {
			continue
		}
		left = true
		step := &steps[p.at[t]]
		if step.Op == liveness.Acquire {
			byQueue, byNode := c.near(t, step.round, int(p.at[c.tasks[t].Ahead.Of])), true
			for _, i := range step.Accesses {
				u := &c.all[c.of[t][i]]
				byQueue = byQueue && c.granted(p.queues[u.resource], u.use)
				byNode = byNode && c.met(&p.world, u.counter, step.round)
			}
			if byNode && !byQueue {
				v.outcome, v.what = tooEarly, fmt.Errorf("node %d lets task %d begin round %d, and the queues do not", c.node[t], t, step.round)
				return nil
			}
			if !byNode {
				if byQueue {
					late = t
				}
				continue
			}
		}
		next = append(next, c.step(p, t, step))
	}
	next = c.turns(p, left, next)
	messages := len(next)
	next = c.arrivals(p, next)
	if messages = len(next) - messages; messages > 0 {
		v.waits = v.waits || late >= 0
		return next
	}
	if left && len(next) == 0 {
		v.deadlocks = true
	}
	// All messages have arrived. Empty turns may make a task wait that the queues let go on.
	if late >= 0 && (!c.turning || len(next) == 0 && c.passed) {
		v.outcome, v.what = stops, fmt.Errorf("node %d does not let task %d begin round %d, and the queues do", c.node[late], late, c.steps[late][p.at[late]].round)
	}
	return next
}

// step is the point after a step of a task.
func (c *cluster) step(p *point, t int, step *step) point {
	n := *p
	n.at[t]++
	if step.Op == liveness.Release {
		n.queues = slices.Clone(p.queues)
	}
	for _, i := range step.Accesses {
		u := &c.all[c.of[t][i]]
		if step.Op == liveness.Acquire {
			c.acquire(&n.world, u)
			continue
		}
		c.release(&n.world, u, step.round)
		q := slices.Clone(n.queues[u.resource])
		if !step.ends {
			q = append(q, u.use) // requested again before it is released
		}
		at := slices.Index(q, u.use)
		n.queues[u.resource] = slices.Delete(q, at, at+1)
	}
	return n
}

// turns adds the positions after each empty turn.
func (c *cluster) turns(p *point, left bool, next []point) []point {
	if !left || !c.turning {
		return next
	}
	for counter, t := range c.owner {
		done := c.published(&p.world, counter)
		if int(p.at[t]) == len(c.steps[t]) && done < min(c.plan.Turns(counter), 4) && c.met(&p.world, counter, done+1) {
			n := *p
			n.empty[counter]++
			c.release(&n.world, &c.all[c.first[counter]], done+1)
			next = append(next, n)
		}
	}
	return next
}

// arrivals adds the positions after each message that may arrive.
func (c *cluster) arrivals(p *point, next []point) []point {
	for from := range mostNodes {
		for to := range mostNodes {
			lane := p.lanes[from][to]
			for at := 0; at < len(lane); at += messageSize {
				if c.arrives(lane, at) {
					n := *p
					c.arrive(&n.world, from, to, at)
					next = append(next, n)
				}
			}
		}
	}
	return next
}

// explore visits all states, and gives up when there are more than most. The queues are no part of a
// state: what they grant follows from what the tasks have done. TestRandom shows it.
func (c *cluster) explore(most int) (v verdict, all bool) {
	first := point{c.start(), c.begin(c.names).queues}
	seen := map[world]bool{first.world: true}
	todo := []point{first}
	for len(todo) > 0 {
		p := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if v.states++; v.states > most {
			return v, false
		}
		next := c.moves(&p, &v)
		if v.outcome != same {
			return v, true
		}
		for _, n := range next {
			if !seen[n.world] {
				seen[n.world] = true
				todo = append(todo, n)
			}
		}
	}
	return v, true
}

// walk plays one random schedule.
func (c *cluster) walk(rng *rand.Rand, v *verdict) {
	p := point{c.start(), c.begin(c.names).queues}
	for {
		v.states++
		next := c.moves(&p, v)
		if len(next) == 0 || v.outcome != same {
			return
		}
		p = next[rng.IntN(len(next))]
	}
}

// How far a system is explored, and how many schedules are played of a larger one.
const (
	mostStates = 1000
	schedules  = 10
)

// play explores a small system, and plays schedules of a larger one.
func (c *cluster) play(seed uint64) (v verdict, all bool) {
	if v, all = c.explore(mostStates); all {
		return v, true
	}
	rng := rand.New(rand.NewPCG(seed, 4))
	for range schedules {
		if c.walk(rng, &v); v.outcome != same {
			break
		}
	}
	return v, false
}

// TestNodes plays random systems on two and three nodes: each access sees what it sees without nodes,
// and when all messages have arrived, each node allows what the queues allow.
//
// 10^6 systems, 10^5 in a minute or two:
//
//	go test ./orwl/internal/plan -run 'TestNodes$' -plan.nodeseeds 1000000 -timeout 2h
func TestNodes(t *testing.T) {
	rings.Computes(t)
	t.Parallel()
	n, whole, states, waits, turning, dead := 0, 0, 0, 0, 0, 0
	for seed := range nodeSeeds.All() {
		c := randomCluster(seed, none, seed%3 == 0)
		v, all := c.play(seed)
		if v.outcome != same {
			t.Fatalf("seed %d: %v\n%v\ngo test ./orwl/internal/plan -run 'TestNodes$' -plan.nodeseeds %d+1", seed, v.what, c, seed)
		}
		n++
		states += v.states
		if all {
			whole++
		}
		if v.waits {
			waits++
		}
		if c.turning {
			turning++
		}
		if v.deadlocks {
			dead++
		}
	}
	if n > 1 && min(waits, turning, dead) == 0 {
		t.Errorf("%d systems wait for a message, %d take empty turns, %d stop", waits, turning, dead)
	}
	t.Logf("%d systems, %d of them explored whole, %d states; %d wait for a message, %d take empty turns, %d stop",
		n, whole, states, waits, turning, dead)
}

// specimen is a small program of one resource on nodes.
type specimen struct {
	variant
	queue      string
	last, node []int
	home       int
	changes    []uint8 // the words that each writer writes
	want       outcome
}

// cluster is the specimen by the rule, or by a variant.
func (s *specimen) cluster(m variant) *cluster {
	system, home := systemOf(s.queue), map[string]int{"r0": s.home}
	g := gameOnNodes(system, rounds(s.last...), s.last, most, canonical, s.node, home, m)
	next := 0
	return newCluster(g, s.node, home, func() uint8 { next++; return s.changes[next-1] }, m)
}

// TestSpecimens plays a small program for each variant that shows what is wrong with it. By the rule the
// program is right.
func TestSpecimens(t *testing.T) {
	for _, s := range []specimen{
		// The third version arrives before the second one, which goes over it.
		{pushed, "W0 W1 W2", []int{2, 2, 2}, []int{2, 1, 0}, 0, []uint8{2, 1, 2}, wrongRead},
		// Node 1 has the credit of the reader, and not the version that the reader has read.
		{pushedNearest, "R0 W1 W2", []int{2, 2, 2}, []int{2, 1, 0}, 0, []uint8{2, 1}, wrongRead},
		{creditStands, "R0 W1 W2", []int{2, 2, 2}, []int{2, 1, 0}, 0, []uint8{2, 1}, wrongRead},
		// Task 1 has ended, and task 2 overtakes task 0.
		{nearestCredits, "R0 W1 W2", []int{2, 1, 2}, []int{1, 0, 0}, 0, []uint8{2, 1}, tooEarly},
		{noCredits, "R0 W1", []int{2, 2}, []int{1, 0}, 0, []uint8{1}, tooEarly},
		{early, "R0 W1", []int{2, 2}, []int{1, 0}, 0, []uint8{1}, wrongRead},
		{overtaken, "W0 W1 R2", []int{2, 2, 2}, []int{1, 1, 0}, 0, []uint8{1, 1}, wrongRead},
		// The writer's own version comes back while it writes the next one.
		{echoed, "W0", []int{2}, []int{1}, 0, []uint8{1}, wrongRead},
		{silent, "R0 W1", []int{2, 2}, []int{1, 0}, 0, []uint8{0}, stops},
		{endless, "R0 W1", []int{1, 2}, []int{1, 0}, 0, []uint8{1}, stops},
	} {
		for _, m := range []variant{none, s.variant} {
			want := s.want
			if m == none {
				want = same
			}
			if v, all := s.cluster(m).explore(mostStates); v.outcome != want || !all {
				t.Errorf("%q on nodes %v, variant %d: outcome %d, want %d: %v", s.queue, s.node, m, v.outcome, want, v.what)
			}
		}
	}
}

// TestVariants plays the variants of the rule on random systems, and counts how many are the same, read
// wrong, are too early, and stop. With equal rounds two of the variants are right.
func TestVariants(t *testing.T) {
	rings.Needs(t, rings.Change)
	rings.Computes(t)
	t.Parallel()
	const systems = 1000
	for i, row := range []struct {
		name         string
		variant      variant
		equal, mixed [4]int // systems by outcome, where all tasks have two rounds, and where they differ
	}{
		{"a writer sends to all users", pushed, [4]int{925, 75, 0, 0}, [4]int{971, 29, 0, 0}},
		{"the same, nearest conditions", pushedNearest, [4]int{873, 127, 0, 0}, [4]int{837, 23, 140, 0}},
		{"nearest conditions", nearestCredits, [4]int{1000, 0, 0, 0}, [4]int{878, 2, 120, 0}},
		{"a credit stands for a version", creditStands, [4]int{970, 30, 0, 0}, [4]int{994, 6, 0, 0}},
		{"no credits", noCredits, [4]int{504, 0, 496, 0}, [4]int{670, 0, 330, 0}},
		{"a version before its bytes", early, [4]int{535, 465, 0, 0}, [4]int{656, 344, 0, 0}},
		{"a version overtakes another one", overtaken, [4]int{858, 142, 0, 0}, [4]int{931, 69, 0, 0}},
		{"the home sends to the writer, too", echoed, [4]int{887, 113, 0, 0}, [4]int{866, 134, 0, 0}},
		{"no version if nothing changed", silent, [4]int{753, 0, 0, 247}, [4]int{837, 0, 0, 163}},
		{"an end is not sent", endless, [4]int{1000, 0, 0, 0}, [4]int{795, 0, 0, 205}},
	} {
		if !rings.Takes(i, 4) {
			continue
		}
		for equal, want := range map[bool][4]int{true: row.equal, false: row.mixed} {
			var got [4]int
			for seed := range uint64(systems) {
				v, _ := randomCluster(seed, row.variant, equal).play(seed)
				got[v.outcome]++
			}
			if got != want {
				t.Errorf("%s, equal rounds %t: the outcomes of %d systems are %v, want %v", row.name, equal, systems, got, want)
			}
		}
	}
}

// TestEachConditionBetweenNodes drops each condition, and shifts it by a round. On some nodes a state
// differs: no condition between two nodes can be left out.
func TestEachConditionBetweenNodes(t *testing.T) {
	rings.Computes(t)
	t.Parallel()
	n := 0
	for _, text := range columns() {
		tasks := len(systemOf(text).Tasks)
		s := specimen{queue: text, last: slices.Repeat([]int{2}, tasks), changes: []uint8{1, 2, 1}}
		s.node = make([]int, tasks)
		for counter, waits := range s.cluster(none).waits {
			for i := range waits {
				for name, change := range map[string]func([]wait) []wait{
					"dropped":              func(w []wait) []wait { return slices.Delete(w, i, i+1) },
					"shifted by one round": func(w []wait) []wait { w[i].lag ^= 1; return w },
				} {
					if n++; !s.differs(counter, i, change) {
						t.Errorf("%q: condition %d of counter %d is %s, and nothing differs on any nodes", text, i, counter, name)
					}
				}
			}
		}
	}
	t.Logf("%d changes", n)
}

// differs reports whether a change of a condition between two nodes shows on some nodes.
func (s *specimen) differs(counter, i int, change func([]wait) []wait) bool {
	for nodes := range 81 {
		for t := range s.node {
			s.node[t], nodes = nodes%mostNodes, nodes/mostNodes
		}
		s.home = nodes % mostNodes
		c := s.cluster(none)
		if c.node[c.owner[counter]] == c.node[c.owner[c.waits[counter][i].counter]] {
			continue
		}
		c.waits[counter] = change(c.waits[counter])
		if v, _ := c.explore(mostStates); v.outcome != same {
			return true
		}
	}
	return false
}
