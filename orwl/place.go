package orwl

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/net/topology"
	"github.com/orwl/go-orwl/orwl/inspect"
	"github.com/orwl/go-orwl/orwl/internal/looks"
	"github.com/orwl/go-orwl/orwl/internal/spread"
	"github.com/orwl/go-orwl/orwl/placement"
	"github.com/orwl/go-orwl/resource"
)

// Placement returns where the tasks run and where the resources are kept, as this node knows it. Before the run
// it is the zero Placement.
func (rt *Runtime) Placement() inspect.Placement {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	if rt.run == nil {
		return inspect.Placement{}
	}
	return rt.placement()
}

func (rt *Runtime) placement() inspect.Placement {
	var tasks []inspect.TaskPlacement
	for _, t := range rt.tasks {
		tasks = append(tasks, rt.taskPlacement(t))
	}
	var resources []inspect.ResourcePlacement
	for _, name := range rt.sorted() {
		resources = append(resources, inspect.ResourcePlacement{Resource: name, Bytes: rt.resources[name].InitialSize(), Home: rt.homes[name]})
	}
	return looks.Placement(rt.programOf(rt.tasks, rt.said, rt.resources), rt.Node(), tasks, resources)
}

func (rt *Runtime) taskPlacement(t *Task) inspect.TaskPlacement {
	p := inspect.TaskPlacement{Task: t.name, Node: t.on, On: t.placed, Worker: -1, CPU: -1}
	if t.step != nil && t.here() {
		p.Worker = int(t.step.seat)
		if rt.seats.cpus != nil {
			p.CPU, _ = rt.seats.cpus.CPU(topology.Rank(p.Worker))
		}
	}
	return p
}

// programOf is what placement knows of tasks, and of resources that are named in all. homes are those that
// are known. The caller holds mu.
func (rt *Runtime) programOf(tasks []*Task, homes map[string]int, all map[string]*declared) *spread.Program {
	p := &spread.Program{Nodes: rt.Nodes(), Machines: rt.o.Nodes.machines(), Weights: rt.o.Nodes.weighs(), Homes: homes, All: slices.AppendSeq(make([]string, 0, len(all)), maps.Keys(all))}
	accesses, resources := 0, 0 // other tasks may name some of these
	for _, t := range tasks {
		accesses += len(t.accesses)
		for _, a := range t.accesses {
			resources = max(resources, int(a.resource.number)+1)
		}
	}
	p.On, p.Accesses = make([]int, len(tasks)), make([]placement.Access, 0, accesses)
	p.Sizes, p.Names = make([]int, resources), make([]string, resources)
	for i, t := range tasks {
		p.On[i] = spread.Free
		if t.placed {
			p.On[i] = t.on
		}
		for _, a := range t.accesses {
			n := int(a.resource.number)
			p.Sizes[n], p.Names[n] = a.resource.InitialSize(), a.resource.Name()
			p.Accesses = append(p.Accesses, placement.Access{Task: i, Resource: n, Write: a.mode == queue.Write})
		}
	}
	return p
}

// A program is the same on every node: each declares all resources and all tasks,
// runs its own tasks, and keeps the resources whose home it is. It has a mirror of
// each other resource.

// errNode is a node that the run does not have.
var errNode = errors.New("orwl: no such node")

// errNodesTaken is a second runtime on the same nodes.
var errNodesTaken = errors.New("orwl: nodes have a runtime already: make others from new nodes")

// On says on which node the task runs. In a later life of the run, with fewer nodes, the numbers wrap around. Without On, Run places the task: tasks that share
// many bytes run on the same node, or on nodes of one machine, and all nodes run about as many
// tasks. If no task has a node by On, each node runs as many as it has shown to do at a time, in a later life of the run. Tasks with
// On attract the tasks that share with them. A program with more than 262,144 accesses is
// too large for that: its tasks are dealt in their order. [Runtime.Placement] tells the
// result.
func (t *Task) On(node int) *Task {
	t.declare("a node of task", func() error {
		on, err := t.rt.nodeOf(node)
		if err != nil {
			return fmt.Errorf("%w: task %q", err, t.name)
		}
		t.on, t.placed = on, true
		return nil
	})
	return t
}

// Home says which node keeps a resource of this runtime. The default is the node of
// the first task that writes it, or else of the first that reads it. If no task accesses
// it, a hash of its name decides.
func (rt *Runtime) Home(r *resource.Resource, node int) {
	rt.declareOf(core(r), "home", func(d *declared) error {
		home, err := rt.nodeOf(node)
		if err != nil {
			return fmt.Errorf("%w: resource %q", err, d.Name())
		}
		rt.homes[d.Name()] = home
		return nil
	})
}

// Nodes are those on which the program runs, and Node is which of them this is.
func (rt *Runtime) Nodes() int { return rt.o.Nodes.Count() }

// Node is which of the nodes this is, from 0.
func (rt *Runtime) Node() int { return rt.o.Nodes.Number() }

// nodeOf is the node that the program means. In a later life there are fewer, and the numbers wrap around.
func (rt *Runtime) nodeOf(number int) (int, error) {
	if n := rt.o.Nodes; n != nil && n.survival != nil && n.survival.life > 1 && number >= 0 {
		number %= rt.Nodes()
	}
	if number < 0 || number >= rt.Nodes() {
		return 0, fmt.Errorf("%w: %d, want 0 to %d", errNode, number, rt.Nodes()-1)
	}
	return number, nil
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
	weighed := p.Weighed()
	for i, t := range rt.tasks {
		t.on, t.unit = on[i], t.unit || weighed
	}
	return nil
}

// keep makes homes the homes of the run. A reader of the old ones goes on with them.
func (rt *Runtime) keep(homes map[string]int) {
	rt.homes = homes
}

// gather is [Nodes.Gather] for the run that goes on.
func (rt *Runtime) gather(ctx context.Context, name string, blob []byte) ([][]byte, error) {
	return rt.o.Nodes.Gather(ctx, fmt.Sprint(name, " ", rt.runs), blob)
}

// sorted are the names of all resources.
func (rt *Runtime) sorted() []string {
	return slices.Sorted(maps.Keys(rt.resources))
}

// settle makes each new resource a home or a mirror. If there are new snapshots, their homes then make copies for all.
func (rt *Runtime) settle(ctx context.Context) error {
	site, snapshots := rt.o.Nodes.site, false
	// Mirrors first: no message comes to a mirror before it has requested.
	sorted := rt.sorted()
	for _, name := range sorted {
		if home, d := rt.homes[name], rt.resources[name]; home != rt.Node() && !d.settled {
			if err := site.Mirror(d.Resource, queue.Node(home)); err != nil {
				return err
			}
		}
	}
	for _, name := range sorted {
		d := rt.resources[name]
		if d.settled {
			continue
		}
		snapshots = snapshots || d.snapshots
		if rt.homes[name] != rt.Node() {
			continue
		}
		if err := site.Home(d.Resource); err != nil {
			return err
		}
		if d.snapshots {
			rt.o.Nodes.copies.keep(d.Resource)
		}
	}
	if !snapshots {
		return nil
	}
	_, err := rt.gather(ctx, "snapshots", nil)
	return err
}
