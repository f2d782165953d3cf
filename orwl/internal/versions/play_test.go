package versions

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"

	modes "github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/net/wire"
	"github.com/orwl/go-orwl/orwl/internal/plan"
	"github.com/orwl/go-orwl/orwl/liveness"
)

// This file plays programs on several nodes: their tasks, the real nodes of this package, and a network. A state is
// the state of all of them. The play knows the whole truth, and compares with it what each node allows and sees.

// wordSize is the bytes of a word. A resource has a few of them.
const wordSize = 8

// words are the bytes of a resource on a node.
type words struct{ b []byte }

func (m *words) Bytes() []byte { return m.b }

func (*words) Came(int, int) {}
func (*words) Enter()        {}
func (*words) Leave()        {}

func (m *words) Resize(size int) error {
	b := make([]byte, size)
	copy(b, m.b)
	m.b = b
	return nil
}

// program is what is played.
type program struct {
	system liveness.System
	tasks  []plan.Task
	last   []int // the rounds that each task does
	nodes  int
	homes  map[string]int
	quiet  []bool // by task: its last round does not say that it is the last one
	zero   []bool // by resource: it has not been written before the run
	writes map[[2]int]write
	order  func(task, round int) []liveness.Step
	network
	specimen
}

// write is what an access of a task changes in each round.
type write struct {
	words uint8 // a bit for each
	grows bool  // the size changes with the round
}

// network says which messages may overtake others.
type network struct {
	loose bool // a message may overtake any other one; else one with bytes overtakes, and is overtaken
	late  bool // a message may wait until something joins it
	tight bool // a message has few entries and bytes
}

// specimen is a caller's mistake.
type specimen int

const (
	right      specimen = iota
	early               // a read is released before its body
	unfinished          // a write is released before its body
	noBegin             // a task begins before the first versions have come
	silent              // a write that has changed nothing says nothing
	endless             // an access does not say that it has ended
)

// access is an access of a task in a play.
type access struct {
	task, index, node, counter, resource int
	position                             uint32
	writes                               bool
	write
	sees [][]byte // by round: the bytes without nodes
}

// cluster is a program in play. Its fields do not change.
type cluster struct {
	program
	plan    *plan.Plan
	all     []access
	of      [][]int  // by task: its accesses
	steps   [][]step // by task
	crosses []bool   // by task
	final   [][]byte // by resource: the bytes in the end
	shared  []bool   // by resource
	turning bool     // a task takes empty turns
	alive   bool     // the system goes round for ever
}

type step struct {
	liveness.Step
	round uint32
	last  bool
}

// world is a state.
type world struct {
	at     []int  // by task: steps done
	turns  []int  // by counter: empty turns
	held   []bool // by access
	ended  []bool // by access: it has no round left, and has said so
	nodes  []*Node
	copies [][]*words // by node and resource
	known  [][]uint32 // by node: what the counters have published there
	lanes  []message  // on their way
}

type message struct {
	from, to     int
	header, bulk []byte
}

func newCluster(p program) *cluster {
	if p.quiet == nil {
		p.quiet = make([]bool, len(p.tasks))
	}
	c := &cluster{program: p, plan: plan.OfSystemOnNodes(p.system, p.tasks, p.homes), alive: true}
	number := make(map[string]int) // the plan numbers resources in this way
	for t, task := range p.system.Tasks {
		c.of = append(c.of, nil)
		for i, a := range task.Accesses {
			if _, named := number[a.Resource]; !named {
				number[a.Resource] = len(number)
			}
			c.of[t] = append(c.of[t], len(c.all))
			c.all = append(c.all, access{
				task: t, index: i, node: p.tasks[t].Node, counter: c.plan.Counter(t, i), resource: number[a.Resource],
				writes: a.Mode == modes.Write, write: p.writes[[2]int{t, i}],
			})
		}
		c.crosses = append(c.crosses, len(task.Accesses) > 1 && c.plan.Counter(t, 0) != c.plan.Counter(t, 1) && !p.tasks[t].Apart && len(task.Sequence) <= 2)
		var all []step
		for k := range p.last[t] {
			steps := p.order(t, k)
			if len(steps) == 0 && len(task.Accesses) > 0 {
				both := make([]int, len(task.Accesses))
				for i := range both {
					both[i] = i
				}
				steps = []liveness.Step{{Op: liveness.Acquire, Accesses: both}, {Op: liveness.Release, Accesses: both}}
			}
			for _, s := range steps {
				all = append(all, step{s, uint32(k + 1), k == p.last[t]-1})
			}
		}
		c.steps = append(c.steps, all)
		for _, a := range c.of[t] {
			c.turning = c.turning || p.tasks[t].Rounds != 0 && uint32(p.last[t]) < c.plan.Turns(c.all[a].counter)
		}
	}
	position := make([]uint32, c.plan.Resources())
	for _, f := range p.system.Order() {
		if p.tasks[f.Task].Rounds != 0 {
			a := &c.all[c.of[f.Task][f.Access]]
			position[a.resource]++
			a.position = position[a.resource]
		}
	}
	var passes liveness.System
	for t, task := range p.system.Tasks {
		if p.tasks[t].Rounds != 0 {
			passes.Tasks = append(passes.Tasks, task)
		}
	}
	c.alive = passes.Check() == nil
	for r := range c.plan.Resources() {
		shared := false
		for _, u := range c.plan.Uses(r) {
			shared = shared || int(u.Node) != c.plan.Home(r)
		}
		c.shared = append(c.shared, shared)
		c.run(r)
	}
	return c
}

// begin is the bytes of a resource before the run.
func (c *cluster) begin(r int) []byte {
	b := make([]byte, 2*wordSize)
	if !c.zero[r] {
		binary.LittleEndian.PutUint64(b, 77)
		binary.LittleEndian.PutUint64(b[wordSize:], 78)
	}
	return b
}

// run runs the writes of a resource one after the other, and notes what each access sees.
func (c *cluster) run(r int) {
	b := c.begin(r)
	var uses []*access
	for i := range c.all {
		if a := &c.all[i]; a.resource == r && a.position > 0 {
			uses = append(uses, a)
		}
	}
	slices.SortFunc(uses, func(x, y *access) int { return int(x.position) - int(y.position) })
	for k := range uint32(slices.Max(append(c.last, 0))) {
		for _, a := range uses {
			if int(k) >= c.last[a.task] {
				continue
			}
			a.sees = append(a.sees, slices.Clone(b))
			if a.writes {
				b, _ = a.change(slices.Clone(b), k+1)
			}
		}
	}
	c.final = append(c.final, b)
}

// change makes a round of a write, and says what it has changed.
func (a *access) change(b []byte, k uint32) (after []byte, changed []Span) {
	if a.grows {
		after = make([]byte, (int(k+a.position)%3+1)*wordSize)
		copy(after, b)
		b = after
	}
	for i := range len(b) / wordSize {
		if a.words>>i&1 != 0 {
			binary.LittleEndian.PutUint64(b[i*wordSize:], uint64(k)<<8|uint64(a.position))
			changed = append(changed, Span{i * wordSize, wordSize})
		}
	}
	return b, changed
}

// tear spoils the words that a write is about to change.
func (a *access) tear(b []byte) {
	for i := range len(b) / wordSize {
		if a.words>>i&1 != 0 {
			binary.LittleEndian.PutUint64(b[i*wordSize:], ^uint64(0))
		}
	}
}

// start is the first state.
func (c *cluster) start() *world {
	s := &world{
		at: make([]int, len(c.of)), turns: make([]int, c.plan.Counters()), held: make([]bool, len(c.all)), ended: make([]bool, len(c.all)),
		known: make([][]uint32, c.program.nodes), copies: make([][]*words, c.program.nodes),
	}
	for x := range c.program.nodes {
		s.known[x] = make([]uint32, c.plan.Counters())
		copies := make([]Copy, c.plan.Resources())
		for r := range copies {
			m := &words{c.begin(r)}
			if here := c.plan.Home(r) == x; !here && !c.zero[r] && c.shared[r] {
				m.b = bytes.Repeat([]byte{0xee}, 3*wordSize) // bytes of an earlier run
			}
			s.copies[x] = append(s.copies[x], m)
			copies[r] = Copy{Memory: m, Zero: c.zero[r] && (c.plan.Home(r) == x || r%2 == 0)}
			if c.zero[r] && !copies[r].Zero {
				copy(m.b, []byte{1, 2, 3})
			}
		}
		n, err := New(Options{Run: 9, Node: x, Nodes: c.program.nodes, Plan: c.plan, Copies: copies})
		if err != nil {
			panic(err)
		}
		if c.tight {
			n.limits = limits{header: 9, bulk: 3 * wordSize}
		}
		s.nodes = append(s.nodes, n)
	}
	for x, n := range s.nodes {
		n.Begin(new(Work))
		for i := range c.all {
			if a := &c.all[i]; a.node == x && a.position > 0 && c.last[a.task] == 0 && !c.quiet[a.task] {
				c.end(s, i)
			}
		}
	}
	c.flush(s)
	return s
}

// end says that an access has no round left.
func (c *cluster) end(s *world, i int) {
	a, state := &c.all[i], Rests
	if k := c.done(s, a); k >= c.plan.Turns(a.counter) {
		state = Ended
		s.known[a.node][a.counter] = plan.Ended
	}
	for j := range c.all { // the accesses of a task that does not cross nodes have one counter
		s.ended[j] = s.ended[j] || c.all[j].counter == a.counter
	}
	s.nodes[a.node].Ends(a.counter, state, new(Work))
}

// flush passes all that waits, if nothing waits for more to join it.
func (c *cluster) flush(s *world) {
	for x := range s.nodes {
		for to := range s.nodes {
			for !c.late && c.pass(s, x, to) {
			}
		}
	}
}

// pass sends one message of what waits on a node for another one.
func (c *cluster) pass(s *world, from, to int) bool {
	header, bulk, ok := s.nodes[from].Pass(to, nil, nil)
	if ok {
		once(header)
		s.lanes = append(s.lanes, message{from, to, header, bulk})
	}
	return ok
}

// once panics if a message says nothing, or something twice.
func once(header []byte) {
	r := wire.NewReader(header)
	n := r.Array() - 1
	r.Uint()
	seen := make(map[[2]uint64]bool)
	for range n {
		fields := r.Array()
		e := [2]uint64{r.Uint(), r.Uint()}
		if seen[e] {
			panic(fmt.Sprint("a message says twice ", e))
		}
		seen[e] = true
		for range fields - 2 {
			r.Uint()
		}
	}
	if r.Done() != nil || n == 0 {
		panic(fmt.Sprint("a message of ", n, r.Err()))
	}
}

// met reports whether a node lets an access begin round k.
func (c *cluster) met(s *world, a *access, k uint32) bool {
	if c.specimen != noBegin && c.shared[a.resource] && !s.nodes[a.node].Begun() {
		return false
	}
	for _, w := range c.plan.When(a.counter) {
		if !w.Met(k, s.known[a.node][w.Counter()]) {
			return false
		}
	}
	return true
}

// granted reports whether the queue of its resource would grant an access round k: this is the rule of package plan,
// applied to what has really happened.
func (c *cluster) granted(s *world, a *access, k uint32) bool {
	for i := range c.all {
		b := &c.all[i]
		if b.resource != a.resource || b.position == 0 || b == a || !a.writes && !b.writes {
			continue
		}
		need := k
		if b.position > a.position {
			need--
		}
		if c.done(s, b) < need && !s.ended[i] {
			return false
		}
	}
	return true
}

// done is how many rounds an access has released.
func (c *cluster) done(s *world, a *access) (done uint32) {
	for _, step := range c.steps[a.task][:s.at[a.task]] {
		if step.Op == liveness.Release && slices.Contains(step.Accesses, a.index) {
			done = step.round
		}
	}
	return done
}

// release publishes round k of an access: first its bytes, then the counter on its own node.
func (c *cluster) release(s *world, a *access, k uint32, empty bool) error {
	n, state, value := s.nodes[a.node], Goes, k
	if empty || int(k) == c.last[a.task] && !c.quiet[a.task] {
		s.ended[c.of[a.task][a.index]] = true
		state = Rests
		if k >= c.plan.Turns(a.counter) {
			state, value = Ended, plan.Ended
		}
	}
	var changed []Span
	m := s.copies[a.node][a.resource]
	if a.writes && !empty {
		m.b, changed = a.change(m.b, k)
	}
	switch {
	case c.specimen == early && !a.writes, c.specimen == unfinished && a.writes: // was told before
	case c.specimen == silent && a.writes && len(changed) == 0:
	default:
		if c.specimen == endless {
			state = Goes
		}
		if err := n.Released(a.counter, k, changed, state, new(Work)); err != nil {
			return err
		}
	}
	if s.known[a.node][a.counter] < value {
		s.known[a.node][a.counter] = value
	}
	return nil
}

// verdict is what a play has shown.
type verdict struct {
	wrong     error
	states    int
	waits     bool // a task waited for a message
	deadlocks bool
	joins     bool // a version joined another one
	early     bool // a version came before its base
	held      bool // a version waited since too many were on their way
}

// sound is an error if a task sees other bytes than without nodes, or a home says too early that all has come.
func (c *cluster) sound(s *world) error {
	for i, held := range s.held {
		if !held {
			continue
		}
		a := &c.all[i]
		k := c.done(s, a)
		want := slices.Clone(a.sees[k])
		if a.writes {
			a.tear(want)
		}
		if got := s.copies[a.node][a.resource].b; !bytes.Equal(got, want) {
			return fmt.Errorf("task %d on node %d, access %d in round %d: the bytes are\n%x, want\n%x", a.task, a.node, a.index, k+1, got, want)
		}
	}
	for x, n := range s.nodes {
		for r := range c.plan.Resources() {
			if s.copies[x][r] != nil && n.resources[r] != nil && c.shared[r] && n.Over() && !bytes.Equal(s.copies[x][r].b, c.final[r]) {
				return fmt.Errorf("node %d says that all is over, and resource %d is\n%x, want\n%x", x, r, s.copies[x][r].b, c.final[r])
			}
		}
	}
	return nil
}

// moves are the states after a state, and what is wrong in it.
func (c *cluster) moves(s *world, v *verdict) (next []*world) {
	if v.wrong = c.sound(s); v.wrong != nil {
		return nil
	}
	move := func(f func(n *world) error) bool {
		n := c.clone(s)
		if v.wrong == nil {
			v.wrong = f(n)
		}
		if c.flush(n); v.wrong == nil {
			next = append(next, n)
		}
		return v.wrong == nil
	}
	late, left := -1, false
	for t, steps := range c.steps {
		if s.at[t] == len(steps) {
			continue
		}
		left = true
		step := &steps[s.at[t]]
		if step.Op == liveness.Acquire {
			byQueue, byNode := true, true
			for _, i := range step.Accesses {
				a := &c.all[c.of[t][i]]
				byQueue = byQueue && c.granted(s, a, step.round)
				byNode = byNode && c.met(s, a, step.round)
			}
			if byNode && !byQueue {
				v.wrong = fmt.Errorf("node %d lets task %d begin round %d too early", c.tasks[t].Node, t, step.round)
				return nil
			}
			if !byNode {
				if byQueue {
					late = t
				}
				continue
			}
		}
		if !move(func(n *world) error { return c.step(n, t, step) }) {
			return nil
		}
	}
	for i := range c.all {
		a := &c.all[i]
		if a.position == 0 || s.at[a.task] < len(c.steps[a.task]) {
			continue
		}
		if !s.ended[i] {
			left = true
			move(func(n *world) error { c.end(n, i); return nil })
			continue
		}
		if !left {
			continue
		}
		if k := uint32(c.last[a.task]+s.turns[a.counter]) + 1; k <= min(c.plan.Turns(a.counter), 4) && c.met(s, a, k) {
			if !move(func(n *world) error { n.turns[a.counter]++; return c.release(n, a, k, true) }) {
				return nil
			}
		}
	}
	moved := len(next)
	for x := range s.nodes {
		for to := range s.nodes {
			if s.nodes[x].boxes[to].named && c.late {
				n := c.clone(s)
				if c.pass(n, x, to) {
					next = append(next, n)
				}
			}
		}
	}
	for i := range s.lanes {
		if c.arrives(s.lanes, i) && !move(func(n *world) error { return c.arrive(n, i, v) }) {
			return nil
		}
	}
	switch {
	case len(next) > moved:
		v.waits = v.waits || late >= 0
	case late >= 0 && (!c.turning || len(next) == 0 && c.alive):
		v.wrong = fmt.Errorf("node %d does not let task %d begin round %d, and nothing is on its way", c.tasks[late].Node, late, c.steps[late][s.at[late]].round)
	case len(next) == 0 && left:
		v.deadlocks = true
	case !left && len(next) == 0:
		v.wrong = c.settled(s)
	}
	return next
}

// settled is an error if all is over, and a copy is not what it should be.
func (c *cluster) settled(s *world) error {
	for x, n := range s.nodes {
		if !n.Over() || !n.Begun() {
			return fmt.Errorf("all tasks have ended, and node %d waits for more", x)
		}
		for r, res := range n.resources {
			if res != nil && !bytes.Equal(s.copies[x][r].b, c.final[r]) {
				return fmt.Errorf("in the end resource %d is on node %d\n%x, want\n%x", r, x, s.copies[x][r].b, c.final[r])
			}
		}
	}
	return nil
}

// step does a step of a task.
func (c *cluster) step(s *world, t int, step *step) error {
	s.at[t]++
	for _, i := range step.Accesses {
		a := &c.all[c.of[t][i]]
		if step.Op == liveness.Release {
			s.held[c.of[t][i]] = false
			if err := c.release(s, a, step.round, false); err != nil {
				return err
			}
			continue
		}
		s.held[c.of[t][i]] = true
		if a.writes {
			a.tear(s.copies[a.node][a.resource].b)
		}
		if c.specimen == early && !a.writes || c.specimen == unfinished && a.writes {
			state := Goes
			if step.last {
				state = Ended
			}
			_, changed := a.change(slices.Clone(s.copies[a.node][a.resource].b), step.round)
			if err := s.nodes[a.node].Released(a.counter, step.round, changed, state, new(Work)); err != nil {
				return err
			}
		}
	}
	return nil
}

// inOrder is the size of the largest bulk whose messages stay in order.
const inOrder = wordSize

// arrives reports whether a message may be the next one to arrive.
func (c *cluster) arrives(lanes []message, at int) bool {
	m := lanes[at]
	for _, before := range lanes[:at] {
		if !c.loose && before.from == m.from && before.to == m.to && max(len(before.bulk), len(m.bulk)) <= inOrder {
			return false
		}
	}
	return true
}

// arrive takes a message.
func (c *cluster) arrive(s *world, at int, v *verdict) error {
	m := s.lanes[at]
	s.lanes = slices.Delete(s.lanes, at, at+1)
	var w Work
	if err := s.nodes[m.to].Take(m.from, m.header, m.bulk, &w); err != nil {
		return fmt.Errorf("node %d refuses a message: %w", m.to, err)
	}
	for i := range m.bulk { // the memory is used again
		m.bulk[i] = 0xdd
	}
	for _, p := range w.Publish {
		if counter := &s.known[m.to][p.Counter]; *counter < p.Round {
			*counter = p.Round
		}
	}
	for _, r := range s.nodes[m.to].resources {
		v.early = v.early || r != nil && slices.ContainsFunc(r.early, func(k kept) bool { return k.used })
	}
	return nil
}

// String is the program and where it runs.
func (c *cluster) String() string {
	node := make([]int, len(c.tasks))
	for t := range node {
		node[t] = c.tasks[t].Node
	}
	return fmt.Sprintf("%v\nrounds %v, quiet %v, nodes of the tasks %v, homes %v, zero %v, %+v", c.system, c.last, c.quiet, node, c.homes, c.zero, c.network)
}

// explore visits all states, and gives up when there are more than most.
func (c *cluster) explore(most int) (v verdict, all bool) {
	first := c.start()
	seen := map[string]bool{c.key(first): true}
	todo := []*world{first}
	for len(todo) > 0 {
		s := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if v.states++; v.states > most {
			return v, false
		}
		next := c.moves(s, &v)
		if v.wrong != nil {
			return v, true
		}
		for _, n := range next {
			c.look(n, &v)
			if key := c.key(n); !seen[key] {
				seen[key] = true
				todo = append(todo, n)
			}
		}
	}
	return v, true
}

// walk plays one random schedule.
func (c *cluster) walk(rng *rand.Rand, v *verdict) {
	s := c.start()
	for {
		v.states++
		next := c.moves(s, v)
		if len(next) == 0 || v.wrong != nil {
			return
		}
		s = next[rng.IntN(len(next))]
		c.look(s, v)
	}
}

// look notes rare states.
func (c *cluster) look(s *world, v *verdict) {
	for _, n := range s.nodes {
		for _, r := range n.resources {
			if r == nil {
				continue
			}
			for _, l := range r.links {
				v.joins = v.joins || l.waits && len(l.reports) > 1
				v.held = v.held || l.waits && l.n == mostInFlight
			}
		}
	}
}

// play explores a small program, and plays schedules of a larger one.
func (c *cluster) play(seed uint64, most, schedules int) (v verdict, all bool) {
	if v, all = c.explore(most); all {
		return v, true
	}
	rng := rand.New(rand.NewPCG(seed, 4))
	for range schedules {
		if c.walk(rng, &v); v.wrong != nil {
			break
		}
	}
	return v, false
}
