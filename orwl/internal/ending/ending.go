package ending

import (
	"log/slog"
	"sync"

	"github.com/orwl/go-orwl/internal/queue"
)

// Reason is why a run ends because of other nodes. Its zero value is the reason of a node from the start
// of its run on. Several goroutines may use it.
//
//	before Begin    the first reason is kept, and ends the run when it begins
//	after Begin     each reason ends the run; the first one is Why
type Reason struct {
	mu    sync.Mutex
	run   func(error) // ends the run that is under way
	ended error       // why the run has ended, or ends when it begins
}

// Begin has end called when another node's failure ends the run.
func (r *Reason) Begin(end func(error)) {
	r.mu.Lock()
	r.run = end
	ended := r.ended
	r.mu.Unlock()
	if ended != nil {
		end(ended)
	}
}

// End ends the run that is under way, or is about to begin.
func (r *Reason) End(why error) {
	r.mu.Lock()
	run := r.run
	if r.ended == nil {
		r.ended = why
	}
	r.mu.Unlock()
	if run != nil {
		run(why)
	}
}

// Why is why the run ends, or nil.
func (r *Reason) Why() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ended
}

// Endings are the grants that have ended because of a loss and that the log has not said
// yet. A loss ends many grants, one resource after another, and the log says it once.
type Endings struct {
	mu sync.Mutex
	of map[queue.Node]*endedGrants
}

// endedGrants are those that one node had.
type endedGrants struct {
	first     queue.Ending
	resources int
	grants    int
}

// Note takes an ending. The resource is locked meanwhile.
func (e *Endings) Note(end queue.Ending) {
	e.mu.Lock()
	defer e.mu.Unlock()
	g := e.of[end.Node]
	if g == nil {
		if e.of == nil {
			e.of = make(map[queue.Node]*endedGrants)
		}
		g = &endedGrants{first: end}
		e.of[end.Node] = g
	}
	g.resources++
	g.grants += end.Grants
}

// Say logs what was noted: one record for each node. A reason is in it if the first ending has one: the home of a
// resource ends grants because the node is lost, and the log has said so before.
func (e *Endings) Say(log *slog.Logger) {
	e.mu.Lock()
	of := e.of
	e.of = nil
	e.mu.Unlock()
	for node, g := range of {
		said := []any{"peer", node, "resources", g.resources, "grants", g.grants,
			"resource", g.first.Resource.Name(), "fence", g.first.Fence}
		if g.first.Why != nil {
			said = append(said, "why", g.first.Why)
		}
		log.Warn("orwl: a node has lost what it held", said...)
	}
}
