package orwl

import (
	"strings"

	"github.com/orwl/go-orwl/net/node"
	"github.com/orwl/go-orwl/resource"
)

// Queued are the requests of tasks in the queues of resources that have their home on this node,
// and for which match is true: by resource, in the order of the queue. Package session lists them.
func (rt *Runtime) Queued(match func(resource string) bool) (all []node.Queued) {
	look := rt.look()
	for _, l := range look.Lines {
		if !l.Whole || !look.Started || !match(l.Resource) {
			continue
		}
		for _, r := range l.Requests {
			who := r.Who
			if r.Node != rt.Node() {
				who = rt.guests(r.Node, l.Resource, r.Mode)
			}
			all = append(all, node.Queued{
				Resource: l.Resource, Task: who, Node: r.Node, Read: r.Mode == resource.Read, Granted: r.Granted, Ticket: r.Ticket, For: r.For,
			})
		}
	}
	return all
}

// mostGuests is how many tasks of another node are named for one request.
const mostGuests = 3

// guests are the tasks of another node that access a resource in a mode. The home knows only that
// one of them has made the request.
func (rt *Runtime) guests(number int, name string, mode resource.Mode) string {
	rt.mu.Lock()
	tasks := rt.tasks
	rt.mu.Unlock()
	var names []string
	for _, t := range tasks {
		if t.on == number && t.uses(name, mode) {
			names = append(names, t.name)
		}
	}
	if len(names) > mostGuests {
		names = append(names[:mostGuests], "...")
	}
	return strings.Join(names, " or ")
}

// uses reports whether a task accesses a resource in a mode.
func (t *Task) uses(name string, mode resource.Mode) bool {
	for _, a := range t.accesses {
		if a.resource.Name() == name && a.mode == mode {
			return true
		}
	}
	return false
}
