package orwl

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/orwl/go-orwl/net/node"
	"github.com/orwl/go-orwl/orwl/internal/meeting"
	"github.com/orwl/go-orwl/orwl/internal/message"
	"github.com/orwl/go-orwl/resource"
)

// join lets the phase join the run, or returns why it cannot join. One phase at a time joins,
// on all nodes:
//
//	propose   each node says what it has declared, and which tasks run there
//	judge     each node judges by what all have said, and all judge alike
//	reserve   homes reserve the tickets of first requests
//	vote      each node learns that all homes have done so
//	enter     first requests
func (p *Phase) join(whole *run) error {
	g := p.rt.meeting
	done, err := g.Turn(p.run.ctx)
	if err != nil {
		return err
	}
	defer done()
	blobs, err := g.Propose(p.run.ctx, p.call, p.offer(whole).Encode())
	if err != nil {
		return err
	}
	offers, failure, err := meeting.ParseOffers(blobs)
	if err == nil {
		if failure == nil {
			g.Settle(p.call, offers)
		}
		err = p.judge(offers, failure)
	}
	if err = p.vote(offers, err); err != nil {
		g.Forget(p.call)
		return err
	}
	p.enter()
	return nil
}

// vote reserves what the phase needs here, unless it is refused already, and returns why it
// cannot join, if one node says so.
func (p *Phase) vote(offers meeting.Offers, verdict error) error {
	var v message.Vote
	if verdict == nil {
		v.Orders, verdict = p.reserve()
	}
	if verdict != nil {
		v.Failure = p.rt.o.Nodes.failureOf(verdict).encode()
	}
	blobs, err := p.rt.meeting.Vote(p.call, v.Encode())
	if verdict != nil {
		return verdict
	}
	p.orders = make(map[*resource.Resource]int)
	for node, b := range blobs {
		switch {
		case b == nil && offers[node] != nil && p.needs(node):
			return &NodeError{Node: node, Lost: true, Text: "it was lost while the nodes agreed on a phase"}
		case b == nil:
			continue
		}
		v, failure, err := message.ParseVote(b, len(blobs))
		switch {
		case err != nil:
			return err
		case failure != nil:
			return (*NodeError)(failure)
		}
		for name, order := range v.Orders {
			p.orders[p.rt.Lookup(name)] = order - 1
		}
	}
	return err
}

// enter makes the first requests of the phase. If one fails, the phase has joined, and fails.
func (p *Phase) enter() {
	rt, r := p.rt, p.run
	rt.mu.Lock()
	defer rt.mu.Unlock()
	r.tasks = p.tasks
	for _, t := range p.tasks {
		t.run = r
	}
	maps.Copy(rt.resources, p.resources)
	for _, name := range slices.Sorted(maps.Keys(p.resources)) {
		rt.made(p.resources[name])
	}
	rt.keep(p.homes)
	rt.tasks = slices.Concat(rt.tasks, p.tasks) // others may read the old slice
	rt.phases = append(rt.phases, p)
	err := error(nil)
	if rt.o.Nodes.many() {
		err = rt.mirror(p.resources, p.homes)
	}
	if err == nil {
		err = rt.request(p.tasks, p.system.Order(), p.orders)
	}
	if err != nil {
		rt.stop(r, err)
		r.tasks = nil
	}
}

// finish runs the tasks of the phase on this node to their end, waits for the other nodes' tasks,
// and forgets them.
func (p *Phase) finish() error {
	rt, r := p.rt, p.run
	ends := func() { rt.stop(r, context.Cause(r.ctx)) }
	stop := context.AfterFunc(r.ctx, ends)
	rt.live(r)
	if stop(); r.ctx.Err() != nil {
		ends()
	}
	var mine []byte
	if why := r.why(); why != nil {
		mine = rt.o.Nodes.failureOf(why).encode()
	}
	all, err := rt.meeting.Ends(p.call, mine)
	p.forgo()
	if err == nil {
		err = rt.outcome(all, func(node int) bool { return p.call.Among[node] != 0 })
	}
	if why := r.why(); why != nil {
		err = why
	}
	if late := rt.dismiss(p); late != nil {
		err = errors.Join(err, late)
	}
	return err
}

// meet makes the meeting, where the nodes agree on phases.
func (rt *Runtime) meet() error {
	n := rt.o.Nodes
	o := meeting.Options{
		Node: n.Number(), Nodes: n.Count(), Refusal: n.gaveUp,
		Left: func(node int) error { return fmt.Errorf("%w: the tasks of node %d have ended", ErrNotRunning, node) },
	}
	if !n.many() {
		rt.meeting = meeting.New(o)
		return nil
	}
	o.Life, o.Network = n.node.Incarnation(), n.node
	o.Tell = func(news []byte) { n.say(phaseChannel, news) }
	m := meeting.New(o)
	rt.meeting = m
	n.node.OnLoss(m.Lost)
	n.node.OnApart(func(why error) { m.Part(&NodeError{Node: n.Number(), Lost: true, Text: why.Error()}) })
	return n.node.Receive(phaseChannel, node.Receiver{Take: func(_ int, header, _ []byte) error {
		if err := m.Hear(header); err != nil {
			return fmt.Errorf("%w: %w", node.ErrProtocol, err)
		}
		return nil
	}})
}

// gaveUp is why this node refuses a phase after it has taken its call back. If a loss is the reason,
// it says which node is lost: the others may not know it yet.
func (n *Nodes) gaveUp(why error) *message.Failure {
	if lost := (*NodeError)(nil); errors.As(why, &lost) && lost.Lost {
		return (*message.Failure)(lost)
	}
	return &message.Failure{Node: n.Number(), Text: "it gave up the phase before all nodes had called it"}
}
