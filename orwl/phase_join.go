package orwl

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/orwl/go-orwl/internal/pack"
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
	select {
	case g.turn <- struct{}{}:
		defer func() { <-g.turn }()
	case <-p.run.ctx.Done():
	case <-g.shut:
	}
	switch {
	case p.run.ctx.Err() != nil:
		return context.Cause(p.run.ctx)
	case g.ended() != nil:
		return g.ended()
	}
	blobs, err := g.propose(p.run.ctx, p, pack.Encode(p.offer(whole)))
	if err != nil {
		return err
	}
	var failure error // of the first node that has one
	offers := make([]*offer, len(blobs))
	for node, b := range blobs {
		if b != nil && failure == nil && err == nil {
			offers[node], failure, err = parseOffer(b, len(blobs))
		}
	}
	if err == nil {
		if failure == nil {
			g.settle(p, offers)
		}
		err = p.judge(offers, failure)
	}
	if err = p.vote(offers, err); err != nil {
		g.forget(p)
		return err
	}
	p.enter()
	return nil
}

// vote reserves what the phase needs here, unless it is refused already, and returns why it
// cannot join, if one node says so.
func (p *Phase) vote(offers []*offer, verdict error) error {
	v := vote{Version: messageVersion}
	if verdict == nil {
		v.Orders, verdict = p.reserve()
	}
	if verdict != nil {
		v.Failure = p.rt.o.Nodes.failureOf(verdict).encode()
	}
	blobs, err := p.rt.meeting.vote(p, pack.Encode(&v))
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
		v, failure, err := parseVote(b, len(blobs))
		switch {
		case err != nil:
			return err
		case failure != nil:
			return failure
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
		err = rt.request(p.tasks, p.system, p.orders)
	}
	if err != nil {
		rt.stop(r, err)
		r.tasks = nil
	}
}

// finish runs the tasks of the phase on this node to their end, waits for the other nodes' tasks,
// and forgets them.
func (p *Phase) finish() error {
	rt, r, g := p.rt, p.run, p.rt.meeting
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
	all, err := g.ends(p, mine)
	g.forget(p)
	p.forgo()
	if err == nil {
		err = rt.outcome(all)
	}
	if why := r.why(); why != nil {
		err = why
	}
	if late := rt.dismiss(p); late != nil {
		err = errors.Join(err, late)
	}
	return err
}
