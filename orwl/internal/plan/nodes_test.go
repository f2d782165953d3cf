package plan

import (
	"fmt"
	"math"
	"slices"

	"github.com/orwl/go-orwl/internal/queue"
)

// This file is the plan on several nodes, as a model. The protocol between nodes follows this rule.
//
// # Conditions
//
// The plan is made for the whole program, and is the same on every node ([NewOnNodes]). A task crosses
// nodes if another node uses one of its resources, or is its home. Such a task has a counter for each
// access. A write has one condition more than on one node: the nearest writer before it, if this one is on
// another node and readers stand between the two. Their credits say that the writer is done. They do not say
// that its bytes are here. The node of the access asks for each condition "b has released round k":
//
//	b is a task of this node       the counter of b
//	b writes on another node       the version of the resource here is (k, position of b) or later,
//	                               or b has ended
//	b reads on another node        the credit of b here is k or more, or b has ended
//
// A version is the round of a write, and the position of its access in the start order. The versions of
// a resource grow, and each includes all that stand before it.
//
// # Messages
//
// A version travels from its writer to the home, and from the home to the nodes that use the resource.
// When a write is released, its node stores the bytes, then the version, then the counter. It sends to
// the home: resource, version, which bytes changed, these bytes, and whether the access has ended. It
// sends a version also if nothing changed. The home copies the bytes and stores the version. It sends
// the same to each node that uses the resource, except the writer's. It sorts nothing: a writer waits
// for the version before its own, and that one came through the home.
//
// A credit travels from a reader to the nodes of the accesses that have a condition on it. When a read
// is released, its node sends them the counter and the round.
//
// The last version or credit of an access says that the access has ended. An access that ends without
// a round sends one that says only this. An empty turn ([Plan.Turns]) is a version in which nothing
// changed, or a credit.
//
// The versions of one resource stay in order between two nodes. No other order is needed. A credit
// counts if it is higher than the one before.
//
// # Bytes
//
// Each node that uses a resource has one copy of its bytes, and the home has one, too. Tasks read and
// write it in place. A version that arrives is copied there at once: its writer has waited for all who
// used the bytes. So a receiver needs no buffer, waits for nothing and sends nothing but what a home
// passes on.
//
// A sender takes the bytes at the release, before it stores the version. If a version still waits to
// be sent, the next one joins it: its bytes replace the bytes of the other one, and one message brings
// both. So one buffer of the resource's size is enough for each receiver, and memory is fixed at the
// start. A sender may also take the bytes later, from its copy, even while its next writer changes
// them. Then no task reads the older version any more. The model plays this, too. It saves the buffer,
// but a node then has half of a write under an older version, also if this write fails.

// The limits of a model.
const (
	mostNodes     = 3
	mostResources = 3
	mostTasks     = 9
	mostAccesses  = 15
	mostCounters  = mostAccesses + mostTasks
	wordsEach     = 2 // of a resource
)

// variant is a variant of the rule that looks right.
type variant int

const (
	none           variant = iota
	pushed                 // a writer sends to all users itself, and tasks wait for counters; all conditions are kept
	pushedNearest          // the same with the nearest conditions
	nearestCredits         // the nearest conditions, though accesses end after different rounds
	creditStands           // a writer that waits for readers does not wait for the version before its own
	noCredits              // a writer does not wait for readers on other nodes: it is a version ahead
	early                  // a version is stored before its bytes are there
	overtaken              // a version may overtake another one of its resource
	echoed                 // the home sends a version to its writer, too
	silent                 // a write that changed nothing is not sent
	endless                // the end of an access is not sent
)

// network is how messages travel between two nodes.
type network struct {
	loose bool // a message may overtake another one, except a version of the same resource
	joins bool // a version joins the one before it that has not arrived
	late  bool // the bytes are taken from the sender's copy when they arrive
}

// cluster is a game on nodes.
type cluster struct {
	*game
	network
	variant variant
	node    []int    // by task
	home    []int    // by resource
	copies  []set    // by resource: the nodes that have one
	names   []string // of the resources
	passed  bool     // the system goes round for ever
	turning bool     // a task takes empty turns

	all   []access
	of    [][]int   // by task: its accesses, as they stand in all
	waits [][]wait  // by counter
	owner []int     // by counter: its task
	first []int     // by counter: its first access. A task that crosses nodes has no second one.
	holds [][][]int // by task and steps done: the accesses that it holds
}

// set is a set of nodes.
type set uint8

func (s set) has(node int) bool { return s>>node&1 != 0 }

// access is an access of a task.
type access struct {
	use
	node, resource, counter int
	position                int // in the start order of its resource, from 1
	writes                  bool
	changes                 uint8              // the words that it writes, a bit for each
	credits                 set                // the other nodes where an access has a condition on it
	sees                    [][wordsEach]uint8 // by round: the words without nodes
}

// wait is a condition: the counter has published the round, or the one before.
type wait struct {
	counter int
	lag     uint32
}

const (
	overByte = math.MaxUint8 // an access has ended
	torn     = math.MaxUint8 // a word is being written
)

// version is the version of round k of the access at a position.
func version(k uint32, position int) uint8 { return uint8(k)<<4 | uint8(position) }

// newCluster places a game on nodes. In the plan of the game, a task that crosses nodes has a counter
// for each access. changes says which words a writer writes.
func newCluster(g *game, node []int, home map[string]int, changes func() uint8, m variant) *cluster {
	n := g.plan.Counters()
	c := &cluster{
		game: g, variant: m, node: node, names: g.resources(), passed: g.passes(), turning: g.takesTurns(),
		waits: make([][]wait, n), owner: make([]int, n), first: make([]int, n),
	}
	for _, name := range c.names {
		c.home = append(c.home, home[name])
	}
	for t, task := range g.system.Tasks {
		c.of = append(c.of, nil)
		for i, declared := range task.Accesses {
			a := access{use: use{t, i}, node: node[t], counter: g.plan.Counter(t, i), resource: slices.Index(c.names, declared.Resource)}
			if a.writes = declared.Mode == queue.Write; a.writes {
				a.changes = changes()
			}
			if len(c.of[t]) == 0 || a.counter != c.all[len(c.all)-1].counter {
				c.owner[a.counter], c.first[a.counter] = t, len(c.all)
			}
			c.of[t] = append(c.of[t], len(c.all))
			c.all = append(c.all, a)
		}
	}
	c.wait()
	for a := range c.all {
		c.expect(&c.all[a])
	}
	c.hold()
	return c
}

// wait notes the conditions, and the nodes that are told of a read.
func (c *cluster) wait() {
	for counter := range c.waits {
		for _, w := range c.plan.When(counter) {
			c.waits[counter] = append(c.waits[counter], wait{w.Counter(), w.Lag()})
		}
	}
	for r, q := range c.queues() {
		c.copies = append(c.copies, 1<<c.home[r])
		for i, a := range q {
			c.all[a].position = i + 1
			c.copies[r] |= 1 << c.all[a].node
		}
	}
	for counter, waits := range c.waits {
		here := c.node[c.owner[counter]]
		for _, w := range waits {
			if on := &c.all[c.first[w.counter]]; on.node != here {
				on.credits |= 1 << here
			}
		}
	}
}

// queues are the accesses of each resource in their start order. A task without rounds has none.
func (c *cluster) queues() [][]int {
	queues := make([][]int, len(c.names))
	for _, f := range c.system.Order() {
		if a := c.of[f.Task][f.Access]; c.tasks[f.Task].Rounds != 0 {
			r := c.all[a].resource
			queues[r] = append(queues[r], a)
		}
	}
	return queues
}

// direct reports whether writers send to all users themselves.
func (c *cluster) direct() bool { return c.variant == pushed || c.variant == pushedNearest }

// world is a state of all nodes.
type world struct {
	at    [mostTasks]uint8    // by task: steps done
	empty [mostCounters]uint8 // by counter: empty turns

	words   [mostNodes][mostResources][wordsEach]uint8 // of each copy: the version that wrote the word
	version [mostNodes][mostResources]uint8            // of each copy
	ended   [mostNodes][mostResources]uint16           // the positions of writers that have ended, as the node knows
	credit  [mostNodes][mostCounters]uint8             // by counter: the round that the node was told, or overByte
	lanes   [mostNodes][mostNodes]string               // the messages from a node to another one
}

// message is a version or a credit.
type message struct {
	credit   bool
	counter  uint8
	round    uint8 // or overByte
	resource uint8
	version  uint8 // 0: none
	ended    uint16
	changes  uint8
	words    [wordsEach]uint8
	writer   uint8 // its node
}

// messageSize is the bytes of a message in a lane.
const messageSize = 11

func (m message) text() string {
	b := []byte{0, m.counter, m.round, m.resource, m.version, byte(m.ended), byte(m.ended >> 8), m.changes, m.words[0], m.words[1], m.writer}
	if m.credit {
		b[0] = 1
	}
	return string(b)
}

func parse(s string) message {
	return message{
		credit: s[0] == 1, counter: s[1], round: s[2], resource: s[3], version: s[4], ended: uint16(s[5]) | uint16(s[6])<<8,
		changes: s[7], words: [wordsEach]uint8{s[8], s[9]}, writer: s[10],
	}
}

// start is the state before the first step. An access that has ended without a round tells it.
func (c *cluster) start() (w world) {
	for i := range c.all {
		if a := &c.all[i]; c.tasks[a.task].Rounds != 0 && c.published(&w, a.counter) >= over {
			c.release(&w, a, 0)
		}
	}
	return w
}

// published is what a counter says on its own node.
func (c *cluster) published(w *world, counter int) uint32 {
	t := c.owner[counter]
	n := c.marks[t][w.at[t]][counter] + uint32(w.empty[counter])
	if w.empty[counter] > 0 && n >= c.plan.Turns(counter) {
		return over
	}
	return n
}

// met reports whether the conditions of a counter are met in round k, as far as its node knows.
func (c *cluster) met(w *world, counter int, k uint32) bool {
	here := c.node[c.owner[counter]]
	for _, wait := range c.waits[counter] {
		if k > wait.lag && !c.has(w, here, wait.counter, k-wait.lag) {
			return false
		}
	}
	return true
}

// has reports whether a node knows that a counter has published round k.
func (c *cluster) has(w *world, here, counter int, k uint32) bool {
	on := &c.all[c.first[counter]]
	switch {
	case on.node == here:
		return c.published(w, counter) >= k
	case on.writes && !c.direct():
		return w.version[here][on.resource] >= version(k, on.position) || w.ended[here][on.resource]>>on.position&1 != 0
	case c.variant == noCredits:
		return true
	}
	return uint32(w.credit[here][counter]) >= k
}

// acquire begins an access. The words that it writes have no value meanwhile.
func (c *cluster) acquire(w *world, a *access) {
	for i := range wordsEach {
		if a.changes>>i&1 != 0 {
			w.words[a.node][a.resource][i] = torn
		}
	}
}

// release publishes round k of an access. A turn is empty if its task has no such round. In round 0
// only its end is told.
func (c *cluster) release(w *world, a *access, k uint32) {
	m := message{credit: !a.writes, counter: uint8(a.counter), round: uint8(k), resource: uint8(a.resource), writer: uint8(a.node)}
	if c.published(w, a.counter) >= over && c.variant != endless {
		m.round, m.ended = overByte, 1<<a.position
	}
	if m.credit {
		c.sendAll(w, a.node, a.credits, m)
		return
	}
	if k > 0 {
		m.version = version(k, a.position)
		w.version[a.node][a.resource] = m.version
		if int(k) <= c.last[a.task] {
			m.changes = a.changes
		}
	}
	for i := range wordsEach {
		if m.changes>>i&1 != 0 {
			w.words[a.node][a.resource][i] = m.version
		}
	}
	m.words = w.words[a.node][a.resource]
	switch {
	case c.variant == silent && m.changes == 0 && m.ended == 0:
		return
	case c.variant == early:
		first := m
		first.changes, m.version, m.ended = 0, 0, 0
		c.pass(w, a.node, first)
	}
	c.pass(w, a.node, m)
}

// pass sends a version to the home, or from there to the nodes that use the resource.
func (c *cluster) pass(w *world, from int, m message) {
	to := c.copies[m.resource]
	if home := c.home[m.resource]; from != home && !c.direct() {
		to = 1 << home
	} else if c.variant != echoed {
		to &^= 1 << m.writer
	}
	c.sendAll(w, from, to, m)
}

func (c *cluster) sendAll(w *world, from int, to set, m message) {
	for x := range mostNodes {
		if to.has(x) && x != from {
			c.send(&w.lanes[from][x], m)
		}
	}
}

// send puts a message at the end of a lane.
func (c *cluster) send(lane *string, m message) {
	for at := 0; c.joins && !m.credit && at < len(*lane); at += messageSize {
		before := parse((*lane)[at:])
		if before.credit || before.resource != m.resource {
			continue
		}
		for i := range wordsEach {
			if m.changes>>i&1 == 0 {
				m.words[i] = before.words[i]
			}
		}
		m.changes |= before.changes
		m.ended |= before.ended
		m.version = max(m.version, before.version)
		*lane = (*lane)[:at] + (*lane)[at+messageSize:]
		break
	}
	*lane += m.text()
}

// arrives reports whether a message of a lane may be the next one to arrive.
func (c *cluster) arrives(lane string, at int) bool {
	if at == 0 || !c.loose {
		return at == 0 || c.variant == overtaken
	}
	m := parse(lane[at:])
	for i := 0; i < at; i += messageSize {
		if before := parse(lane[i:]); !m.credit && !before.credit && before.resource == m.resource {
			return false
		}
	}
	return true
}

// arrive takes a message out of a lane.
func (c *cluster) arrive(w *world, from, to, at int) {
	lane := w.lanes[from][to]
	m := parse(lane[at:])
	w.lanes[from][to] = lane[:at] + lane[at+messageSize:]
	if m.credit || c.direct() {
		w.credit[to][m.counter] = max(w.credit[to][m.counter], m.round)
	}
	if m.credit {
		return
	}
	if c.late {
		m.words = w.words[from][m.resource]
	}
	for i := range wordsEach {
		if m.changes>>i&1 != 0 {
			w.words[to][m.resource][i] = m.words[i]
		}
	}
	w.version[to][m.resource] = max(w.version[to][m.resource], m.version)
	w.ended[to][m.resource] |= m.ended
	if to == c.home[m.resource] && !c.direct() {
		c.pass(w, to, m)
	}
}

// String is the system and its nodes.
func (c *cluster) String() string {
	return fmt.Sprintf("%v\nrounds %v, nodes of the tasks %v, homes %v, %+v", c.system, c.last, c.node, c.home, c.network)
}
