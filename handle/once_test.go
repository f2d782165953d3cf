package handle

import (
	"context"
	"errors"
	"testing"

	"github.com/orwl/go-orwl/resource"
)

// both are Update and ReadOnce, for tests that both must pass.
var both = map[string]func(ctx context.Context, r *resource.Resource, body func(first float64) error) error{
	"Update": func(ctx context.Context, r *resource.Resource, body func(float64) error) error {
		return Update(ctx, r, func(elements []float64) error { return body(elements[0]) })
	},
	"ReadOnce": func(ctx context.Context, r *resource.Resource, body func(float64) error) error {
		return ReadOnce(ctx, r, func(elements View[float64]) error { return body(elements.At(0)) })
	},
}

// free fails the test if r has a request in its queue.
func free(t *testing.T, r *resource.Resource) {
	t.Helper()
	var h Handle
	fine(t, h.Request(r, resource.Write))
	if h.Test() != Granted {
		t.Fatal("something is left in the queue")
	}
	fine(t, h.Cancel())
}

// ReadOnce reads the elements that Update has committed.
func TestOnce(t *testing.T) {
	r := newResource(t, 16)
	for i := range 3 {
		fine(t, Update(t.Context(), r, func(elements []float64) error {
			elements[1]++
			return nil
		}))
		read := false
		fine(t, ReadOnce(t.Context(), r, func(elements View[float64]) error {
			if read = true; elements.Len() != 2 || elements.At(1) != float64(i+1) {
				t.Errorf("%d elements, the second is %v, want %d", elements.Len(), elements.At(1), i+1)
			}
			return nil
		}))
		if !read {
			t.Error("nothing was read")
		}
		free(t, r)
	}
}

// If the context ends while they wait, they leave no request in the queue.
func TestOnceGivesUp(t *testing.T) {
	for name, once := range both {
		t.Run(name, func(t *testing.T) {
			r := newResource(t, 8)
			first := holder(t, r)
			err := once(ended(), r, func(float64) error { t.Error("the body ran"); return nil })
			if !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
			fine(t, first.Release())
			free(t, r)
		})
	}
}

// An Update that fails commits nothing. A ReadOnce that fails only releases.
func TestOnceFails(t *testing.T) {
	errBody := errors.New("body")
	for fails, fail := range failures {
		for name, once := range both {
			t.Run(name+" "+fails, func(t *testing.T) {
				r := newResource(t, 8)
				apart(func() {
					if err := once(t.Context(), r, func(float64) error { return fail(errBody) }); err != errBody {
						t.Errorf("it returned %v", err)
					}
				})
				free(t, r)
				if prior := holder(t, r).Prior(); errors.Is(prior, resource.ErrPoisoned) != (name == "Update") {
					t.Errorf("prior is %v", prior)
				}
			})
		}
	}
}

// A wrong type is an error and changes nothing.
func TestOnceOfAWrongType(t *testing.T) {
	r := newResource(t, 8)
	var wrongType *TypeError
	var wrongLength *LengthError
	if err := Update(t.Context(), r, func([]*int) error { return nil }); !errors.As(err, &wrongType) {
		t.Error(err)
	}
	if err := ReadOnce(t.Context(), r, func(View[*int]) error { return nil }); !errors.As(err, &wrongType) {
		t.Error(err)
	}
	if err := Update(t.Context(), r, func([][3]float64) error { return nil }); !errors.As(err, &wrongLength) {
		t.Error(err)
	}
	if err := ReadOnce(t.Context(), r, func(View[[3]float64]) error { return nil }); !errors.As(err, &wrongLength) {
		t.Error(err)
	}
	free(t, r)
	if h := holder(t, r); h.Prior() != nil || h.Version() != 0 {
		t.Errorf("version %d, prior %v", h.Version(), h.Prior())
	}
}

// Both refuse poisoned bytes until a handle has written them anew.
func TestOnceOfPoisonedBytes(t *testing.T) {
	errBody := errors.New("body")
	nothing := func(float64) error { return nil }
	r := newResource(t, 8)
	err := Update(t.Context(), r, func([]float64) error { return errBody })
	if err != errBody {
		t.Fatal(err)
	}
	for range 2 { // the first try does not end the poison
		for name, once := range both {
			err := once(t.Context(), r, func(float64) error { t.Errorf("the body of %s ran", name); return nil })
			if !errors.Is(err, resource.ErrPoisoned) || !errors.Is(err, errBody) {
				t.Errorf("%s: %v", name, err)
			}
			free(t, r)
		}
	}
	h := holder(t, r)
	_, err = Write[float64](h)
	fine(t, err)
	fine(t, h.Release())
	for _, once := range both {
		fine(t, once(t.Context(), r, nothing))
	}
	// With Undo the last committed bytes are back, and both accept them.
	r, err = resource.NewWith("r", 8, resource.Options{Undo: true})
	fine(t, err)
	for _, once := range both {
		if err := Update(t.Context(), r, func([]float64) error { return errBody }); err != errBody {
			t.Error(err)
		}
		fine(t, once(t.Context(), r, nothing))
	}
}
