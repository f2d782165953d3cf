package orwl_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/orwl/go-orwl/internal/typed"
	"github.com/orwl/go-orwl/orwl"
)

// One point is heated, and another one follows it half-way in each round.
func ExampleTask_Each() {
	rt, _ := orwl.New(orwl.Options{})
	north := orwl.Array[float64](rt, "north", 1)
	south := orwl.Array[float64](rt, "south", 1)

	heat := rt.Task("heat")
	hot := orwl.Writes[float64](heat, north)
	heat.Each(4, func(round int) error {
		hot.Slice()[0] += 10
		return nil
	})

	follow := rt.Task("follow")
	from, to := orwl.Reads[float64](follow, north), orwl.Writes[float64](follow, south)
	follow.Each(4, func(round int) error {
		to.Slice()[0] = (to.Slice()[0] + from.View().At(0)) / 2
		return nil
	})

	if err := rt.Run(context.Background()); err != nil {
		fmt.Println(err)
		return
	}
	end, _ := orwl.Values[float64](context.Background(), south)
	fmt.Println(end)
	// Output: [30.625]
}

// A type or a length that does not fit is refused before the run. The error names the task
// and the resource.
func TestTypedRefused(t *testing.T) {
	var kind *typed.TypeError
	var length *typed.LengthError
	for name, declare := range map[string]func(rt *orwl.Runtime, task *orwl.Task) any{
		"a type with pointers": func(rt *orwl.Runtime, task *orwl.Task) any {
			orwl.Reads[*int](task, orwl.Array[uint64](rt, "r", 1))
			return &kind
		},
		"no whole number of elements": func(rt *orwl.Runtime, task *orwl.Task) any {
			orwl.Writes[[3]uint64](task, rt.Resource("r", 32))
			return &length
		},
	} {
		rt := newRuntime()
		task := rt.Task("odd")
		as := declare(rt, task)
		task.Each(1, func(int) error { return nil })
		if err := rt.Run(t.Context()); !errors.As(err, as) {
			t.Errorf("%s: %v", name, err)
		} else {
			t.Log(err)
		}
	}
}

// A round that asks for no slice writes no version.
func TestTypedVersions(t *testing.T) {
	rt := newRuntime()
	r := orwl.Array[uint32](rt, "r", 6)
	writer, reader := rt.Task("writer"), rt.Task("reader")
	out, in := orwl.Writes[uint32](writer, r), orwl.Reads[uint32](reader, r)
	writer.Each(4, func(round int) error {
		if round%2 == 0 {
			out.Slice()[round]++
		}
		return nil
	})
	var versions []uint64
	reader.Each(4, func(int) error {
		versions = append(versions, in.Access().Place().Version())
		if in.View().Len() != 6 {
			t.Errorf("%d elements", in.View().Len())
		}
		return nil
	})
	must(rt.Run(t.Context()))
	if want := []uint64{1, 1, 2, 2}; !slices.Equal(versions, want) {
		t.Errorf("versions %v, want %v", versions, want)
	}
}
