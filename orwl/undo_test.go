package orwl_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/resource"
)

// If a step fails, Undo takes its writes back. Without Undo the resource is poisoned.
func TestUndo(t *testing.T) {
	for _, undo := range []bool{true, false} {
		rt := newRuntime()
		r := orwl.Array[int64](rt, "r", 2)
		if undo {
			rt.Undo(r)
		}
		task := rt.Task("fails")
		out := orwl.Writes[int64](task, r)
		fails := errors.New("fails")
		task.Each(5, func(round int) error {
			out.Slice()[0]++
			if round == 3 {
				return fails
			}
			out.Slice()[1]++
			return nil
		})
		if err := rt.Run(t.Context()); !errors.Is(err, fails) {
			t.Errorf("%v", err)
		}
		v, err := orwl.Values[int64](t.Context(), r)
		if undo && (err != nil || !slices.Equal(v, []int64{3, 3})) || !undo && !errors.Is(err, resource.ErrPoisoned) {
			t.Errorf("undo %t: %v, %v", undo, v, err)
		}
	}
}
