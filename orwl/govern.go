package orwl

import (
	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/resource"
)

// Policy says what happens to a resource when a task that writes it fails, or a handle is lost
// with its node in a run that goes on without the node: see [GoOn]. The default is
// queue.Discard.
func (rt *Runtime) Policy(r *resource.Resource, p queue.Policy) {
	rt.declareOf(core(r), "policy", func(string) error { return core(r).SetPolicy(p) })
}
