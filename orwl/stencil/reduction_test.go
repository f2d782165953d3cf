package stencil

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/orwl/go-orwl/orwl"
)

// A sum over all cells equals the sequential sweep's, for each sweep before an exchange. It ends
// all blocks after the same sweep.
func TestReductionEqualsSequential(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := draw(t)
		x.o.Exporters = false
		x.sweeps = rapid.IntRange(1, 40).Draw(t, "most sweeps")
		end := rapid.IntRange(0, 40).Draw(t, "end")
		run := func(x trial) (sums map[int]uint64, swept int, delay int) {
			sums = make(map[int]uint64)
			rt, err := orwl.New(orwl.Options{})
			if err != nil {
				t.Fatal(err)
			}
			g := New(rt, x.o)
			a := NewField(g, "a", x.a)
			before, ended := -1, false
			sum := NewReduction(g, "sum", ReductionOptions[uint64]{
				Combine: func(a, b uint64) uint64 { return a + b },
				Result: func(sweep int, value uint64) {
					if sweep <= before {
						t.Errorf("sweep %d after sweep %d", sweep, before)
					}
					before = sweep
					sums[sweep] = value
				},
				Until: func(sweep int, _ uint64) bool {
					if ended {
						t.Errorf("Until is asked again, after sweep %d", sweep)
					}
					ended = sweep >= end
					return ended
				},
			})
			offsets := x.offsets(x.a.Halo)
			err = g.Sweep(x.sweeps, func(b *Block) {
				for r := range b.Rows() {
					to, total := a.New(r), uint64(0)
					for i := range to {
						sum := uint64(b.Sweep())
						for _, d := range offsets {
							sum = mixed(sum, int(a.Old(r, d...)[i]))
						}
						to[i] = sum
						total += sum
					}
					sum.Put(b, total)
				}
			})
			if err != nil {
				t.Fatalf("%v: %v", x, err)
			}
			if err := rt.Run(t.Context()); err != nil {
				t.Fatalf("%v: %v", x, err)
			}
			if err := g.Verify(t.Context()); err != nil {
				t.Fatalf("%v: %v", x, err)
			}
			return sums, g.swept(), sum.Delay()
		}
		sums, swept, delay := run(x)
		k := x.o.Sweeps
		if want := min((end/k+1)*k+delay, x.sweeps); swept != want {
			t.Errorf("%v: %d sweeps, want %d: the end is asked for by sweep %d, and the delay is %d", x, swept, want, end, delay)
		}
		for s := min(k, x.sweeps) - 1; s+delay < swept; s += k {
			if _, ok := sums[s]; !ok {
				t.Errorf("%v: no result of sweep %d in %v", x, s, sums)
			}
		}
		one := x
		one.o.Blocks = nil
		for i := range x.o.Size {
			one.o.Blocks = append(one.o.Blocks, 1)
			if x.o.Update == InPlace && x.o.Periodic[i] {
				return // needs two blocks
			}
		}
		end = x.sweeps
		want, _, _ := run(one)
		for s := range sums {
			if sums[s] != want[s] {
				t.Errorf("%v: sum of sweep %d is %x, want %x", x, s, sums[s], want[s])
			}
		}
	})
}

// TestFirstEnd has several reductions, each of which wants an end after another sweep, or never. The first one that is
// reached ends the run, whatever their order.
func TestFirstEnd(t *testing.T) {
	for _, update := range []Update{Jacobi, InPlace} {
		for _, ends := range [][]int{{4}, {4, 100}, {100, 4}, {4, 6}, {6, 4}, {100, 6, 4, 5}} {
			rt, err := orwl.New(orwl.Options{Log: silent})
			if err != nil {
				t.Fatal(err)
			}
			g := New(rt, Options{Size: Size{6, 6}, Blocks: Size{2, 3}, Update: update})
			NewField(g, "u", FieldOptions[float64]{Halo: Around(1)})
			for _, end := range ends {
				NewReduction(g, fmt.Sprint(len(g.reductions)), ReductionOptions[int64]{
					Combine: func(a, _ int64) int64 { return a },
					Until:   func(sweep int, _ int64) bool { return sweep >= end },
				})
			}
			if err := g.Sweep(50, func(*Block) {}); err != nil {
				t.Fatal(err)
			}
			if err := rt.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			if want := 4 + 1 + g.delay(); g.swept() != want {
				t.Errorf("update %d, ends %v: %d sweeps, want %d", update, ends, g.swept(), want)
			}
		}
	}
}
