package resource

import "context"

// DoorObserver is told of who goes through the relaxed door of a resource, by the
// goroutine that does. It must not wait.
type DoorObserver interface {
	// Knocked is called first. Who it returns is told what comes of it; nobody, if
	// nil.
	Knocked(m Mode) Visit
}

// Visit is told of one way through the relaxed door.
type Visit interface {
	// Waiting comes before the goroutine waits for the door, once.
	Waiting()
	// Entered comes when the door is open, or is not going to be, and why. In that
	// case no Left follows.
	Entered(err error)
	// Left comes when the door is free again.
	Left()
}

// visit is knock that the door's observer is told of.
func (r *Resource) visit(ctx context.Context, m Mode) (*guard, Visit, error) {
	var o DoorObserver
	if r.door.o != nil {
		o = r.door.o.Observer
	}
	if o == nil {
		g, err := r.knock(ctx, m, nil)
		return g, nil, err
	}
	v := o.Knocked(m)
	g, err := r.knock(ctx, m, v)
	if v != nil {
		v.Entered(err)
	}
	return g, v, err
}

// leaves tells of the end of a visit, if anybody wants to know.
func (r *Resource) leaves(v Visit) {
	if v != nil {
		v.Left()
	}
}
