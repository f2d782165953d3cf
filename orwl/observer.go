package orwl

import "github.com/orwl/go-orwl/resource"

// Observer is told what the tasks of this node do, for example for metrics and traces.
// It must not wait, and must not change what it looks at.
type Observer interface {
	// Access is called for each access, before its first request, with the runtime
	// locked. It returns the observer of that access, or nil. For an access with Ahead it
	// is called once for each place that a.Place() returns then, as each serves other
	// rounds.
	Access(a *Access) resource.Observer
	// The task's goroutine calls Began before its body, and Ended after it, when the
	// runtime has taken its accesses back. err is the task's failure, or nil.
	Began(t *Task)
	Ended(t *Task, err error)
}

// DoorObserver is the capability of an Observer to be told of relaxed accesses, too.
// guard is the name of the lock between ordered and relaxed access, from Options.
type DoorObserver interface {
	// Door returns the observer of the relaxed accesses, or nil.
	Door(guard string) resource.DoorObserver
}

// doorObserver asks the first observer that has this capability.
func (rt *Runtime) doorObserver() resource.DoorObserver {
	for _, o := range rt.o.Observers {
		if d, ok := o.(DoorObserver); ok {
			return d.Door(rt.o.Guard)
		}
	}
	return nil
}

// observe gives an access its observers.
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
