package stencil

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/orwl"
)

// reduced is what a run told of its reductions.
type reduced struct {
	sweeps []int
	values []float64
	swept  int
}

// reduce runs a trial with a sum, which ends it by the first sweep from end on, and a greatest value.
func (x trial) reduce(ctx context.Context, rt *orwl.Runtime, r ReductionOptions, end int) (sum, most reduced, err error) {
	g := New(rt, x.o)
	a := NewField(g, "a", x.a)
	result := func(to *reduced) func(int, float64) {
		return func(sweep int, value float64) {
			to.sweeps, to.values = append(to.sweeps, sweep), append(to.values, value)
		}
	}
	r.Until = func(sweep int, _ float64) bool { return sweep >= end }
	r.Result = result(&sum)
	total := NewSum(g, "sum", r)
	greatest := NewMax(g, "most", ReductionOptions{Every: x.o.Sweeps, Result: result(&most)})
	offsets := x.offsets(x.a.Halo)
	if err := g.Sweep(x.sweeps, func(b *Block) {
		row := make([]float64, b.Len(g.ranks-1))
		for r := range b.Rows() {
			to := a.New(r)
			for i := range to {
				sum := uint64(b.Sweep())
				for _, d := range offsets {
					sum = mixed(sum, int(a.Old(r, d...)[i]))
				}
				to[i] = sum
				row[i] = float64(sum) // the sum of these is not exact in floating-point numbers
			}
			total.Dot(b, row, row)
			greatest.Add(b, row...)
		}
	}); err != nil {
		return sum, most, err
	}
	if err := rt.Run(ctx); err != nil {
		return sum, most, err
	}
	if err := g.Verify(ctx); err != nil {
		return sum, most, err
	}
	_, err = a.Values(ctx)
	sum.swept = g.swept()
	return sum, most, err
}

// A reduction has the same bits on any blocks, pieces and sweeps between exchanges, with and without exporters. It ends
// all blocks after the same sweep.
func TestReduction(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := draw(t)
		x.a.Previous = nil
		x.sweeps = rapid.IntRange(1, 90).Draw(t, "most sweeps")
		end := rapid.IntRange(0, 40).Draw(t, "end")
		k := x.o.Sweeps
		r := ReductionOptions{Every: k * rapid.IntRange(1, 40).Draw(t, "every"), Lag: k * rapid.IntRange(0, 12).Draw(t, "lag")}
		reduce := func(x trial) (sum, most reduced) {
			rt, err := orwl.New(orwl.Options{})
			if err == nil {
				sum, most, err = x.reduce(t.Context(), rt, r, end)
			}
			if err != nil {
				t.Fatalf("%v: %v", x, err)
			}
			return sum, most
		}
		sum, most := reduce(x)
		first := (end + r.Every) / r.Every * r.Every // the sweeps when Until holds
		if want := min(first+r.Lag, x.sweeps); sum.swept != want {
			t.Errorf("%v: %d sweeps, want %d: %+v, end %d", x, sum.swept, want, r, end)
		}
		for name, got := range map[string]reduced{"sum": sum, "most": most} {
			every := map[string]int{"sum": r.Every, "most": k}[name]
			var want []int
			for s := every; s <= sum.swept; s += every {
				want = append(want, s-1)
			}
			if !slices.Equal(got.sweeps, want) {
				t.Errorf("%v: %s of sweeps %v, want %v", x, name, got.sweeps, want)
			}
		}
		one := x
		one.o.Blocks = nil
		for i := range x.o.Size {
			n := 1
			if x.o.Update == InPlace && x.o.Periodic[i] {
				n = 2
			}
			one.o.Blocks = append(one.o.Blocks, n)
		}
		one.o.Sweeps, one.o.Exporters = 1, false
		if sum1, _ := reduce(one); !slices.Equal(sum1.values, sum.values) || sum1.swept != sum.swept {
			t.Errorf("%v: sums %x, want %x", x, sum.values, sum1.values)
		}
	})
}

// TestReductionOnNodes reduces on several nodes. The last node may have no block.
func TestReductionOnNodes(t *testing.T) {
	for seed := range nodeTrials.All() {
		x := rapid.Custom(draw).Example(int(seed))
		x.a.Previous, x.sweeps = nil, 30
		k := x.o.Sweeps
		r := ReductionOptions{Every: k * (1 + int(seed)%3), Lag: k * (int(seed) % 5)}
		var want reduced
		for _, nodes := range []int{1, 2 + int(seed)%4} {
			err := together(nodes, func(ctx context.Context, rt *orwl.Runtime) error {
				sum, _, err := x.reduce(ctx, rt, r, 7)
				switch {
				case err != nil:
				case nodes == 1:
					want = sum
				case sum.swept != want.swept:
					err = fmt.Errorf("node %d: %d sweeps, want %d", rt.Node(), sum.swept, want.swept)
				case len(sum.values) > 0 && !slices.Equal(sum.values, want.values):
					err = fmt.Errorf("node %d: %x, want %x", rt.Node(), sum.values, want.values)
				}
				return err
			})
			if err != nil {
				t.Fatalf("trial %d, %v, %+v, %d nodes: %v", seed, x, r, nodes, err)
			}
		}
	}
}

// TestFirstEnd has several reductions. Each wants an end after another sweep, or never. The first one that is
// reached ends the run, whatever their order.
func TestFirstEnd(t *testing.T) {
	for _, update := range []Update{Jacobi, InPlace} {
		for _, lag := range rings.Sampling([]int{0, 1, 7, 20}, []int{0, 7}) {
			for _, ends := range rings.Sampling([][]int{{4}, {4, 100}, {100, 4}, {4, 6}, {6, 4}, {100, 6, 4, 5}}, [][]int{{4, 100}, {100, 6, 4, 5}}) {
				rt, err := orwl.New(orwl.Options{Log: silent})
				if err != nil {
					t.Fatal(err)
				}
				g := New(rt, Options{Size: Size{10, 12}, Blocks: Size{5, 4}, Update: update}) // so many blocks need joints
				NewField(g, "u", FieldOptions[float64]{Halo: Around(1)})
				for i, end := range ends {
					NewSum(g, fmt.Sprint(i), ReductionOptions{Lag: lag, Until: func(sweep int, _ float64) bool { return sweep >= end }})
				}
				if err := g.Sweep(1<<30, func(*Block) {}); err != nil { // no task goes on alone
					t.Fatal(err)
				}
				if err := rt.Run(t.Context()); err != nil {
					t.Fatal(err)
				}
				if want := 4 + 1 + lag; g.swept() != want {
					t.Errorf("update %d, ends %v, lag %d: %d sweeps, want %d", update, ends, lag, g.swept(), want)
				}
			}
		}
	}
}
