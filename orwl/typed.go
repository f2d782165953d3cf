package orwl

import (
	"context"
	"fmt"
	"math"
	"reflect"

	"github.com/orwl/go-orwl/handle"
	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/internal/typed"
	"github.com/orwl/go-orwl/resource"
)

// Array declares a resource of n elements of type T, all zero. See [Runtime.Resource]. Its elements have this type
// for all who open it: another one is an error, at the declaration of an access and in all functions.
func Array[T any](rt *Runtime, name string, n int) *resource.Resource {
	one, wrong := reflect.TypeFor[T](), typed.Check[T]()
	if wrong != nil {
		return rt.resource(name, 0, nil, fmt.Errorf("resource %q: %w", name, wrong))
	}
	size := int(one.Size())
	if n < 0 || n > math.MaxInt/size {
		return rt.resource(name, 0, nil, fmt.Errorf("resource: %q: %w, not %d elements of %v", name, queue.ErrSize, n, one))
	}
	return rt.resource(name, n*size, one, nil)
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
func Reads[T any](t *Task, r *resource.Resource) In[T] {
	return In[T]{t.access(core(r), queue.Read, typed.CheckFor[T])}
}

// Writes declares that the task writes r in each round, as elements of type T.
func Writes[T any](t *Task, r *resource.Resource) Out[T] {
	return Out[T]{t.access(core(r), queue.Write, typed.CheckFor[T])}
}

// View is the resource's elements, while the task holds the access: in a body of Each. To ask at another time ends the task
// with an error.
func (in In[T]) View() handle.View[T] { return shown[T](in.access) }

// Slice is the resource's elements, to be changed in place while the task holds the access.
// To ask at another time ends the task with an error. A round that does not ask writes
// nothing.
func (out Out[T]) Slice() []T {
	if t := out.access.task; t.by.Load() != here() { // own, without its call
		t.foreign(out.access)
	}
	p := &out.access.place
	if typed.Fits[T](p.Size()) { // before Writable: a release commits after that
		if b, err := p.Writable(); err == nil {
			return typed.Slice[T](b)
		}
	}
	return write[T](out.access) // it fails
}

// shown is Read of an access whose type Reads has checked.
func shown[T any](a *Access) handle.View[T] {
	if t := a.task; t.by.Load() != here() { // Slice does the same
		t.foreign(a)
	}
	if b, err := a.place.Bytes(); err == nil && typed.Fits[T](len(b)) {
		return handle.View[T](typed.ViewOf[T](b))
	}
	return read[T](a) // it fails
}

// Fill calls fill to set the elements of a resource, when its turn in the queue comes.
// Before [Runtime.Run] that is at once. If ctx ends first, nothing is left in the
// queue. If fill panics, nothing is committed.
//
// Fill also accepts a poisoned resource. Then fill must set all elements.
func Fill[T any](ctx context.Context, r *resource.Resource, fill func(elements []T)) error {
	return queue.Section(ctx, core(r), queue.Write, func(p *queue.Place) error {
		elements, err := typed.Write[T](p, new(typed.Memo))
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
	err = queue.Look(ctx, core(r), func(p *queue.Place) error {
		v, err := typed.Read[T](p, new(typed.Memo))
		elements = append(make([]T, 0, len(v.Elements())), v.Elements()...)
		return err
	})
	return elements, err
}
