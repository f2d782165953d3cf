package coherence

import (
	"fmt"
	"slices"
)

// protocol is a home, its queue, and mirrors, joined by links. The test moves messages
// along the links. Node 0 is the home's own, without a mirror.
type protocol struct {
	ledger *Ledger
	buffer *Buffer
	queue  *queue
	home   *Home
	nodes  []*testNode

	// These report to the test.
	sent    func(m *Message, toHome bool)
	granted func(Node, ID, Stamp)
	ended   func(Node, ID, error)
	lost    func(Node, error) // the last write
}

// testNode is a mirror and its link.
type testNode struct {
	node             Node
	mirror           *Mirror
	buffer           *Buffer
	toHome, toMirror []Message
}

// newProtocol makes a home with mirrors, and a resource of some bytes.
func newProtocol(size, mirrors int, l *Ledger, o MirrorOptions) *protocol {
	p := &protocol{buffer: new(Buffer), ledger: l}
	p.buffer.Init(size)
	p.queue = &queue{p: p}
	p.home = NewHome(p.buffer, p.ledger, HomeOptions{Resource: 7, Limit: 1 << 10})
	o.Resource, o.Limit = 7, 1<<10
	p.nodes = append(p.nodes, nil)
	for n := 1; n <= mirrors; n++ {
		o.Node = Node(n)
		p.nodes = append(p.nodes, &testNode{node: o.Node})
		p.restart(p.nodes[n], o)
	}
	return p
}

// restart gives a node a new mirror, in the first life unless o says otherwise.
func (p *protocol) restart(n *testNode, o MirrorOptions) {
	o.Incarnation = max(o.Incarnation, 1)
	n.buffer = new(Buffer)
	n.mirror = NewMirror(n.buffer, o)
}

// atHome does a step of the home, and all that follows from it.
func (p *protocol) atHome(step func(w *Work) error) error {
	var w Work
	err := step(&w)
	p.doHome(&w)
	if !p.queue.late {
		p.pump()
	}
	return err
}

func (p *protocol) doHome(w *Work) {
	for i := 0; i < len(w.Queue); i++ {
		switch o := w.Queue[i]; o.Kind {
		case Enqueue:
			p.queue.request(guestID(o.Guest), o.Mode)
		case Renew:
			p.queue.renew(guestID(o.Guest), guestID(o.Next), o.Mode)
		case Release:
			p.queue.release(guestID(o.Guest))
		case Cancel:
			if p.queue.cancel(guestID(o.Guest)) {
				p.home.Withdrawn(o.Guest, w)
			}
		default:
			panic(violation("the queue is asked for %+v", o))
		}
	}
	p.route(w.Messages, false)
}

// pump tells of the grants, and of requests that wait.
func (p *protocol) pump() {
	for len(p.queue.news) > 0 {
		news := p.queue.news
		p.queue.news = nil
		var guests []int
		for _, id := range news {
			if id&remote != 0 {
				guests = append(guests, int(id&^remote))
				continue
			}
			at := p.queue.at(id)
			if at < 0 {
				panic(violation("%d is told a grant that is over", id))
			}
			p.granted(0, id, p.ledger.Grant(p.queue.all[at].mode))
		}
		var w Work
		p.home.Granted(guests, &w)
		p.doHome(&w)
	}
}

// atMirror does a step of a mirror.
func (p *protocol) atMirror(n *testNode, step func(w *Work) error) error {
	var w Work
	err := step(&w)
	for _, e := range w.Events {
		switch e.Kind {
		case RequestGranted:
			p.granted(n.node, e.ID, e.Stamp)
		case RequestEnded:
			p.ended(n.node, e.ID, e.Err)
		case WriteLost:
			p.lost(n.node, e.Err)
		}
	}
	p.route(w.Messages, true)
	return err
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
	c.IDs, c.Bytes = slices.Clone(m.IDs), slices.Clone(m.Bytes)
	return c
}

// toHome gives the home a message.
func (p *protocol) toHome(m *Message) error {
	return p.atHome(func(w *Work) error { return p.home.Step(m, w) })
}

// loses has the home lose a node.
func (p *protocol) loses(n Node) {
	_ = p.atHome(func(w *Work) error { p.home.Lost(n, w); return nil })
}

// toMirror gives a mirror a message.
func (p *protocol) toMirror(m *Message) error {
	n := p.nodes[m.Node]
	return p.atMirror(n, func(w *Work) error { return n.mirror.Step(m, w) })
}

// locally does something with the queue on the home's own node.
func (p *protocol) locally(do func()) {
	_ = p.atHome(func(*Work) error { do(); return nil })
}

// found is the panic of a failed check.
type found string

func (f found) Error() string { return string(f) }

func violation(format string, args ...any) found { return found(fmt.Sprintf(format, args...)) }
