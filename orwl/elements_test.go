package orwl

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/handle"
	"github.com/orwl/go-orwl/internal/typed"
	"github.com/orwl/go-orwl/resource"
)

// refuses checks that an error is about the array of float64, and says so with the other type.
func refuses(t *testing.T, what string, err error, texts ...string) {
	t.Helper()
	var e *typed.ElementsError
	if !errors.As(err, &e) {
		t.Fatalf("%s: %v, want an *typed.ElementsError", what, err)
	}
	for _, want := range append(texts, `"heat" has elements of type float64, not `) {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v does not say %q", what, err, want)
		}
	}
}

// An access of another type than the array's is refused before the run, all of them at once, with the task.
func TestElementsOfAccess(t *testing.T) {
	rt := mustNew(t, Options{})
	heat := Array[float64](rt, "heat", 4)
	task, other := rt.Task("red"), rt.Task("black")
	Writes[int32](task, heat)
	Reads[[2]float64](other, heat)
	Reads[float64](other, heat)
	for _, task := range []*Task{task, other} {
		task.Each(1, func(int) error { t.Error("a task runs"); return nil })
	}
	err := rt.Run(t.Context())
	refuses(t, "Run", err, `task "red"`, "not int32", `task "black"`, "not [2]float64")
	if n := strings.Count(err.Error(), "\n"); n != 1 {
		t.Errorf("%v: %d lines, want 2", err, n+1)
	}
}

// Each function that shows an array refuses another type, and changes nothing.
func TestElementsOfViews(t *testing.T) {
	ctx := t.Context()
	rt := mustNew(t, Options{})
	heat := Array[float64](rt, "heat", 2)
	_, err := Values[uint64](ctx, heat)
	refuses(t, "Values", err, "not uint64")
	refuses(t, "Fill", Fill(ctx, heat, func([]float32) { t.Error("filled") }), "not float32")
	if err := Fill(ctx, heat, func(v []float64) { v[0] = 1 }); err != nil {
		t.Error(err)
	}
	var h handle.Handle
	if err := errors.Join(h.Request(heat, resource.Write), h.Acquire(ctx)); err != nil {
		t.Fatal(err)
	}
	_, err = handle.ReadAll[int64](handle.Vector{&h})
	refuses(t, "ReadAll", err)
	_, err = handle.Write[int64](&h)
	refuses(t, "Write", err)
	if err := h.Release(); err != nil {
		t.Error(err)
	}
	if s := core(heat).Inspect(); s.Version != 1 || s.Size != 16 {
		t.Errorf("version %d and %d bytes, want 1 and 16", s.Version, s.Size)
	}
}

// A body that shows an access as another type ends its task.
func TestElementsInBody(t *testing.T) {
	for name, show := range map[string]func(a *Access){
		"Read":  func(a *Access) { Read[int64](a) },
		"Write": func(a *Access) { Write[int64](a)[0] = 1 },
	} {
		rt := mustNew(t, Options{})
		task := rt.Task("red")
		out := Writes[float64](task, Array[float64](rt, "heat", 4))
		task.Each(1, func(int) error { show(out.Access()); return nil })
		refuses(t, name, rt.Run(context.Background()), `task "red"`, "not int64")
	}
}

// A resource that is no array has elements of any type. An array that cannot be is refused by its own name.
func TestElementsDeclared(t *testing.T) {
	rt := mustNew(t, Options{})
	r := rt.Resource("r", 8)
	task := rt.Task("a")
	Reads[uint8](task, r)
	Reads[float64](task, r)
	task.Each(1, func(int) error { return nil })
	if err := rt.Run(t.Context()); err != nil {
		t.Error(err)
	}
	for want, declare := range map[string]func(rt *Runtime) *resource.Resource{
		`resource "r": handle: no view of int: `: func(rt *Runtime) *resource.Resource { return Array[int](rt, "r", 1) },
		`resource: "r": size must be a number of bytes, 0 or more, not -1 elements of float64`: func(rt *Runtime) *resource.Resource {
			return Array[float64](rt, "r", -1)
		},
		fmt.Sprintf(`resource: "r": size must be a number of bytes, 0 or more, not %d elements of float64`, math.MaxInt/2+1): func(rt *Runtime) *resource.Resource {
			return Array[float64](rt, "r", math.MaxInt/2+1)
		},
	} {
		rt := mustNew(t, Options{})
		Reads[float64](rt.Task("a"), declare(rt))
		if err := rt.Run(t.Context()); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
