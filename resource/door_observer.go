package resource

import "context"

// DoorObserver is told of relaxed accesses, by the goroutine that makes them. It must
// not wait.
type DoorObserver interface {
	// Knocked is called first. It returns the Visit that is told of the rest of this
	// access, or nil.
	Knocked(m Mode) Visit
}

// Visit is told of one relaxed access.
type Visit interface {
	// Waiting comes before the goroutine waits, once.
	Waiting()
	// Entered comes when the access begins, or fails with err. After a failure no Left
	// follows.
	Entered(err error)
	// Left comes when the access has ended.
	Left()
}

// visit is knock with calls to the door's observer.
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

// leaves tells the visit of its end. The visit may be nil.
func (r *Resource) leaves(v Visit) {
	if v != nil {
		v.Left()
	}
}
