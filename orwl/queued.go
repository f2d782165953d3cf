package orwl

import (
	"strings"

	"github.com/orwl/go-orwl/net/node"
	"github.com/orwl/go-orwl/resource"
)

// Queued are the requests of tasks in the queues of resources that have their home on this node,
// and for which match is true: by resource, in the order of the queue. Package session lists them.
func (rt *Runtime) Queued(match func(resource string) bool) (all []node.Queued) {
	v := rt.look()
	for _, l := range v.lines {
		if !l.whole || !v.started || !match(l.r.Name()) {
			continue
		}
		for _, e := range l.all {
			who := e.who
			if e.node != rt.Node() {
				who = rt.guests(e.node, l.r, e.mode)
			}
			all = append(all, node.Queued{
				Resource: l.r.Name(), Task: who, Node: e.node, Read: e.mode == resource.Read, Granted: e.granted, Ticket: e.ticket, For: e.since,
			})
		}
	}
	return all
}

// mostGuests is how many tasks of another node are named for one request.
const mostGuests = 3

// guests are the tasks of another node that access a resource in a mode. The home knows only that
// one of them has made the request.
func (rt *Runtime) guests(number int, r *resource.Resource, mode resource.Mode) string {
	rt.mu.Lock()
	tasks := rt.tasks
	rt.mu.Unlock()
	var names []string
	for _, t := range tasks {
		if t.on == number && t.uses(r, mode) {
			names = append(names, t.name)
		}
	}
	if len(names) > mostGuests {
		names = append(names[:mostGuests], "...")
	}
	return strings.Join(names, " or ")
}

// uses reports whether a task accesses a resource in a mode.
func (t *Task) uses(r *resource.Resource, mode resource.Mode) bool {
	for _, a := range t.accesses {
		if a.resource == r && a.mode == mode {
			return true
		}
	}
	return false
}
