package fate

import (
	"log/slog"
	"sync"

	"github.com/orwl/go-orwl/resource"
)

// Endings are the grants that have ended because of a loss and that the log has not said
// yet. A loss ends many grants, one resource after another, and the log says it once.
type Endings struct {
	mu sync.Mutex
	of map[resource.Node]*endedGrants
}

// endedGrants are those that one node had.
type endedGrants struct {
	first     resource.Ending
	resources int
	grants    int
}

// Note takes an ending. The resource is locked meanwhile.
func (e *Endings) Note(end resource.Ending) {
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

// Say logs what was noted: one record for each node.
func (e *Endings) Say(log *slog.Logger) {
	e.mu.Lock()
	of := e.of
	e.of = nil
	e.mu.Unlock()
	for node, g := range of {
		log.Warn("orwl: a node has lost what it held", "peer", node, "resources", g.resources, "grants", g.grants,
			"resource", g.first.Resource.Name(), "fence", g.first.Fence, "why", g.first.Why)
	}
}
