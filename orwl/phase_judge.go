package orwl

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/orwl/go-orwl/resource"
)

// batch is the program itself, which has number 0, or a phase that has joined and not ended.
type batch struct {
	number uint64
	tasks  []*Task
}

// offer completes the phase, as this node sees it, and returns what the node proposes.
func (p *Phase) offer(whole *run) *offer {
	rt := p.rt
	rt.mu.Lock()
	defer rt.mu.Unlock()
	for _, t := range p.tasks {
		p.errs = append(p.errs, t.checkBody()...)
	}
	on, _, err := rt.divide(p.tasks, rt.homes)
	if p.wrong = errors.Join(append(p.errs, err)...); p.wrong != nil {
		return &offer{Version: messageVersion, Failure: rt.o.Nodes.failureOf(p.wrong).encode()}
	}
	for i, t := range p.tasks {
		t.on = on[i]
	}
	if p.homes = rt.homes; len(p.resources) > 0 {
		p.homes = rt.homesFor(p.tasks, on, rt.homes, p.resources)
	}
	p.system = systemOf(p.tasks)
	o := &offer{Version: messageVersion, Digest: rt.digest(p.system, p.tasks, p.resources, p.homes)}
	if len(p.tasks) > 0 {
		o.First = p.tasks[0].name
	}
	_, o.Waited = p.run.ctx.Value(taskKey{}).(*Task)
	p.batches = []batch{{0, whole.tasks}}
	for _, other := range rt.phases {
		p.batches = append(p.batches, batch{other.number, other.tasks})
	}
	for _, b := range p.batches {
		o.Runs = append(o.Runs, runningOf(b))
	}
	return o
}

// judge returns why a phase cannot join, or nil, by what all nodes have offered. A node that
// was lost has offered nil.
func (p *Phase) judge(offers []*offer, failure error) error {
	rt := p.rt
	switch {
	case p.wrong != nil:
		return p.wrong
	case failure != nil:
		return failure
	}
	mine := offers[rt.Node()]
	for node, o := range offers {
		switch {
		case o == nil && p.needs(node):
			return &NodeError{Node: node, Lost: true, Text: "it was lost, and the phase has tasks or resources there: give them to other nodes"}
		case o != nil && !bytes.Equal(o.Digest, mine.Digest):
			return fmt.Errorf("%w: node %d has called one that begins with task %q, node %d one that begins with %q",
				ErrPhaseDiffers, node, o.First, rt.Node(), mine.First)
		}
	}
	rt.mu.Lock()
	defer rt.mu.Unlock()
	runs := p.running(offers)
	if err := errors.Join(p.clashes(runs), rt.permittedTo(p.tasks)); err != nil {
		return err
	}
	waited := slices.ContainsFunc(offers, func(o *offer) bool { return o != nil && o.Waited })
	return p.system.Joins(systemOf(runs), waited)
}

// needs reports whether the phase has tasks, or resources of its own, on a node.
func (p *Phase) needs(node int) bool {
	for name := range p.resources {
		if p.homes[name] == node {
			return true
		}
	}
	return slices.ContainsFunc(p.tasks, func(t *Task) bool { return t.on == node })
}

// running returns the tasks that run on any node. A phase that some node has dismissed has
// ended on all.
func (p *Phase) running(offers []*offer) (all []*Task) {
	for _, b := range p.batches {
		runs, ended := make([]running, len(offers)), false
		for node, o := range offers {
			if o == nil {
				continue
			}
			at := slices.IndexFunc(o.Runs, func(r running) bool { return r.Number == b.number })
			if ended = at < 0; ended {
				break
			}
			runs[node] = o.Runs[at]
		}
		for i, t := range b.tasks {
			if !ended && runs[t.on].has(i) {
				all = append(all, t)
			}
		}
	}
	return all
}

// clashes returns an error if a name is taken: by the program, by a task that runs, or by a
// resource. It is asked when the phase joins, since another phase may have joined after the
// declaration.
func (p *Phase) clashes(runs []*Task) error {
	var errs []error
	taken := make(map[string]bool)
	for _, t := range runs {
		taken[t.name] = p.names[t.name]
	}
	for _, t := range p.tasks {
		if taken[t.name] || p.rt.names[t.name] {
			errs = append(errs, fmt.Errorf("%w: task %q", ErrName, t.name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.resources)) {
		if p.rt.resources[name] != nil {
			errs = append(errs, fmt.Errorf("%w: resource %q", ErrName, name))
		}
	}
	return errors.Join(errs...)
}

// reservation is what a home here has reserved for the phase.
type reservation struct {
	r        *resource.Resource
	order, n int
}

// reserve declares the phase's resources that have their home here, and reserves the tickets
// of all first requests at homes here. It returns the numbers of the first of them.
func (p *Phase) reserve() (orders map[string]int, err error) {
	rt := p.rt
	rt.mu.Lock()
	defer rt.mu.Unlock()
	if p.run.ctx.Err() != nil {
		return nil, context.Cause(p.run.ctx)
	}
	if p.run.seats, err = rt.seatsFor(p.tasks); err != nil || !rt.o.Nodes.many() {
		return nil, err
	}
	orders = make(map[string]int)
	site := rt.o.Nodes.site
	first := firstOf(p.tasks, p.system.Order())
	for _, name := range slices.Sorted(maps.Keys(p.resources)) {
		r := p.resources[name]
		if p.homes[name] != rt.Node() {
			continue
		}
		if err := site.Home(r, resource.HomeAt{First: first[r]}); err != nil {
			return nil, err
		}
		p.reserved = append(p.reserved, reservation{r, 1, len(first[r])})
	}
	for r, requests := range first {
		if p.homes[r.Name()] != rt.Node() || p.resources[r.Name()] == r {
			continue
		}
		order, err := site.Reserve(r, requests)
		if err != nil {
			return nil, err
		}
		p.reserved = append(p.reserved, reservation{r, order, len(requests)})
		orders[r.Name()] = order
	}
	return orders, p.lacks()
}

// lacks returns an error if a node that the phase needs is lost. A node that is lost after
// this takes its reservations out of the queues.
func (p *Phase) lacks() error {
	for node := range p.rt.Nodes() {
		if err := p.rt.o.Nodes.node.Lost(node); err != nil && p.needs(node) {
			return &NodeError{Node: node, Lost: true, Text: err.Error()}
		}
	}
	return nil
}

// forgo gives up the reservations that no request has used.
func (p *Phase) forgo() {
	for _, v := range p.reserved {
		if v.n > 0 {
			_ = p.rt.o.Nodes.site.Forgo(v.r, v.order, v.n) // its home is here
		}
	}
}

// refuse breaks the resources of a phase that does not join, and takes its reservations back.
func (p *Phase) refuse(why error) {
	p.forgo()
	for _, v := range p.reserved {
		if p.resources[v.r.Name()] == v.r {
			_ = p.rt.o.Nodes.site.Forget(v.r, why)
		}
	}
	for _, r := range p.resources {
		r.Break(why)
		_ = r.Close() // no view of it can exist
	}
}
