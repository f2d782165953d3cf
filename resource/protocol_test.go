package resource

import (
	"fmt"
	"slices"
)

// protocol is a home, its line, and mirrors, joined by links. The test moves messages
// along the links. Node 0 is the home's own, without a mirror.
type protocol struct {
	ledger *Ledger
	memory *testMemory
	line   *testLine
	home   *Home
	nodes  []*testNode

	// These report to the test.
	sent    func(m *Message, toHome bool)
	granted func(Node, ID, Stamp)
	ended   func(Node, ID, error)
	lost    func(Node, error) // the last write
}

// testNode is a mirror, its link, and its places.
type testNode struct {
	p                *protocol
	node             Node
	mirror           *Mirror
	memory           *testMemory
	toHome, toMirror []Message
}

func (n *testNode) Granted(id ID, s Stamp) { n.p.granted(n.node, id, s) }
func (n *testNode) Ended(id ID, err error) { n.p.ended(n.node, id, err) }
func (n *testNode) WriteLost(err error)    { n.p.lost(n.node, err) }

type testMemory struct{ b []byte }

func (m *testMemory) Bytes() []byte { return m.b }

func (m *testMemory) Resize(n int) {
	old := m.b
	m.b = make([]byte, n)
	copy(m.b, old)
}

// testLine is the plain FIFO as a line. If late, the home hears of a grant only when
// the test pumps, as from a queue that others use at the same time.
type testLine struct {
	p       *protocol
	fifo    FIFO
	late    bool
	news    []ID
	aborted bool
	eager   bool // flaw: names a writer next that is behind a writer
	keep    bool // says which mirror is alone
	silent  bool // flaw: does not say that a request waits
	changed func(op string, id ID, m Mode, granted []ID)
}

func (l *testLine) Request(id ID, m Mode) {
	granted, err := l.fifo.Request(id, m, nil)
	l.tell("request", id, m, granted, err)
	l.waits(id)
}

// waits tells the home if a request waits.
func (l *testLine) waits(id ID) {
	if granted, _ := l.fifo.Granted(id); !granted && !l.silent {
		l.p.home.Wanted()
	}
}

func (l *testLine) Alone(id ID) bool {
	all := l.all()
	return l.keep && all[len(all)-1].id == id
}

func (l *testLine) Renew(id, next ID, m Mode) {
	granted, err := l.fifo.Renew(id, next, m, nil)
	if l.changed != nil {
		l.changed("request", next, m, nil)
	}
	l.tell("release", id, m, granted, err)
	l.waits(next)
}

func (l *testLine) Release(id ID) {
	granted, err := l.fifo.Release(id, nil)
	l.tell("release", id, 0, granted, err)
}

func (l *testLine) Cancel(id ID) bool {
	if granted, _ := l.fifo.Granted(id); granted {
		return false
	}
	granted, err := l.fifo.Cancel(id, nil)
	l.tell("cancel", id, 0, granted, err)
	return true
}

func (l *testLine) Abort() {
	l.aborted, l.news = true, nil
	var local []ID
	for _, r := range l.all() {
		if granted, _ := l.fifo.Granted(r.id); !granted && !r.id.Remote() {
			local = append(local, r.id)
		}
	}
	for _, id := range local {
		l.p.ended(0, id, ErrAborted)
	}
	l.fifo = NewFIFO()
	if l.changed != nil {
		l.changed("abort", 0, 0, nil)
	}
}

// queued is a request in the line.
type queued struct {
	group int
	mode  Mode
	id    ID
}

// all is a copy of the queue.
func (l *testLine) all() (all []queued) {
	l.fifo.All(func(group int, m Mode, id ID) bool {
		all = append(all, queued{group, m, id})
		return true
	})
	return all
}

func (l *testLine) tell(op string, id ID, m Mode, granted []ID, err error) {
	if err != nil {
		panic(violation("the line was asked to %s: %v", op, err))
	}
	l.news = append(l.news, granted...)
	if l.changed != nil {
		l.changed(op, id, m, granted)
	}
	if !l.late {
		l.pump()
	}
}

// pump tells of the grants.
func (l *testLine) pump() {
	for len(l.news) > 0 {
		id := l.news[0]
		l.news = l.news[1:]
		if id.Remote() {
			l.p.home.Granted(id)
		} else {
			granted, _ := l.fifo.Granted(id)
			mode := Read
			for _, r := range l.all() {
				if r.id == id {
					mode = r.mode
				}
			}
			if !granted {
				panic(violation("%d is told a grant that is over", id))
			}
			l.p.granted(0, id, l.p.ledger.Grant(mode))
		}
	}
	all := l.all()
	for _, r := range all {
		if r.group == 1 && r.mode == Write && r.id.Remote() && (all[0].mode == Read || l.eager) {
			l.p.home.Next(r.id)
		}
	}
}

// newProtocol makes a home with mirrors, and a resource of some bytes.
func newProtocol(size, mirrors int, l LedgerOptions, o MirrorOptions) *protocol {
	p := &protocol{memory: &testMemory{make([]byte, size)}}
	p.line = &testLine{p: p, fifo: NewFIFO()}
	var err error
	if p.ledger, err = NewLedger(l); err != nil {
		panic(violation("%v", err))
	}
	if p.home, err = NewHome(p.line, p.memory, p.ledger, HomeOptions{Resource: 7, Limit: 1 << 10}); err != nil {
		panic(violation("%v", err))
	}
	o.Resource, o.Limit = 7, 1<<10
	p.nodes = append(p.nodes, nil)
	for n := 1; n <= mirrors; n++ {
		o.Node = Node(n)
		p.nodes = append(p.nodes, &testNode{p: p, node: o.Node})
		p.restart(p.nodes[n], o)
	}
	return p
}

// restart gives a node a new mirror.
func (p *protocol) restart(n *testNode, o MirrorOptions) {
	n.memory = &testMemory{}
	var err error
	if n.mirror, err = NewMirror(n, n.memory, o); err != nil {
		panic(violation("%v", err))
	}
}

// route puts messages on their links.
func (p *protocol) route(out []Message, toHome bool) {
	for i := range out {
		m := copied(&out[i])
		n := p.nodes[m.Node]
		if p.sent != nil {
			p.sent(&m, toHome)
		}
		if toHome {
			n.toHome = append(n.toHome, m)
		} else {
			n.toMirror = append(n.toMirror, m)
		}
	}
}

// copied is the message as a transport would deliver it.
func copied(m *Message) Message {
	c := *m
	c.IDs, c.Spans, c.Bytes = slices.Clone(m.IDs), slices.Clone(m.Spans), slices.Clone(m.Bytes)
	return c
}

// toHome gives the home a message.
func (p *protocol) toHome(m *Message) error {
	out, err := p.home.Step(m, nil)
	p.route(out, false)
	return err
}

// toMirror gives a mirror a message.
func (p *protocol) toMirror(m *Message) error {
	out, err := p.nodes[m.Node].mirror.Step(m, nil)
	p.route(out, true)
	return err
}

// flush sends the messages that the line has caused.
func (p *protocol) flush() { p.route(p.home.Flush(nil), false) }

// found is the panic of a failed check.
type found string

func (f found) Error() string { return string(f) }

func violation(format string, args ...any) found { return found(fmt.Sprintf(format, args...)) }
