package orwl

import (
	"errors"
	"fmt"
	"strings"

	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/net/node"
	"github.com/orwl/go-orwl/resource"
)

// errHome is the reason why a node does not serve a resource.
var errHome = errors.New("orwl: the resource is not served here")

// Network implements inner.Runtime.
func (rt innerRuntime) Network() (n node.Node, listen string, key []byte) {
	if rt.o.Nodes.many() {
		p := &rt.o.Nodes.place
		return rt.o.Nodes.node, p.Listen, p.Key
	}
	return nil, "", nil
}

// Served implements inner.Runtime.
func (rt innerRuntime) Served(name string) (*resource.Resource, error) {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	r := rt.resources[name]
	switch {
	case r == nil:
		return nil, fmt.Errorf("%w: the program declares no %q", errHome, name)
	case rt.run == nil:
		return nil, fmt.Errorf("%w: the run has not begun", errHome)
	case rt.homes[name] != rt.Node():
		return nil, fmt.Errorf("%w: %w", errHome, &node.ElsewhereError{Resource: name, Home: rt.homes[name]})
	}
	return (*resource.Resource)(r), nil
}

// Queued implements inner.Runtime.
func (rt innerRuntime) Queued(match func(resource string) bool) (all []node.Queued) {
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
				Resource: l.Resource, Task: who, Node: r.Node, Read: r.Mode == queue.Read, Granted: r.Granted, Ticket: r.Ticket, For: r.For,
			})
		}
	}
	return all
}

// mostGuests is how many tasks of another node are named for one request.
const mostGuests = 3

// guests are the tasks of another node that access a resource in a mode. The home knows only that
// one of them has made the request.
func (rt *Runtime) guests(number int, name string, mode queue.Mode) string {
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
func (t *Task) uses(name string, mode queue.Mode) bool {
	for _, a := range t.accesses {
		if a.resource.Name() == name && a.mode == mode {
			return true
		}
	}
	return false
}
