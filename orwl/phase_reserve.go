package orwl

import (
	"context"
	"maps"
	"slices"

	"github.com/orwl/go-orwl/resource"
)

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
