package stencil

import (
	"testing"

	"github.com/orwl/go-orwl/orwl"
)

// A round has as many passes as make few trees: the values of a reduction come after the same turns of each round. With
// Until and Lag it has some more, so that a value has time to come.
func TestTurns(t *testing.T) {
	until := func(int, float64) bool { return false }
	for _, c := range []struct {
		sweeps     int
		reductions []ReductionOptions
		turns      int
		trees      int // turns that have one
	}{
		{1, nil, 2, 0},
		{1, []ReductionOptions{{}}, 2, 2},
		{1, []ReductionOptions{{Every: 4}}, 4, 1},
		{1, []ReductionOptions{{Every: 16}}, 16, 1},
		{1, []ReductionOptions{{Every: 5}}, 10, 2},
		{1, []ReductionOptions{{Every: 7}}, 14, 2},
		{1, []ReductionOptions{{Every: 17}}, 2, 2},
		{1, []ReductionOptions{{Every: 32}}, 16, 1},
		{1, []ReductionOptions{{Every: 4}, {Every: 6}}, 12, 4},
		{1, []ReductionOptions{{Every: 16}, {Every: 3}}, 16, 16},
		{4, []ReductionOptions{{Every: 16}}, 4, 1},
		{1, []ReductionOptions{{Lag: 30}}, 2, 2},
		{1, []ReductionOptions{{Lag: 1, Until: until}}, 2, 2},
		{1, []ReductionOptions{{Lag: 2, Until: until}}, 4, 4},
		{1, []ReductionOptions{{Lag: 3, Until: until}}, 4, 4},
		{1, []ReductionOptions{{Lag: 4, Until: until}}, 8, 8},
		{1, []ReductionOptions{{Lag: 30, Until: until}}, 8, 8},
		{4, []ReductionOptions{{Every: 4, Lag: 12, Until: until}}, 4, 4},
		{4, []ReductionOptions{{Every: 4, Lag: 4, Until: until}}, 2, 2},
	} {
		rt, err := orwl.New(orwl.Options{})
		if err != nil {
			t.Fatal(err)
		}
		g := New(rt, Options{Size: Size{8, 8}, Blocks: Size{1, 1}, Sweeps: c.sweeps})
		NewField(g, "u", FieldOptions[int8]{Halo: Around(1)})
		for i, r := range c.reductions {
			NewSum(g, string(rune('a'+i)), r)
		}
		if err := g.Sweep(40, func(*Block) {}); err != nil {
			t.Fatalf("%+v: %v", c, err)
		}
		trees := 0
		for _, x := range g.trees[0] {
			if x != nil {
				trees++
			}
		}
		if g.turns != c.turns || trees != c.trees {
			t.Errorf("%d sweeps, %+v: %d turns and %d trees, want %d and %d", c.sweeps, c.reductions, g.turns, trees, c.turns, c.trees)
		}
		if err := rt.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
