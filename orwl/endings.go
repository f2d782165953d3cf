package orwl

import (
	"errors"
	"log/slog"
	"sync"

	"github.com/orwl/go-orwl/resource"
)

// endings are the grants that have ended because of a loss and that the log has not said
// yet. A loss ends many grants, one resource after another, and the log says it once.
type endings struct {
	mu sync.Mutex
	of map[resource.Node]*endedGrants
}

// endedGrants are those that one node had.
type endedGrants struct {
	first     resource.Ending
	resources int
	grants    int
}

// grantsEnd takes an ending, with the resource locked. The log says at once that a write may
// be lost.
func (n *Nodes) grantsEnd(e resource.Ending) {
	if lost := (*resource.LostWriteError)(nil); errors.As(e.Why, &lost) {
		n.log.Error("orwl: a write was released and may be lost", "resource", lost.Resource, "fence", lost.Fence, "home", lost.Home, "why", lost.Err)
		return
	}
	n.endings.note(e)
}

// note takes an ending. The resource is locked meanwhile.
func (e *endings) note(end resource.Ending) {
	e.mu.Lock()
	defer e.mu.Unlock()
	g := e.of[end.Node]
	if g == nil {
		if e.of == nil {
			e.of = make(map[resource.Node]*endedGrants)
		}
		g = &endedGrants{first: end}
		e.of[end.Node] = g
	}
	g.resources++
	g.grants += end.Grants
}

// say logs what was noted: one record for each node.
func (e *endings) say(log *slog.Logger) {
	e.mu.Lock()
	of := e.of
	e.of = nil
	e.mu.Unlock()
	for node, g := range of {
		log.Warn("orwl: a node has lost what it held", "peer", node, "resources", g.resources, "grants", g.grants,
			"resource", g.first.Resource.Name(), "fence", g.first.Fence, "why", g.first.Why)
	}
}
