package resource

import (
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/orwl/go-orwl/internal/invariant"
	"github.com/orwl/go-orwl/resource/internal/coherence"
)

// enoughSeeds reach every rare state.
const enoughSeeds = 3000

var nodeSeeds = flag.Uint64("resource.nodeseeds", enoughSeeds, "seeds of TestSiteFaults")

// faults are three nodes, two resources with homes on the first two, and everything
// that can happen to nodes and to the ways between them, as chance has it. Lanes are
// delayed without a bound, and overtake one another; nodes stop for a while, or for
// good and start again; ways are cut, which either end finds out in its own time, a
// mirror before the home.
//
// Every write adds one to a count, and its own number to a chain. So what was committed,
// and whether it was made of what was committed before, can be read in the bytes.
type faults struct {
	chance func(n int) int
	clocks bool // nodes look at them before they use a grant
	keep   bool // mirrors keep releases
	alone  int  // the node that comes most often then
	flaw   string
	trace  []string

	net   *network
	nodes [3]*faultyNode
	ways  map[[2]Node]*way
	truth [2]*chronicle

	writes attempts
	cuts   map[[2]Node]int // how often one of two nodes has found the other gone

	served, told, lates, commits, kept, failed int

	flushes int // that knew all
	gone    int // writes that were released and are lost
	quiet   int // of them, those of which no node has found another gone
}

// faultyNode is a node and its places.
type faultyNode struct {
	node        Node
	incarnation uint64
	stopped     bool
	r           [2]*Resource
	places      []*faultyPlace
}

type faultyPlace struct {
	Place
	at     int // the resource
	valid  bool
	write  *attempt // since it was granted
	losses []error
}

// way is what is between two nodes.
type way struct {
	cut        bool
	away, lost [2]bool // of either end: what it thinks of the other
}

// chronicle is what a resource has been through since its home has started.
type chronicle struct {
	states [][2]uint64 // count and chain of each version
	fence  uint64
}

const faultySteps = 500

// survive plays a run, and says what was wrong, if anything.
func survive(chance func(n int) int, flaw string) (c *faults, err error) {
	c = &faults{chance: chance, flaw: flaw, net: newNetwork(3, SiteOptions{}), ways: make(map[[2]Node]*way),
		writes: attempts{by: make(map[[2]uint64]*attempt)}, cuts: make(map[[2]Node]int)}
	c.clocks = chance(2) == 0 && flaw == ""
	c.keep = chance(2) == 0
	defer func() {
		switch r := recover().(type) {
		case nil:
		case error:
			err = r
		default:
			panic(r)
		}
	}()
	for a := range Node(3) {
		for b := range a {
			c.ways[[2]Node{b, a}] = new(way)
		}
		c.nodes[a] = &faultyNode{node: a}
	}
	for i := range c.truth {
		c.truth[i] = &chronicle{states: [][2]uint64{{}}}
	}
	for _, n := range c.nodes {
		c.start(n)
	}
	for range faultySteps {
		c.act()
		c.look()
	}
	c.mend()
	return c, nil
}

func (c *faults) check(so bool, format string, args ...any) {
	if !so {
		panic(violation(format, args...))
	}
}

func (c *faults) note(format string, args ...any) {
	c.trace = append(c.trace, fmt.Sprintf(format, args...))
}

// start makes a node one that knows nothing.
func (c *faults) start(n *faultyNode) {
	n.incarnation++
	o := SiteOptions{Incarnation: n.incarnation}
	if c.clocks {
		o.Suspected = c.suspected(n.node)
	}
	if c.keep {
		o.Later = never
	}
	s := c.net.newSite(n.node, 3, o)
	c.net.sites[n.node] = s
	n.places = nil
	for i := range n.r {
		r, err := NewWith(fmt.Sprint("r", i), 32, Options{Undo: true})
		if err == nil && n.node == Node(i) {
			err = s.Home(r, HomeAt{})
			for range n.incarnation << 12 { // as in an epoch of its own, which mirrors would have to learn
				r.ledger.Raise()
			}
			c.truth[i] = &chronicle{states: [][2]uint64{{}}}
		} else if err == nil {
			err = s.Mirror(r, Node(i))
		}
		c.check(err == nil, "%v", err)
		n.r[i] = r
		n.places = append(n.places, &faultyPlace{at: i}, &faultyPlace{at: i})
	}
}

func (c *faults) way(a, b Node) (w *way, end int) {
	if a < b {
		return c.ways[[2]Node{a, b}], 0
	}
	return c.ways[[2]Node{b, a}], 1
}

func (c *faults) act() {
	n := c.nodes[c.chance(3)]
	switch k := c.chance(100); {
	case k < 44:
		if c.keep && c.chance(4) > 0 { // one is alone for a while
			if c.chance(20) == 0 {
				c.alone = c.chance(3)
			}
			n = c.nodes[c.alone]
		}
		c.step(n, n.places[c.chance(len(n.places))])
	case k < 84:
		for range 1 + c.chance(4) {
			c.moveOne()
		}
	case k < 85:
		c.note("%d stops for a while", n.node)
		n.stopped = true
	case k < 88:
		n.stopped = false
	case k < 89:
		for other := range Node(3) {
			if w, _ := c.way(n.node, other); other != n.node && c.chance(2) == 0 && !w.cut {
				c.note("%d and %d are cut off", n.node, other)
				*w = way{cut: true}
			}
		}
	case k < 90 && c.chance(3) == 0:
		c.crash(n)
	case k < 91:
		c.suspect(n, Node(c.chance(3)))
	case k < 92:
		c.sweep(n)
	case k < 93:
		c.flush(n)
	default:
		c.find(n, Node(c.chance(3)))
	}
}

// sweep sweeps a node once or twice: the second sweep settles what the first has seen.
func (c *faults) sweep(n *faultyNode) {
	before := c.retained(n)
	for range 1 + c.chance(2) {
		c.net.sites[n.node].sweep()
	}
	invariant.Sometimes(c.retained(n) < before, "a retained release is settled by a sweep")
}

// retained is how many releases a node retains.
func (c *faults) retained(n *faultyNode) (releases int) {
	for _, r := range n.r {
		if r.mirror != nil && r.mirror.half.Keeps() {
			releases++
		}
	}
	return releases
}

// step lets a place do what makes sense for it.
func (c *faults) step(n *faultyNode, p *faultyPlace) {
	late := n.stopped // it has been stopped, and does not know yet what that means
	if late && c.chance(3) > 0 {
		return
	}
	switch {
	case p.Held():
		c.leave(n, p, c.chance(3) == 0)
		if late {
			c.lates++
		}
	case late:
	case !p.Requested():
		m := Mode(c.chance(2))
		err := p.Request(n.r[p.at], m)
		c.note("%d requests r%d %v: %v", n.node, p.at, m, err)
		c.check(err == nil || errors.Is(err, ErrLost) || errors.Is(err, ErrStale), "request: %v", err)
		c.heard(n, p, err)
	case p.Granted():
		c.acquire(n, p)
	case c.chance(8) == 0:
		c.note("%d cancels r%d", n.node, p.at)
		c.check(p.Cancel() == nil, "cancel")
	}
}

func (c *faults) acquire(n *faultyNode, p *faultyPlace) {
	err := p.Acquire(context.Background())
	c.note("%d acquires r%d %v: %v", n.node, p.at, p.Mode(), err)
	if err != nil {
		c.check(errors.Is(err, ErrLost) || errors.Is(err, ErrEnded), "acquire: %v", err)
		c.told++
		c.heard(n, p, err)
		c.check(p.Cancel() == nil, "cancel")
		return
	}
	c.served++
	p.write, p.losses = nil, nil
	c.check(p.OnLoss(func(err error) { p.losses = append(p.losses, err) }) == nil, "on loss")
	p.valid = c.believes(Node(p.at), n)
	if c.clocks && Node(p.at) != n.node {
		w, _ := c.way(Node(p.at), n.node)
		c.check(!w.lost[0] && !w.lost[1], "%d begins to use a grant of r%d, whose home has given it up", n.node, p.at)
	}
	if !p.valid {
		return
	}
	// Nobody else is in beside a writer.
	for _, other := range c.nodes {
		for _, q := range other.places {
			if q != p && q.at == p.at && q.Held() && q.valid {
				c.check(p.Mode() == Read && q.Mode() == Read, "r%d is held by %d (%v) and %d (%v)", p.at, n.node, p.Mode(), other.node, q.Mode())
			}
		}
	}
	h := c.truth[p.at]
	b, err := p.Bytes()
	c.check(err == nil, "bytes: %v", err)
	last := uint64(len(h.states) - 1)
	c.check(p.Version() == last && stateIn(b) == h.states[last], "%d sees version %d of r%d, %v, want %d, %v", n.node, p.Version(), p.at, stateIn(b), last, h.states[last])
	if p.Mode() == Write {
		c.check(p.Fence() > h.fence, "fence %d of a writer after %d", p.Fence(), h.fence)
		h.fence = p.Fence()
	}
	if p.Mode() == Write && !(c.keep && c.chance(2) == 0) {
		w, err := p.Writable()
		c.check(err == nil, "writable: %v", err)
		now := c.write(n, p, stateIn(w))
		binary.NativeEndian.PutUint64(w, now[0])
		binary.NativeEndian.PutUint64(w[16:], now[1])
		if c.chance(2) == 0 {
			c.check(p.Dirty(Range{0, 8}) == nil && p.Dirty(Range{16, 8}) == nil, "dirty")
		}
	}
}

func stateIn(b []byte) [2]uint64 {
	return [2]uint64{binary.NativeEndian.Uint64(b), binary.NativeEndian.Uint64(b[16:])}
}

// next is the chain with another link.
func next(chain, number uint64) uint64 { return chain*31 + number }

func (c *faults) leave(n *faultyNode, p *faultyPlace, renew bool) {
	do, how := p.Release, "releases"
	switch {
	case renew:
		do, how = p.Renew, "renews"
	case c.chance(6) == 0:
		do, how = func() error { return c.fail(p) }, "abandons"
	}
	ended := len(p.losses) > 0
	err := do()
	c.look() // at home it is committed at once
	c.note("%d %s r%d %v: %v", n.node, how, p.at, p.Mode(), err)
	late := c.clocks && errors.Is(err, ErrSuspected) // it was told by the release
	c.check(ended == (err != nil) || late, "release: %v, after it was told %v", err, p.losses)
	if err != nil {
		c.check(errors.Is(err, ErrStale) && len(p.losses) == 1, "release: %v, after it was told %v", err, p.losses)
		c.told++
	} else if how != "abandons" {
		c.released(n, p)
	}
	c.check(!p.Held(), "held after release")
	if f := p.r.mirror; f != nil && f.half.Keeps() {
		c.kept++
		if c.chance(8) == 0 {
			c.sweep(n)
		}
	}
	p.valid, p.write = false, nil
}

// fail abandons an access after it has made the bytes, if it has written, what no commit
// may be.
func (c *faults) fail(p *faultyPlace) error {
	if p.wrote {
		if w, err := p.Writable(); err == nil {
			clear(w)
			c.failed++
		}
	}
	if c.flaw == "abandon" {
		return p.Release()
	}
	return p.Abandon(errFire)
}

// believes reports whether the home takes a node for present, in its present life.
func (c *faults) believes(home Node, n *faultyNode) bool {
	if home == n.node {
		return true
	}
	w, _ := c.way(home, n.node)
	return !w.lost[0] && !w.lost[1] && !w.away[0] && !w.away[1]
}

// moveOne lets a message arrive.
func (c *faults) moveOne() {
	all := c.net.busy()
	if len(all) == 0 {
		return
	}
	l := all[c.chance(len(all))]
	w, _ := c.way(l.from, l.to)
	if w.cut && !(c.chance(2) == 0 && w.lost[0] != w.lost[1]) || c.nodes[l.to].stopped {
		return
	}
	m := c.net.lanes[l][0]
	msg, _ := coherence.ParseHeader(m.header)
	if w.cut {
		// What comes late, after one end has given up, may find other bytes.
		m.bulk = append([]byte(nil), m.bulk...)
		m.sum = sum(m.bulk)
		c.net.lanes[l][0] = m
	}
	if c.flaw == "dirty" && msg.Wrote && len(msg.Spans) == 2 {
		msg.Spans, m.bulk = msg.Spans[1:], m.bulk[8:]
		m.header = coherence.AppendHeader(nil, &msg)
		m.sum = sum(m.bulk)
		c.net.lanes[l][0] = m
	}
	err := c.net.move(l)
	c.note("%d>%d %v of r%d, life %d: %v", l.from, l.to, &msg, map[bool]int{true: 1}[msg.Resource == numberOf("r1")], msg.Incarnation, err)
	switch {
	case err == nil:
	case errors.Is(err, ErrOtherLife) && c.flaw == "fence" && msg.Kind < coherence.GrantMessage && msg.Wrote:
		h := c.net.sites[l.to].homes[msg.Resource]
		msg.Bytes = m.bulk
		h.commitWithoutFence(&msg)
	default:
		c.check(errors.Is(err, ErrOtherLife), "%v to %d: %v", &msg, l.to, err)
		c.dropped(l.from, &msg)
	}
	c.look()
}

// commitWithoutFence is what a home would do that does not compare fences.
func (h *home) commitWithoutFence(m *coherence.Message) {
	to, from := h.r.buffer.Bytes(), m.Bytes
	if m.Whole {
		copy(to, from)
	}
	for _, s := range m.Spans {
		copy(to[s.Off:][:s.Len], from)
		from = from[s.Len:]
	}
	h.r.ledger.Commit()
}

// look takes note of what homes have committed.
func (c *faults) look() {
	if c.flaw == "silent" {
		c.silence()
	}
	for i := range c.truth {
		c.committed(i)
	}
}

func (c *faults) committed(i int) {
	r := c.nodes[i].r[i]
	h := c.truth[i]
	last := uint64(len(h.states) - 1)
	switch v := r.ledger.Version(); {
	case v == last+1:
		now := stateIn(r.buffer.Bytes())
		a := c.writes.by[now]
		c.check(a != nil && a.of == h && a.version == v, "r%d: version %d is %v, made of something else than version %d, %v", i, v, now, last, h.states[last])
		a.committed = true
		h.states = append(h.states, now)
		c.commits++
	default:
		c.check(v == last, "r%d: version %d after %d", i, v, last)
	}
}

var errCut = errors.New("cut off")

// find lets a node find out about another one, and what both think of each other
// decides what is next.
func (c *faults) find(n *faultyNode, other Node) {
	if n.node == other || n.stopped {
		return
	}
	w, end := c.way(n.node, other)
	_, there := c.way(other, n.node)
	o := c.nodes[other]
	switch {
	case !w.cut && !o.stopped && !(w.away[0] || w.away[1]):
	case !w.away[end]:
		c.note("%d does not hear %d", n.node, other)
		w.away[end], w.cut = true, true
		c.cutOff(n.node, other)
		c.net.sites[n.node].Away(other, errCut)
		c.invalidate(n, Node(other))
	case w.away[0] && w.away[1] && !w.lost[0] && !w.lost[1] && c.chance(2) == 0:
		c.heal(n, o, w) // in time
	case !w.lost[end] && (w.away[there] || o.stopped):
		c.lose(n, o, w, end)
	case w.lost[0] && w.lost[1]:
		c.heal(n, o, w)
	}
}

// suspect lets a node think that another one may have given it up, whether or not
// there is a reason. Nothing is lost on the way.
func (c *faults) suspect(n *faultyNode, other Node) {
	if n.node == other || n.stopped {
		return
	}
	c.note("%d suspects that %d has given it up", n.node, other)
	c.net.sites[n.node].Suspect(other, errCut)
	c.invalidate(n, other)
}

// suspected is what a node knows by its own clock: a home that has given it up has
// not heard of it for long.
func (c *faults) suspected(n Node) func(Node) error {
	return func(home Node) error {
		if w, _ := c.way(n, home); w.lost[0] || w.lost[1] {
			c.invalidate(c.nodes[n], home)
			return errCut
		}
		return nil
	}
}

// lose lets a node take another one for lost.
func (c *faults) lose(n, o *faultyNode, w *way, end int) {
	c.note("%d takes %d for lost", n.node, o.node)
	w.lost[end], w.cut = true, true
	c.cutOff(n.node, o.node)
	c.net.sites[n.node].Lost(o.node, errCut)
	c.invalidate(n, o.node)
	c.invalidate(o, n.node)
	for _, data := range []bool{false, true} { // what is on the way, this end has forgotten
		delete(c.net.lanes, lane{n.node, o.node, data})
	}
}

// invalidate says that a node's places do not hold any more what has its home on
// another.
func (c *faults) invalidate(n *faultyNode, home Node) {
	for _, p := range n.places {
		if Node(p.at) == home {
			p.valid = false
		}
	}
}

func (c *faults) heal(n, o *faultyNode, w *way) {
	if n.stopped || o.stopped {
		return
	}
	c.note("%d and %d meet again", n.node, o.node)
	c.forget(n.node, o.node)
	*w = way{}
	c.net.sites[n.node].Back(o.node, o.incarnation)
	c.net.sites[o.node].Back(n.node, n.incarnation)
}

// forget ends what is on the lanes between two nodes.
func (c *faults) forget(a, b Node) {
	for _, data := range []bool{false, true} {
		delete(c.net.lanes, lane{a, b, data})
		delete(c.net.lanes, lane{b, a, data})
	}
}

// crash starts a node again. The others find out when it says hello, if not before.
func (c *faults) crash(n *faultyNode) {
	c.note("%d starts again", n.node)
	n.stopped = false
	c.start(n)
	for other := range Node(3) {
		if other == n.node {
			continue
		}
		w, end := c.way(n.node, other)
		o := c.nodes[other]
		_, there := c.way(other, n.node)
		c.forget(n.node, other)
		if !w.lost[there] {
			c.lose(o, n, w, there)
		}
		w.away[there] = true
		w.cut, w.lost[end], w.away[end] = true, true, true
		c.net.sites[n.node].Lost(other, errCut)
	}
}

// mend ends all faults: everybody must be served or told.
func (c *faults) mend() {
	c.note("now all is well")
	for _, n := range c.nodes {
		n.stopped = false
	}
	for pair, w := range c.ways {
		for w.cut || w.away != [2]bool{} || w.lost != [2]bool{} {
			a, b := c.nodes[pair[0]], c.nodes[pair[1]]
			w.cut = true
			if w.away != [2]bool{true, true} {
				for i, n := range []*faultyNode{a, b} {
					if !w.away[i] {
						c.find(n, pair[1-i])
					}
				}
			} else if w.lost[0] != w.lost[1] {
				c.find(a, b.node)
				if w.lost[0] != w.lost[1] {
					c.find(b, a.node)
				}
			} else {
				c.find(a, b.node)
			}
		}
	}
	for busy := true; busy || len(c.net.busy()) > 0; {
		busy = false
		for len(c.net.busy()) > 0 {
			c.moveOne()
			busy = true
		}
		for _, n := range c.nodes {
			for _, p := range n.places {
				if p.Held() {
					c.leave(n, p, false)
					busy = true
				} else if p.Requested() && p.Granted() {
					c.acquire(n, p)
					busy = true
				}
			}
		}
	}
	for _, n := range c.nodes {
		for i, p := range n.places {
			c.check(!p.Requested(), "place %d of %d waits for ever for r%d", i, n.node, p.at)
			err := p.Request(n.r[p.at], Write)
			for len(lostWrites(err)) > 0 {
				c.heard(n, p, err)
				err = p.Request(n.r[p.at], Write)
			}
			c.check(err == nil, "place %d of %d: %v", i, n.node, err)
			for !p.Granted() && len(c.net.busy()) > 0 { // who looks has what is kept asked for
				c.moveOne()
			}
			c.check(p.Granted(), "place %d of %d is not granted what is free", i, n.node)
			c.acquire(n, p)
			c.check(p.valid, "place %d of %d is not taken for present", i, n.node)
			c.leave(n, p, false)
			for len(c.net.busy()) > 0 {
				c.moveOne()
			}
		}
	}
	for _, s := range c.net.sites {
		s.Settle()
	}
	for _, n := range c.nodes {
		c.flush(n) // asks
	}
	for len(c.net.busy()) > 0 {
		c.moveOne()
	}
	c.account()
	for i := range c.truth {
		r := c.nodes[i].r[i]
		c.check(r.requested.Load()&^flags == r.completed.Load()&^flags, "r%d: %#x requested, %#x completed", i, r.requested.Load(), r.completed.Load())
	}
	for n, s := range c.net.sites {
		for from := range Node(3) {
			c.check(s.budget.Used(from) == 0, "%d keeps %d bytes of %d for ever", n, s.budget.Used(from), from)
		}
	}
}

// rare are the states that some seed of TestSiteFaults must reach.
var rare = []string{
	"a push crosses a cancel",
	"a cancel crosses the grant",
	"a recall crosses the renewal",
	"a recall comes while the access goes on",
	"a retained release is settled by a sweep",
	"a release of a life that is over",
	"a write of a life that is over",
	"a new life comes while the old one holds",
	"a message overtakes another",
	"memory is swapped",
	"memory that is lent is swapped",
	"a lost write is reported, and committed all the same",
}

// TestSiteFaults: whatever happens, nobody is in beside a writer, everybody sees what
// was committed last, nothing that was committed is lost, nothing comes behind a
// fence. A write whose release and Flush returned nil is there, and a write that was
// released and is lost was reported. When all is well again everybody is served, or told.
func TestSiteFaults(t *testing.T) {
	runs := *nodeSeeds
	if testing.Short() {
		runs = min(runs, 300)
	}
	var served, told, lates, commits, kept, failed, flushes, gone int
	invariant.Reached()
	for seed := range runs {
		c, err := survive(rand.New(rand.NewPCG(seed, 7)).IntN, "")
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, lines(c.trace))
		}
		served, told, lates, commits = served+c.served, told+c.told, lates+c.lates, commits+c.commits
		kept, failed = kept+c.kept, failed+c.failed
		flushes, gone = flushes+c.flushes, gone+c.gone
	}
	if runs >= enoughSeeds {
		mustReach(t, rare...)
	}
	t.Logf("%d runs: %d accesses, %d writes, %d failed, %d told, %d late releases, %d kept", runs, served, commits, failed, told, lates, kept)
	t.Logf("%d times a Flush knew all; %d writes were released and lost", flushes, gone)
	for what, n := range map[string]int{
		"accesses": served / 20, "writes": commits / 10, "that are told": told, "late releases": lates * 5, "that are kept": kept, "failed writes": failed,
		"flushes": flushes, "lost writes": gone * 20,
	} {
		if uint64(n) < runs/2 {
			t.Errorf("too few %s: the test shows little", what)
		}
	}
}

// The test would find it if there were no fence, if dirty ranges were not sent, if a failed
// write were committed, or if lost writes were not reported.
func TestSiteFaultsFindsFlaws(t *testing.T) {
	for _, flaw := range []string{"fence", "dirty", "abandon", "silent"} {
		t.Run(flaw, func(t *testing.T) {
			for seed := range uint64(3000) {
				if _, err := survive(rand.New(rand.NewPCG(seed, 7)).IntN, flaw); err != nil {
					t.Logf("seed %d: %v", seed, err)
					return
				}
			}
			t.Error("not found")
		})
	}
}
