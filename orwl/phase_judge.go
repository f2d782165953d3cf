package orwl

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
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
	o := &offer{Version: messageVersion, Digest: slices.Concat(rt.program, rt.digest(p.system, p.tasks, p.resources, p.homes)), Knows: rt.meeting.from()}
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
	if err := unknownTo(offers); err != nil {
		return err
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
