package orwl

import "github.com/orwl/go-orwl/resource"

// Observer is told what the tasks of this node do: for metrics, traces, and whoever
// else looks on. It must not wait, and not change what it looks at.
type Observer interface {
	// Access is called for each access, before its first request, with the runtime
	// locked. Who it returns is told what the access does; nobody, if nil.
	Access(a *Access) resource.Observer
	// Began and Ended are called by the task's goroutine, before its body, and after
	// it, with what the task has failed with, when its accesses have been taken back.
	Began(t *Task)
	Ended(t *Task, err error)
}

// DoorObserver is the capability of an Observer to be told of relaxed doors, too. Guard
// is the lock between the two doors of a resource, as Options say.
type DoorObserver interface {
	// Door returns who is told of the doors; nobody, if nil.
	Door(guard string) resource.DoorObserver
}

// doorObserver is the first observer's of those that want to know.
func (rt *Runtime) doorObserver() resource.DoorObserver {
	for _, o := range rt.o.Observers {
		if d, ok := o.(DoorObserver); ok {
			return d.Door(rt.o.Guard)
		}
	}
	return nil
}

// observe makes the observers those of an access.
func (rt *Runtime) observe(a *Access) {
	var all resource.Observers
	for _, o := range rt.o.Observers {
		if one := o.Access(a); one != nil {
			all = append(all, one)
		}
	}
	switch len(all) {
	case 0:
	case 1:
		a.Place().Observe(all[0])
	default:
		a.Place().Observe(all)
	}
}

func (t *Task) began() {
	for _, o := range t.rt.o.Observers {
		o.Began(t)
	}
}

func (t *Task) finished(err error) {
	for _, o := range t.rt.o.Observers {
		o.Ended(t, err)
	}
}
