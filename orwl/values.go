package orwl

import (
	"context"

	"github.com/orwl/go-orwl/handle"
	"github.com/orwl/go-orwl/resource"
)

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
