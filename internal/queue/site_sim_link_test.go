package queue

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/orwl/go-orwl/internal/queue/coherence"
	"github.com/orwl/go-orwl/net/rma"
)

// simLink is the link from one node to another, a rank of its own. A message is a bit of
// the bell of the other node's loop. The link adds it by an Accumulate that is not
// flushed at once: the messages of one batch arrive in any order, and as late as the
// simulator likes. The node goes on meanwhile. A link that is cut holds its messages back.
type simLink struct {
	c        *siteRun
	from, to Node
	rank     rma.Rank
	queue    []letter
	slots    [lettersAtATime]*letter
	flying   int
	full     bool // it waits for room
	unrung   bool // it was not told of what is in its queue
}

const lettersAtATime = 24

// letter is a message between two nodes. Without a header it only says that its sender
// is there.
type letter struct {
	parcel
	session int
	sent    int64 // when, by the sender's clock
	echo    int64 // when the last message was sent that the sender has had from the other
	msg     coherence.Message
}

// simWay is the way between two nodes. A session of it begins with both ends, and is over
// when both have left.
type simWay struct {
	session int
	started int64
	cut     bool
}

// simEnd is a node's end of a way.
type simEnd struct {
	session int    // the session that it is in, 0 if it has left the last one
	last    int    // session that it was in
	joining bool   // Back has not returned yet
	lost    bool   // it has taken the other for lost
	life    uint64 // of the other, by what it knows
	heard   int64  // when something came
	theirs  int64  // when the last that came was sent
	echo    int64  // the other has had what was sent here then
}

func (c *siteRun) way(a, b Node) *simWay { return c.ways[a+b-1] }

// simPort is a life's end of all links.
type simPort struct {
	n    *simNode
	life uint64
}

func (p simPort) Post(to Node, header, bulk []byte, lasting bool) error {
	return p.Send(to, header, bulk, lasting)
}

func (p simPort) Send(to Node, header, bulk []byte, lasting bool) error {
	e := &p.n.ends[to]
	if p.life != p.n.life || p.n.c.at.falling || e.session == 0 {
		return errLeft
	}
	l := letter{parcel: parcel{header: slices.Clone(header), bulk: bulk, lasting: lasting, sum: sum(bulk)}}
	msg, err := parsed(header)
	if err != nil {
		return err
	}
	if e.joining && msg.Kind >= coherence.GrantMessage {
		return errLeft // of requests that Back is about to end
	}
	if l.msg = msg; !lasting {
		l.bulk = bytes.Clone(bulk)
	}
	p.n.c.seen.sees(&msg)
	p.n.post(to, l)
	return nil
}

func (n *simNode) post(to Node, l letter) {
	e := &n.ends[to]
	l.session, l.sent, l.echo = e.session, n.c.now(), e.theirs
	link := n.c.links[n.node][to]
	link.queue, link.unrung = append(link.queue, l), true
}

// ring tells the links of what they have to carry.
func (a *actor) ring() {
	for _, l := range a.c.links[a.n.node] {
		if l.unrung {
			l.unrung = false
			a.fetch(l.rank, bellWord, rma.Sum, 1)
		}
	}
}

// loaded reports whether something is on the link.
func (l *simLink) loaded() bool {
	for _, s := range l.slots {
		if s != nil {
			return true
		}
	}
	return len(l.queue) > 0
}

// run is the program of a link.
func (l *simLink) run(a *actor) error {
	c := l.c
	for c.phase < runIsOver {
		_ = a.await(context.Background(), l.rank, bellWord, rma.IsNot(0))
		a.fetch(l.rank, bellWord, rma.Replace, 0)
		for len(l.queue) > 0 && !c.way(l.from, l.to).cut {
			if !l.carry(a) {
				break
			}
		}
	}
	return nil
}

// carry brings some messages to the other node. It reports false if there is no room.
func (l *simLink) carry(a *actor) bool {
	some := false
	for range 1 + l.c.chance(3) {
		slot := slices.Index(l.slots[:], nil)
		if slot < 0 || len(l.queue) == 0 {
			l.full = slot < 0
			break
		}
		at := l.c.chance(min(len(l.queue), 3)) // there are several lanes
		next := l.queue[at]
		l.queue = slices.Delete(l.queue, at, at+1)
		l.slots[slot] = &next
		l.flying++
		a.w.Accumulate(rma.Rank(l.to), bellWord, rma.Sum, 1<<(slot+l.base()))
		some = true
	}
	if some {
		a.w.Flush(rma.Rank(l.to))
		a.goesOn()
	}
	return some
}

// base is the first bit of the link in the other node's bell.
func (l *simLink) base() int {
	if l.from < l.to && l.to-l.from == 1 || l.from > l.to && l.from-l.to == 2 {
		return 0
	}
	return lettersAtATime
}

// collect takes what has come with the bell of a loop.
func (n *simNode) collect(bits uint64) {
	for from := range Node(3) {
		if from == n.node {
			continue
		}
		l := n.c.links[from][n.node]
		for i, s := range l.slots {
			if s != nil && bits>>(i+l.base())&1 != 0 {
				n.inbox = append(n.inbox, arrival{from, *s})
				l.slots[i] = nil
				l.flying--
				l.unrung = l.unrung || l.full
				l.full = false
			}
		}
	}
	n.c.rng.Shuffle(len(n.inbox), func(i, j int) { n.inbox[i], n.inbox[j] = n.inbox[j], n.inbox[i] })
}

type arrival struct {
	from Node
	letter
}

// receive takes a message. Some come late, when this node has left the session already.
func (a *actor) receive(m arrival) {
	c, n := a.c, a.n
	w, e := c.way(n.node, m.from), &n.ends[m.from]
	if e.session == 0 && m.session == w.session && m.session > e.last {
		a.join(m.from)
	}
	there := &c.nodes[m.from].ends[n.node]
	switch late := m.session == e.last && e.life != 0 && e.lost != there.lost; {
	case m.session == e.session:
		e.heard, e.theirs, e.echo = c.now(), max(e.theirs, m.sent), max(e.echo, m.echo)
	case !late || c.chance(8) == 0:
		c.note("%d drops what was on an old way from %d", n.node, m.from)
		return
	}
	if m.header == nil {
		return
	}
	if there.session != m.session || e.session != m.session {
		// One has left, so the bytes may have changed.
		m.sum = sum(m.bulk)
	}
	c.check(sum(m.bulk) == m.sum, "bytes from %d to %d were changed under way", m.from, n.node)
	toHome := m.msg.Kind < coherence.GrantMessage
	if toHome {
		a.free()
	}
	a.begins()
	bulk := bytes.Clone(m.bulk)
	err := deliver(n.site, m.from, m.header, bulk)
	a.ends()
	c.note("%d>%d %v of r%d, life %d: %v", m.from, n.node, &m.msg, map[bool]int{true: 1}[m.msg.Resource == numberOf("r1")], m.msg.Incarnation, err)
	switch {
	case err == nil:
	case errors.Is(err, ErrOtherLife) && c.flaw == "fence" && toHome && m.msg.Wrote:
		m.msg.Bytes = bulk
		n.site.homes[m.msg.Resource].commitWithoutFence(&m.msg)
	default:
		c.check(errors.Is(err, ErrOtherLife), "%v to %d: %v", &m.msg, n.node, err)
		c.dropped(m.from, &m.msg)
	}
	c.look()
	a.ring()
}

// watch is what a loop does about the other nodes as time passes. A mirror gives its grants
// up before their home may, by the same lease.
func (a *actor) watch(other Node) {
	c, n := a.c, a.n
	e, w := &n.ends[other], c.way(n.node, other)
	there := &c.nodes[other].ends[n.node]
	left := there.session == 0 && there.last == w.session // not only about to join
	ended := left && (c.phase > faultsHappen || c.chance(4) == 0)
	switch {
	case e.session != 0 && (ended || n.givesUp(other)):
		a.lose(other)
	case e.session != 0 && n.mayBeGivenUp(other):
		a.leave(other)
		n.site.Away(other, errLeft)
	case e.session != 0:
		if c.phase == faultsHappen { // no lease ends afterwards
			n.post(other, letter{})
		}
	case !e.lost && n.givesUp(other):
		a.lose(other)
	case (c.phase > faultsHappen || c.chance(3) == 0) && !w.cut && (there.session == 0 || w.session > e.last):
		a.join(other)
	}
	a.ring()
}

// givesUp reports whether a home may give away what the other node holds.
func (n *simNode) givesUp(other Node) bool {
	lease := n.c.lease + n.c.lease/8
	if n.c.flaw == "lease" {
		lease = n.c.lease / 4
	}
	return n.c.phase == faultsHappen && n.c.now() > n.ends[other].heard+lease
}

// mayBeGivenUp reports whether the other node may have given this one up by now.
func (n *simNode) mayBeGivenUp(other Node) bool {
	return n.c.phase == faultsHappen && n.c.now() > n.ends[other].echo+n.c.lease-n.c.lease/8
}

// leave ends a node's part in the session of a way.
func (a *actor) leave(other Node) {
	c, n := a.c, a.n
	c.note("%d leaves %d", n.node, other)
	c.cutOff(n.node, other)
	n.ends[other].session = 0
	n.invalidate(other)
}

// lose takes another node for lost.
func (a *actor) lose(other Node) {
	c, n := a.c, a.n
	c.note("%d takes %d for lost", n.node, other)
	a.leave(other)
	n.ends[other].lost = true
	c.nodes[other].invalidate(n.node)
	a.free()
	a.begins()
	n.site.Lost(other, errLeft)
	a.ends()
}

// join begins a session with another node, or joins the one that it has begun.
func (a *actor) join(other Node) {
	c, n := a.c, a.n
	w, e := c.way(n.node, other), &n.ends[other]
	if w.session == e.last {
		w.session++
		w.started = c.now()
	}
	c.note("%d meets %d in session %d", n.node, other, w.session)
	c.seen.joins++
	*e = simEnd{session: w.session, last: w.session, joining: true, life: c.nodes[other].life, heard: c.now(), theirs: w.started, echo: w.started}
	c.nodes[other].invalidate(n.node)
	a.free()
	a.begins()
	n.site.Back(other, e.life)
	a.ends()
	e.joining = false
	n.post(other, letter{})
}

// suspected is what a node knows by its own clock.
func (n *simNode) suspected(home Node) error {
	if n.ends[home].session == 0 || n.mayBeGivenUp(home) {
		n.invalidate(home)
		return errLeft
	}
	return nil
}

// invalidate says that a node's places no longer hold what has its home on another.
func (n *simNode) invalidate(home Node) {
	for _, p := range n.all() {
		if Node(p.at) == home {
			p.valid = false
		}
	}
}
