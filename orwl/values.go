package orwl

import (
	"context"

	"github.com/orwl/go-orwl/handle"
	"github.com/orwl/go-orwl/resource"
)

// Fill lets fill set the elements of a resource, as whoever is next in its queue:
// before [Runtime.Run] at once.
func Fill[T any](ctx context.Context, r *resource.Resource, fill func(elements []T)) error {
	var h handle.Handle
	if err := h.Request(r, resource.Write); err != nil {
		return err
	}
	return once(ctx, &h, func() error {
		elements, err := handle.Write[T](&h)
		if err == nil {
			fill(elements)
		}
		return err
	})
}

// Values copies the elements of a resource, as whoever is next in its queue: after
// [Runtime.Run] at once.
func Values[T any](ctx context.Context, r *resource.Resource) (elements []T, err error) {
	var h handle.Handle
	if err := h.Request(r, resource.Read); err != nil {
		return nil, err
	}
	err = once(ctx, &h, func() error {
		v, err := handle.Read[T](&h)
		elements = make([]T, v.Len())
		v.Copy(elements)
		return err
	})
	return elements, err
}

// once is a section of a handle that is not used again.
func once(ctx context.Context, h *handle.Handle, body func() error) error {
	err := handle.Section(ctx, h, body)
	if h.Place().Requested() {
		_ = h.Cancel() // ctx has ended before the section
	}
	return err
}
