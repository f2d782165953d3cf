package stencil

import (
	"slices"
	"testing"

	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/orwl/stencil/internal/inside"
)

// Each cell counts the sweeps. The first frame has the cells before the run. All cells of a frame have the same count,
// frames come in order, and the last one is of the last sweep. When the body has asked for half as many, half as many
// follow, and the frames that some block had come to before: it was 3 passes ahead at most.
func TestFrames(t *testing.T) {
	for _, c := range []struct {
		o     Options
		until int
		want  []int
	}{
		{Options{}, 0, []int{0, 1, 2, 3, 4, 6, 8, 10, 12, 14, 15}},
		{Options{Sweeps: 2}, 0, []int{0, 2, 4, 6, 8, 12, 15}},
		{Options{Update: InPlace, pieces: 2}, 0, []int{0, 1, 2, 3, 4, 6, 8, 10, 12, 14, 15}},
		{Options{Update: InPlace}, 8, []int{0, 1, 2, 3, 4, 6, 8, 10, 11}},
	} {
		rt, err := orwl.New(orwl.Options{})
		if err != nil {
			t.Fatal(err)
		}
		c.o.Size, c.o.Blocks = Size{12, 10}, Size{3, 2}
		g := New(rt, c.o)
		u := NewField(g, "u", FieldOptions[int32]{Halo: Around(1)})
		if c.until > 0 {
			NewMax(g, "end", ReductionOptions{Lag: 3, Until: func(sweep int, _ float64) bool { return sweep+1 >= c.until }})
		}
		if err := g.Sweep(15, func(b *Block) {
			for r := range b.Rows() {
				old, next := u.Old(r), u.New(r)
				for i := range next {
					next[i] = old[i] + 1
				}
			}
		}); err != nil {
			t.Fatal(err)
		}
		var got []int
		ended := false
		u.frames(1, func(f inside.Frame[int32]) bool {
			got = append(got, f.Sweeps)
			for i, n := range f.Cells {
				if int(n) != f.Sweeps {
					t.Errorf("%+v: cell %d of frame %d has been swept %d times", c.o, i, f.Sweeps, n)
				}
			}
			ended = f.Last
			return len(got) == 4
		})
		if done, total := g.Progress(); done != 0 || total != 6*15 || g.Sweeps() != 0 {
			t.Errorf("%d of %d sweeps of blocks are done before the run, and %d of all", done, total, g.Sweeps())
		}
		if err := rt.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		ahead := 3 * max(1, c.o.Sweeps)
		must := slices.DeleteFunc(slices.Clone(got), func(n int) bool { return n > got[3] && n <= got[3]+ahead && !slices.Contains(c.want, n) })
		if !slices.Equal(must, c.want) || !ended {
			t.Errorf("%+v: frames %v, want %v", c.o, got, c.want)
		}
		n := got[len(got)-1]
		if done, total := g.Progress(); done != int64(6*n) || total != done || g.Sweeps() != n {
			t.Errorf("%+v: %d of %d sweeps of blocks are done after the run, and %d of all, want %d", c.o, done, total, g.Sweeps(), n)
		}
	}
}
