package orwl

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/orwl/go-orwl/orwl/internal/meeting"
	"github.com/orwl/go-orwl/orwl/internal/message"
	"github.com/orwl/go-orwl/orwl/internal/spread"
)

// batch is the program itself, which has number 0, or a phase that has joined and not ended.
type batch struct {
	number uint64
	tasks  []*Task
}

// running tells which tasks of the batch run on this node.
func (b batch) running() message.Running {
	r := message.NewRunning(b.number, len(b.tasks))
	for i, t := range b.tasks {
		if t.here() && !t.ended.Load() {
			r.Add(i)
		}
	}
	return r
}

// offer completes the phase, as this node sees it, and returns what the node proposes.
func (p *Phase) offer(whole *run) *message.Offer {
	rt := p.rt
	rt.mu.Lock()
	defer rt.mu.Unlock()
	for _, t := range p.tasks {
		p.errs = append(p.errs, t.checkBody()...)
	}
	if p.wrong = errors.Join(p.errs...); p.wrong != nil {
		return &message.Offer{Failure: rt.o.Nodes.failureOf(p.wrong).encode()}
	}
	p.program, p.system = rt.programOf(p.tasks, rt.homes, p.resources), systemOf(p.tasks)
	o := &message.Offer{Digest: slices.Concat(rt.program, rt.digest(p.system, p.program.On, p.resources, nil)), Knows: rt.meeting.Knows()}
	if rt.o.Nodes.many() {
		o.Machine = rt.o.Nodes.node.Machine()
	}
	if len(p.tasks) > 0 {
		o.First = p.tasks[0].name
	}
	_, o.Waited = p.run.ctx.Value(taskKey{}).(*Task)
	p.batches = []batch{{0, whole.tasks}}
	for _, other := range rt.phases {
		p.batches = append(p.batches, batch{other.call.Number, other.tasks})
	}
	for _, b := range p.batches {
		o.Runs = append(o.Runs, b.running())
	}
	return o
}

// place decides the node of each task, and the home of each resource of the phase, among the nodes that
// have proposed it. All nodes decide alike, by what all have offered.
func (p *Phase) place(offers meeting.Offers) error {
	there, machines := offers.There()
	p.program.There, p.program.Machines = there, spread.MachinesOf(machines)
	on, err := p.program.Divide()
	if err != nil {
		return err
	}
	rt := p.rt
	rt.mu.Lock()
	defer rt.mu.Unlock()
	for i, t := range p.tasks {
		t.on = on[i]
	}
	if p.homes = rt.homes; len(p.resources) > 0 {
		p.homes = p.program.HomesFor(on)
	}
	return nil
}

// judge returns why a phase cannot join, or nil, by what all nodes have offered. A node that
// was lost has offered nil.
func (p *Phase) judge(offers meeting.Offers, failure *message.Failure) error {
	rt := p.rt
	switch {
	case p.wrong != nil:
		return p.wrong
	case failure != nil:
		return (*NodeError)(failure)
	}
	mine := offers[rt.Node()]
	for node, o := range offers {
		if o != nil && !bytes.Equal(o.Digest, mine.Digest) {
			return fmt.Errorf("%w: node %d has called one that begins with task %q, node %d one that begins with %q",
				ErrPhaseDiffers, node, o.First, rt.Node(), mine.First)
		}
	}
	if err := p.place(offers); err != nil {
		return err
	}
	for node, o := range offers {
		if o == nil && p.needs(node) {
			return &NodeError{Node: node, Lost: true, Text: "it is not there, and the phase has tasks there: give them to other nodes, or to none"}
		}
	}
	if node := offers.Stranger(); node >= 0 {
		return &NodeError{Node: node, Text: "it has come back, and does not know a phase whose tasks still run: call the next one when they have ended"}
	}
	rt.mu.Lock()
	defer rt.mu.Unlock()
	runs := p.running(offers)
	if err := errors.Join(p.clashes(runs), rt.permittedTo(p.tasks)); err != nil {
		return err
	}
	return p.system.Joins(systemOf(runs), offers.Waited())
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

// running returns the tasks that run on any node.
func (p *Phase) running(offers meeting.Offers) (all []*Task) {
	for _, b := range p.batches {
		runs := offers.Running(b.number)
		for i, t := range b.tasks {
			if runs != nil && runs[t.on].Has(i) {
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
