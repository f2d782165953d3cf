package orwl

import (
	"fmt"
	"reflect"

	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/resource"
)

// declared is what a runtime knows of a resource. The runtime's mu guards it.
type declared struct {
	*queue.Resource
	run       int    // the last run whose tasks name it
	number    uint32 // there, in the order in which the tasks name the resources first: the same on all nodes
	last      int    // the last task that was seen to name it, counted from 1
	writes    bool   // an access of that task does
	settled   bool   // a run has used it
	snapshots bool   // there may be snapshots of it
}

// Resource declares a resource of size bytes, all zero. Resource names
// are unique.
//
// Run reports a wrong declaration. The resource is broken then: its first Acquire
// returns the same reason.
func (rt *Runtime) Resource(name string, size int) *resource.Resource {
	return rt.resource(name, size, nil, nil)
}

// resource is Resource with elements of a type, if that is not nil. wrong is what is wrong with the declaration.
func (rt *Runtime) resource(name string, size int, elements reflect.Type, wrong error) *resource.Resource {
	r, bad := queue.NewWith(name, size, queue.Options{
		FaultPages: rt.pages, Elements: elements,
		Relaxed: rt.relaxed,
	})
	if bad != nil {
		r, _ = queue.New(name, 0)
		wrong = bad
	}
	err := rt.declare("resource", name, func() error {
		if name == "" || rt.resources[name] != nil {
			return fmt.Errorf("%w: resource %q", errName, name)
		}
		rt.resources[name] = &declared{Resource: r}
		return wrong
	})
	if err != nil {
		r.Break(err)
		return (*resource.Resource)(r)
	}
	rt.tell(Event{Kind: Made, Resource: (*resource.Resource)(r), Guard: guardLock})
	return (*resource.Resource)(r)
}

// core is a resource as this module sees it.
func core(r *resource.Resource) *queue.Resource { return (*queue.Resource)(r) }

// mine is what this runtime knows of r, nil if it has not declared r. Nodes, liveness and homes know a resource by its name only, so another
// one of that name would pass for it. The caller holds mu.
func (rt *Runtime) mine(r *queue.Resource) *declared {
	if r == nil {
		return nil
	}
	if d := rt.resources[r.Name()]; d != nil && d.Resource == r {
		return d
	}
	return nil
}

// notMine is the error of a resource that this runtime has not declared. use says what it is needed for.
func notMine(r *queue.Resource, use string) error {
	if r == nil {
		return fmt.Errorf("%w: %s", errResource, use)
	}
	return fmt.Errorf("%w: %q, %s", errForeign, r.Name(), use)
}

// declareOf declares a property of r, for example its home.
func (rt *Runtime) declareOf(r *queue.Resource, what string, change func(d *declared) error) {
	name := ""
	if r != nil {
		name = r.Name()
	}
	rt.declare(what+" of resource", name, func() error {
		d := rt.mine(r)
		if d == nil {
			return notMine(r, what)
		}
		if d.settled {
			return fmt.Errorf("%w: %s of resource %q, which a run has used", errStarted, what, name)
		}
		return change(d)
	})
}

// lookup is the resource of that name, or nil.
func (rt *Runtime) lookup(name string) *resource.Resource {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	if d := rt.resources[name]; d != nil {
		return (*resource.Resource)(d.Resource)
	}
	return nil
}

// numberResources gives the resources that tasks name their numbers for this run, and returns how many there are. stuck reports whether
// a task has two accesses to one resource, and one of them writes: it never has both.
func (rt *Runtime) numberResources(tasks []*Task) (resources int, stuck bool) {
	for i, t := range tasks {
		for _, a := range t.accesses {
			d, writes := a.resource, a.mode == queue.Write
			if d.run != rt.runs {
				d.run, d.number, d.last = rt.runs, uint32(resources), 0
			}
			resources = max(resources, int(d.number)+1)
			if d.last != i+1 {
				d.last, d.writes = i+1, writes
				continue
			}
			d.writes = d.writes || writes
			stuck = stuck || d.writes
		}
	}
	return resources, stuck
}
