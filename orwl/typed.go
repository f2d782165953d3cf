package orwl

import (
	"context"
	"fmt"
	"reflect"

	"github.com/orwl/go-orwl/handle"
	"github.com/orwl/go-orwl/resource"
)

// Array declares a resource of n elements of type T, all zero. See [Runtime.Resource].
func Array[T any](rt *Runtime, name string, n int) *resource.Resource {
	return rt.Resource(name, n*int(reflect.TypeFor[T]().Size()))
}

// In is an access by which a task reads a resource as elements of type T. It has no method
// that writes.
type In[T any] struct{ access *Access }

// Out is an access by which a task writes a resource of elements of type T.
type Out[T any] struct{ access *Access }

// Reads declares that the task reads r in each round, as elements of type T:
//
//	in, out := orwl.Reads[float64](t, u), orwl.Writes[float64](t, v)
//	t.Each(100, func(int) error {
//		for i, x := range in.View().All() {
//			out.Slice()[i] = x / 2
//		}
//		return nil
//	})
func Reads[T any](t *Task, r *resource.Resource) In[T] { return In[T]{typed[T](t, t.Read(r))} }

// Writes declares that the task writes r in each round, as elements of type T.
func Writes[T any](t *Task, r *resource.Resource) Out[T] { return Out[T]{typed[T](t, t.Write(r))} }

// typed declares that a has elements of type T.
func typed[T any](t *Task, a *Access) *Access {
	t.declare(fmt.Sprintf("an access of task %q", t.name), func() error {
		if err := handle.Check[T](); err != nil {
			return fmt.Errorf("task %q: %w", t.name, err)
		}
		one := reflect.TypeFor[T]()
		if r := a.resource; r != nil && r.InitialSize()%int(one.Size()) != 0 {
			return fmt.Errorf("task %q: resource %q: %w", t.name, r.Name(), &handle.LengthError{Type: one, Bytes: r.InitialSize()})
		}
		return nil
	})
	return a
}

// View is the resource's elements, while the task holds the access: in a body of Each or a
// round of Rounds. To ask at another time ends the task with an error.
func (in In[T]) View() handle.View[T] { return shown[T](in.access) }

// Access is the access itself: for its priority, or to acquire and release it by hand.
func (in In[T]) Access() *Access { return in.access }

// Slice is the resource's elements, to be changed in place while the task holds the access.
// To ask at another time ends the task with an error. A round that does not ask writes
// nothing.
func (out Out[T]) Slice() []T {
	p := out.access.Place()
	if handle.Fits[T](p.Size()) { // before Writable: a release commits after that
		if b, err := p.Writable(); err == nil {
			return handle.SliceOf[T](b)
		}
	}
	return Write[T](out.access) // it fails
}

// Part is Slice for elements low to high-1. A round that asks only for parts changes only these,
// and only these travel to other nodes. A part that is not there ends the task with an error.
func (out Out[T]) Part(low, high int) []T {
	s, err := handle.WritePart[T](&out.access.Handle, low, high)
	if err != nil {
		panic(misuse{err})
	}
	return s
}

// View is the resource's elements, without writing: see In.View.
func (out Out[T]) View() handle.View[T] { return shown[T](out.access) }

// Access is the access itself: see In.Access.
func (out Out[T]) Access() *Access { return out.access }

// shown is Read of an access whose type typed has checked.
func shown[T any](a *Access) handle.View[T] {
	if b, err := a.Place().Bytes(); err == nil && handle.Fits[T](len(b)) {
		return handle.ViewOf[T](b)
	}
	return Read[T](a) // it fails
}

// Fill calls fill to set the elements of a resource, when its turn in the queue comes.
// Before [Runtime.Run] that is at once. If ctx ends first, nothing is left in the
// queue. If fill panics, nothing is committed.
//
// Fill also accepts a poisoned resource. Then fill must set all elements.
func Fill[T any](ctx context.Context, r *resource.Resource, fill func(elements []T)) error {
	var h handle.Handle
	if err := h.Request(r, resource.Write); err != nil {
		return err
	}
	return handle.Section(ctx, &h, func() error {
		elements, err := handle.Write[T](&h)
		if err == nil {
			fill(elements)
		}
		return err
	})
}

// Values copies the elements of a resource, when its turn in the queue comes. After
// [Runtime.Run] that is at once. If ctx ends first, nothing is left in the queue.
// Elements that a failed task has left half written are an error: see
// [resource.ErrPoisoned].
func Values[T any](ctx context.Context, r *resource.Resource) (elements []T, err error) {
	err = handle.ReadOnce(ctx, r, func(v handle.View[T]) error {
		elements = make([]T, v.Len())
		v.Copy(elements)
		return nil
	})
	return elements, err
}
