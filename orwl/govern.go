package orwl

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/orwl/go-orwl/resource"
)

// ErrPermit says that a task has declared an access that its node must not make.
var ErrPermit = errors.New("orwl: access is not permitted to the task's node: permit it, or run the task elsewhere")

// Policy says what happens to a resource when a task that writes it fails, or is lost
// with its node in a run that goes on without the node: see [GoOn]. The default is
// resource.Discard.
func (rt *Runtime) Policy(r *resource.Resource, p resource.Policy) {
	rt.declareOf(r, "policy", func(string) error { return r.SetPolicy(p) })
}

// Undo makes a resource keep a copy of its bytes while a task at its home writes them. If
// the task fails, the copy undoes its changes. See [resource.Options].
func (rt *Runtime) Undo(r *resource.Resource) {
	rt.declareOf(r, "undo", func(string) error { return r.SetUndo(true) })
}

// permit says which nodes may read and write a resource; nil permits all.
type permit struct{ readers, writers []int }

// Permit says which nodes may read, and which may write, a resource of this runtime;
// nil permits all nodes. Its home may do both. The home refuses all others: their
// requests end with an error that matches [resource.ErrForbidden].
func (rt *Runtime) Permit(r *resource.Resource, readers, writers []int) {
	rt.declareOf(r, "permissions", func(name string) error {
		for _, node := range slices.Concat(readers, writers) {
			if err := rt.checkNode(node); err != nil {
				return fmt.Errorf("%w: permissions of resource %q", err, name)
			}
		}
		rt.permits[name] = permit{slices.Clone(readers), slices.Clone(writers)}
		return nil
	})
}

// home is the permit in the options of the resource's home.
func (p permit) home() resource.HomeAt {
	return resource.HomeAt{Readers: numbers(p.readers), Writers: numbers(p.writers)}
}

func numbers(nodes []int) []resource.Node {
	if nodes == nil {
		return nil
	}
	all := make([]resource.Node, len(nodes))
	for i, n := range nodes {
		all[i] = resource.Node(n)
	}
	return all
}

// permitted returns an error if some task has declared an access that is not permitted, or
// relaxed access from every node was declared to what some node must not access: the home
// cannot refuse what goes by windows.
func (rt *Runtime) permitted() error {
	for _, name := range slices.Sorted(maps.Keys(rt.relaxed)) {
		if p := rt.permits[name]; (p.readers != nil || p.writers != nil) && rt.Nodes() > 1 {
			return fmt.Errorf("%w: %q has relaxed access from every node, and Permit does not permit all", ErrPermit, name)
		}
	}
	return rt.permittedTo(rt.tasks)
}

// permittedTo returns an error if one of the tasks has declared an access that is not
// permitted.
func (rt *Runtime) permittedTo(tasks []*Task) error {
	if len(rt.permits) == 0 {
		return nil
	}
	for _, t := range tasks {
		for _, a := range t.accesses {
			name := a.resource.Name()
			list := rt.permits[name].readers
			if a.mode == resource.Write {
				list = rt.permits[name].writers
			}
			if list != nil && t.on != rt.homes[name] && !slices.Contains(list, t.on) {
				return fmt.Errorf("%w: task %q on node %d, to %s %q", ErrPermit, t.name, t.on, a.mode, name)
			}
		}
	}
	return nil
}
