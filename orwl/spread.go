package orwl

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/orwl/go-orwl/orwl/internal/message"
	"github.com/orwl/go-orwl/orwl/liveness"
	"github.com/orwl/go-orwl/resource"
)

// A program is the same on every node: each declares all resources and all tasks,
// runs those tasks that are its own, and keeps those resources whose home it is. Of
// all others it has a mirror.

// ErrNode is a node that the run does not have.
var ErrNode = errors.New("orwl: no such node")

// ErrNodesTaken is a second runtime on the same nodes.
var ErrNodesTaken = errors.New("orwl: nodes have a runtime already: make others from new nodes")

// On says on which node the task runs. Without On, Run places the task: tasks that share
// many bytes run on the same node, or on nodes of one machine, and all nodes run about as many
// tasks. Tasks with
// On attract the tasks that share with them. A program with more than 262,144 accesses is
// too large for that: its tasks are dealt in their order. [Runtime.Placement] tells the
// result.
func (t *Task) On(node int) *Task {
	t.declare(fmt.Sprintf("a node of task %q", t.name), func() error {
		if err := t.rt.checkNode(node); err != nil {
			return fmt.Errorf("%w: task %q", err, t.name)
		}
		t.on, t.placed = node, true
		return nil
	})
	return t
}

// Home says which node keeps a resource of this runtime. The default is the node of
// the first task that writes it, or else of the first that reads it. If no task accesses
// it, a hash of its name decides.
func (rt *Runtime) Home(r *resource.Resource, node int) {
	rt.declareOf(r, "home", func(name string) error {
		if err := rt.checkNode(node); err != nil {
			return fmt.Errorf("%w: resource %q", err, name)
		}
		rt.homes[name] = node
		return nil
	})
}

// Nodes are those on which the program runs, and Node is which of them this is.
func (rt *Runtime) Nodes() int { return rt.o.Nodes.Count() }

// Processors is how many processors the nodes use together: see [Nodes.Processors].
func (rt *Runtime) Processors() int { return rt.o.Nodes.Processors() }

// Node is which of the nodes this is, from 0.
func (rt *Runtime) Node() int { return rt.o.Nodes.Number() }

func (rt *Runtime) checkNode(node int) error {
	if node < 0 || node >= rt.Nodes() {
		return fmt.Errorf("%w: %d, want 0 to %d", ErrNode, node, rt.Nodes()-1)
	}
	return nil
}

// here reports whether a task runs on this node.
func (t *Task) here() bool { return t.on == t.rt.Node() }

// spread decides the node of each task and the home of each resource. Homes of an earlier run stay. One
// node has them all.
func (rt *Runtime) spread() error {
	if !rt.o.Nodes.many() {
		return nil
	}
	rt.said = rt.homes
	p := rt.programOf(rt.tasks, rt.said, rt.resources)
	on, err := p.Divide()
	if err != nil {
		return err
	}
	rt.keep(p.HomesFor(on))
	for i, t := range rt.tasks {
		t.on = on[i]
	}
	rt.program = rt.digest(systemOf(rt.tasks), on)
	return nil
}

// keep makes homes the homes of the run. A reader of the old ones goes on with them.
func (rt *Runtime) keep(homes map[string]int) {
	rt.homes = homes
	if x := rt.relaxing.Load(); x != nil {
		more := *x
		more.homes = homes
		rt.relaxing.Store(&more)
	}
}

// gather is [Nodes.Gather] for the run that goes on.
func (rt *Runtime) gather(ctx context.Context, name string, blob []byte) ([][]byte, error) {
	return rt.o.Nodes.Gather(ctx, fmt.Sprint(name, " ", rt.runs), blob)
}

// agree makes sure that all nodes have declared the same program.
func (rt *Runtime) agree(ctx context.Context) error {
	mine := message.Program{Digest: rt.program}
	all, err := rt.gather(ctx, "program", mine.Encode())
	if err != nil {
		return err
	}
	for n, other := range all {
		if other == nil {
			return &NodeError{Node: n, Lost: true, Text: "it was lost before the run began"}
		}
		why, err := mine.Differs(other)
		if err != nil {
			return fmt.Errorf("orwl: program of node %d: %w", n, err)
		}
		if why != "" {
			return fmt.Errorf("orwl: node %d %s than node %d: declare the same resources and tasks, in the same order, on every node, and start all from one build", n, why, rt.Node())
		}
	}
	return nil
}

// digest is a hash of all that nodes must have in common: the tasks, which s describes, where
// they run, and the resources with their homes.
func (rt *Runtime) digest(s liveness.System, on []int) []byte {
	h := sha256.New()
	fmt.Fprintln(h, s)
	for i, node := range on {
		fmt.Fprintln(h, i, node)
	}
	for _, name := range rt.sorted() {
		r := rt.resources[name]
		fmt.Fprintf(h, "%s %d %d %d %#v %t\n", name, rt.homes[name], r.InitialSize(), r.Policy(), rt.permits[name], rt.relaxed[name])
	}
	return h.Sum(nil)
}

// sorted are the names of all resources.
func (rt *Runtime) sorted() []string {
	return slices.Sorted(maps.Keys(rt.resources))
}

// settle makes each new resource a home or a mirror. A home reserves a ticket for each first
// request, in the order in which the program starts: every node knows the program.
//
// Before the first run no message comes to a home that is not there yet, since the site keeps it. Later
// a first request may come only when its home has reserved the ticket. So the nodes wait for each other.
func (rt *Runtime) settle(ctx context.Context, order []liveness.First) error {
	first := firstOf(rt.tasks, order)
	site := rt.o.Nodes.site
	// Mirrors first: no message comes to a mirror before it has requested.
	for _, name := range rt.sorted() {
		if home := rt.homes[name]; home != rt.Node() && !rt.settled[name] {
			if err := site.Mirror(rt.resources[name], resource.Node(home)); err != nil {
				return err
			}
		}
	}
	for _, name := range rt.sorted() {
		if rt.homes[name] != rt.Node() {
			continue
		}
		r, err := rt.resources[name], error(nil)
		if rt.settled[name] {
			_, err = site.Reserve(r, first[r])
		} else {
			at := rt.permits[name].home()
			at.First = first[r]
			err = site.Home(r, at)
		}
		if err != nil {
			return err
		}
	}
	if rt.runs == 1 {
		return nil
	}
	_, err := rt.gather(ctx, "reserved", nil)
	return err
}

// firstOf are the first requests of tasks by their resource, in the given order.
func firstOf(tasks []*Task, order []liveness.First) map[*resource.Resource][]resource.First {
	first := make(map[*resource.Resource][]resource.First)
	for _, f := range order {
		t := tasks[f.Task]
		a := t.accesses[f.Access]
		first[a.resource] = append(first[a.resource], resource.First{Node: resource.Node(t.on), Mode: a.mode})
	}
	return first
}
