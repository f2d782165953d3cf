package orwl

import (
	"github.com/orwl/go-orwl/resource"
)

// Observer hears what the runtime does on this node, for example for metrics and traces.
// It must not wait, and must not change what it looks at.
//
// Another kind of observer hears the events of one access, or of the relaxed accesses of one resource. Packages of this
// module give it to the access or the resource when they hear of the declaration, with the kinds of events that they want:
//
//	func (o *counter) Observe(e orwl.Event) {
//		if e.Kind == orwl.Declared {
//			e.Access.Place().Observe(o.of(e.Access), queue.Waiting|queue.Acquired)
//		}
//	}
type Observer interface {
	// Observe tells of an event.
	Observe(e Event)
}

// Event is something that the runtime has done. These events are few: one for each
// declaration, and two or three for each task.
type Event struct {
	Kind     Kind
	Resource *resource.Resource // of Made
	Guard    string             // of Made: the lock between ordered and relaxed access
	Access   *Access            // of Declared
	Task     *Task              // of Began, Ended and Forgotten, and of the access
	Err      error              // of Ended: the task's failure, or nil
}

// Kind is a kind of event.
type Kind uint8

const (
	// Made comes when a resource has been declared.
	Made Kind = iota + 1
	// Declared comes for each access, before its first request, with the runtime locked.
	Declared
	// Began comes before a task's body, from the task's goroutine.
	Began
	// Ended comes from the task's goroutine when the runtime has taken its accesses back.
	Ended
	// Forgotten comes for each task of this node whose run has ended, when the program goes on to the
	// next run, with the runtime locked. Nothing of the task follows, and another task may have its name.
	// So an observer keeps no record of it.
	Forgotten
)

// tell tells all observers.
func (rt *Runtime) tell(e Event) {
	for _, o := range rt.o.Observers {
		o.Observe(e)
	}
}

func (t *Task) began() { t.rt.tell(Event{Kind: Began, Task: t}) }

func (t *Task) finished(err error) { t.rt.tell(Event{Kind: Ended, Task: t, Err: err}) }
