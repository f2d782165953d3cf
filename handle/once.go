package handle

import (
	"context"
	"errors"

	"github.com/orwl/go-orwl/resource"
)

// Update changes the elements of r in one access of its own: it requests r, waits for
// it, runs body, and releases.
//
// If ctx ends while it waits, Update takes the request back and returns the reason. If
// body fails, nothing of it is committed, as with [Section]. Give the resource
// Options.Undo if body may fail and the old elements must stay. If the elements are
// poisoned, body does not run, and the error matches [resource.ErrPoisoned]: write all of
// them anew through a [Handle].
func Update[T any](ctx context.Context, r *resource.Resource, body func(elements []T) error) error {
	var h Handle
	return once(ctx, &h, r, resource.Write, func() error {
		elements, err := Write[T](&h)
		if err != nil {
			return err
		}
		return body(elements)
	})
}

// ReadOnce reads the elements of r in one access of its own: it requests r, waits for
// it, runs body, and releases. The view is valid until body returns.
//
// If ctx ends while it waits, ReadOnce takes the request back and returns the reason. If
// the elements are poisoned, body does not run, and the error matches
// [resource.ErrPoisoned].
func ReadOnce[T any](ctx context.Context, r *resource.Resource, body func(elements View[T]) error) error {
	var h Handle
	return once(ctx, &h, r, resource.Read, func() error {
		elements, err := Read[T](&h)
		if err != nil {
			return err
		}
		return body(elements)
	})
}

// once is a section of a handle that is used only for it. It refuses poisoned bytes,
// since its body cannot ask for Prior.
func once(ctx context.Context, h *Handle, r *resource.Resource, m resource.Mode, body func() error) error {
	if err := h.Request(r, m); err != nil {
		return err
	}
	return Section(ctx, h, func() error {
		if prior := h.Prior(); errors.Is(prior, resource.ErrPoisoned) {
			return prior
		}
		return body()
	})
}
