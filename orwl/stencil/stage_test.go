package stencil

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/orwl/go-orwl/orwl"
)

// staged is a grid with three fields that stages change, each from those around a cell in the others, and from sums and
// greatest values of this sweep and the one before. So one wrong cell or value changes the result.
type staged struct {
	o      Options
	sweeps int
	r      ReductionOptions // of an end
	halo   [][2]int
	before func(b *Block) // the run calls it before the first stage computes a block, unless it is nil
}

func drawStaged(t *rapid.T) (x staged) {
	trial := draw(t)
	x.o, x.halo = trial.o, trial.a.Halo
	x.o.Update, x.o.Sweeps = Jacobi, 0
	x.sweeps = rapid.IntRange(0, 20).Draw(t, "most sweeps")
	x.r = ReductionOptions{Every: rapid.IntRange(1, 20).Draw(t, "every"), Lag: rapid.IntRange(0, 12).Draw(t, "lag")}
	return x
}

// run returns the cells of all fields, and the sweeps.
func (x staged) run(ctx context.Context, rt *orwl.Runtime, end int) (cells []uint64, swept int, err error) {
	g := New(rt, x.o)
	field := func(name string) *Field[uint64] {
		return NewField(g, name, FieldOptions[uint64]{Halo: x.halo, Initial: func(at []int) uint64 { return mixed(uint64(len(name)), at...) }})
	}
	u, v, w, fixed := field("u"), field("vv"), field("www"), field("fixed")
	r := x.r
	r.Until = func(sweep int, _ float64) bool { return sweep >= end }
	ending := NewMax(g, "end", r)
	sum, most := NewSum(g, "sum", ReductionOptions{Start: 3}), NewMax(g, "most", ReductionOptions{Start: 5})
	offsets := trial{o: x.o}.offsets(padded(x.halo, len(x.o.Size)))
	bits := math.Float64bits
	// mix sets a cell from cells around it in other fields.
	mix := func(b *Block, seed uint64, to *Field[uint64], from ...*Field[uint64]) {
		values := make([]float64, b.Len(g.ranks-1))
		for row := range b.Rows() {
			cells := to.New(row)
			for i := range cells {
				n := mixed(cells[i], int(seed), b.Sweep())
				for _, f := range from {
					for _, d := range offsets {
						n = mixed(n, int(f.Old(row, d...)[i]))
					}
				}
				cells[i], values[i] = n, float64(n>>8)
			}
			switch to {
			case u:
				sum.Add(b, values...)
			case v:
				most.Add(b, values...)
				sum.Dot(b, values, values)
			}
		}
	}
	g.Stage(func(b *Block) {
		if x.before != nil {
			x.before(b)
		}
		mix(b, bits(most.Before(b)), u, v, fixed)
	}, u, sum).Reads(most)
	g.Stage(func(b *Block) { mix(b, bits(sum.Before(b)), v, u, w) }, v, most, sum, ending).Reads(sum)
	g.Stage(func(b *Block) { mix(b, bits(sum.Now(b))^bits(most.Before(b))^bits(most.Now(b))>>7, w, v) }, w).Reads(sum, most)
	if err := g.Sweep(x.sweeps); err != nil {
		return nil, 0, err
	}
	if err := rt.Run(ctx); err != nil {
		return nil, 0, err
	}
	x.before = nil
	if err := g.Verify(ctx); err != nil {
		return nil, 0, err
	}
	for _, f := range []*Field[uint64]{u, v, w, fixed} {
		values, err := f.Values(ctx)
		if err != nil {
			return nil, 0, err
		}
		cells = append(cells, values...)
	}
	return cells, g.swept(), nil
}

// padded has a pair for each dimension.
func padded(h [][2]int, ranks int) [][2]int {
	if len(h) == 1 {
		return slices.Repeat(h, ranks)
	}
	return h
}

// Stages compute what they compute in sequence, on any blocks, and end after the same sweep.
func TestStages(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawStaged(t)
		end := rapid.IntRange(0, 20).Draw(t, "end")
		first := (end + x.r.Every) / x.r.Every * x.r.Every
		rt, err := orwl.New(orwl.Options{})
		if err != nil {
			t.Fatal(err)
		}
		_, swept, err := x.run(t.Context(), rt, end)
		if want := min(first+x.r.Lag, x.sweeps); err != nil || swept != want {
			t.Fatalf("%+v: %d sweeps, want %d: %v", x, swept, want, err)
		}
	})
}

// The only stage of a grid has two generations of what it reads around a cell. It reads sums of the sweep before.
func TestOneStage(t *testing.T) {
	run := func(o Options) []float64 {
		rt, err := orwl.New(orwl.Options{})
		if err != nil {
			t.Fatal(err)
		}
		o.Size = Size{12, 9}
		g := New(rt, o)
		u := NewField(g, "u", FieldOptions[float64]{Halo: Around(1), Initial: func(at []int) float64 { return float64(at[0]*at[0] - at[1]) }})
		sum, most := NewSum(g, "sum", ReductionOptions{Start: 1}), NewMax(g, "most", ReductionOptions{Start: 2})
		g.Stage(func(b *Block) {
			relax(u, b)
			by := 1 + sum.Before(b)/(1000+math.Abs(most.Before(b)*sum.Before(b)))
			for r := range b.Rows() {
				cells := u.New(r)
				for i := range cells {
					cells[i] *= by
				}
				sum.Add(b, cells...)
				most.Add(b, cells...)
			}
		}, u, sum, most).Reads(sum, most)
		if err := g.Sweep(25); err != nil {
			t.Fatal(err)
		}
		if err := rt.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := g.Verify(t.Context()); err != nil {
			t.Errorf("%+v: %v", o, err)
		}
		cells, err := u.Values(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return cells
	}
	want := run(Options{Blocks: Size{1, 1}})
	for _, o := range []Options{{Blocks: Size{3, 2}}, {Blocks: Size{3, 2}, Exporters: true}, {Blocks: Size{1, 1}, pieces: 2}, {Blocks: Size{2, 9}}} {
		if got := run(o); !slices.Equal(got, want) {
			t.Errorf("%+v: other bits", o)
		}
	}
}

// Stages give the same bits on several nodes.
func TestStagesOnNodes(t *testing.T) {
	for seed := range nodeTrials.All() {
		x := rapid.Custom(drawStaged).Example(int(seed))
		x.sweeps = 20
		var want []uint64
		for _, nodes := range []int{1, 2 + int(seed)%4} {
			err := together(nodes, func(ctx context.Context, rt *orwl.Runtime) error {
				got, _, err := x.run(ctx, rt, 11)
				if err == nil && nodes > 1 && !slices.Equal(got, want) {
					err = fmt.Errorf("node %d: other bits", rt.Node())
				}
				if nodes == 1 {
					want = got
				}
				return err
			})
			if err != nil {
				t.Fatalf("trial %d, %+v, %d nodes: %v", seed, x, nodes, err)
			}
		}
	}
}

// With several stages, a kernel that reads around a cell what it writes there is found by Verify.
func TestVerifyFindsOrder(t *testing.T) {
	rt, err := orwl.New(orwl.Options{})
	if err != nil {
		t.Fatal(err)
	}
	g := New(rt, Options{Size: Size{8, 8}, Blocks: Size{1, 1}})
	u := NewField(g, "u", FieldOptions[float64]{Halo: Around(1), Initial: func(at []int) float64 { return float64(at[0] * at[0]) }})
	g.Stage(func(b *Block) { relax(u, b) }, u)
	g.Stage(func(*Block) {})
	if err := g.Sweep(2); err != nil {
		t.Fatal(err)
	}
	if err := rt.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := g.Verify(t.Context()); err == nil {
		t.Error("the result depends on the order of the cells, and Verify finds no difference")
	}
}

// A stage writes a field in place unless it is the only one and reads around it. A field that no stage writes has memory
// outside of the tile.
func TestGenerations(t *testing.T) {
	for stages, want := range map[int][]int{1: {2, 1, 1}, 2: {1, 1, 1}} {
		rt, err := orwl.New(orwl.Options{})
		if err != nil {
			t.Fatal(err)
		}
		g := New(rt, Options{Size: Size{8, 8}, Blocks: Size{2, 2}})
		around := NewField(g, "around", FieldOptions[float64]{Halo: Around(1)})
		at := NewField(g, "at the cell", FieldOptions[float64]{})
		NewField(g, "never written", FieldOptions[float64]{Halo: Around(1)})
		g.Stage(func(*Block) {}, around, at)
		for range stages - 1 {
			g.Stage(func(*Block) {}, at)
		}
		if err := g.Sweep(3); err != nil {
			t.Fatal(err)
		}
		for i, f := range g.fields {
			if f.generations() != want[i] {
				t.Errorf("%d stages, field %q: %d generations, want %d", stages, f.title(), f.generations(), want[i])
			}
			if f.changes() != (i < 2) || f.exchanged() > 1 {
				t.Errorf("%d stages, field %q changes: %t", stages, f.title(), f.changes())
			}
		}
		if err := rt.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// Each misuse has an error that names it.
func TestWrongStages(t *testing.T) {
	none := func(*Block) {}
	for want, declare := range map[string]func(g *Grid, u *Field[float64]) []func(*Block){
		"it has no kernel: give Sweep one": func(*Grid, *Field[float64]) []func(*Block) { return nil },
		"1 kernels and 1 stages":           func(g *Grid, u *Field[float64]) []func(*Block) { g.Stage(none, u); return []func(*Block){none} },
		"no stage adds to it": func(g *Grid, u *Field[float64]) []func(*Block) {
			NewSum(g, "s", ReductionOptions{})
			g.Stage(none, u)
			return nil
		},
		"Every is -1": func(g *Grid, u *Field[float64]) []func(*Block) {
			NewSum(g, "s", ReductionOptions{Every: -1})
			return []func(*Block){none}
		},
		"Lag is -1": func(g *Grid, u *Field[float64]) []func(*Block) {
			NewSum(g, "s", ReductionOptions{Lag: -1})
			return []func(*Block){none}
		},
		"another reduction of this name": func(g *Grid, u *Field[float64]) []func(*Block) {
			NewSum(g, "s", ReductionOptions{})
			NewMax(g, "s", ReductionOptions{})
			return []func(*Block){none}
		},
		"Every is 2, want 1: kernels read it": func(g *Grid, u *Field[float64]) []func(*Block) {
			s := NewSum(g, "s", ReductionOptions{Every: 2})
			g.Stage(none, u, s).Reads(s)
			return nil
		},
		"which only the kernel of a grid with one stage finds": func(g *Grid, u *Field[float64]) []func(*Block) {
			g.Stage(none, u, NewField(g, "w", FieldOptions[float64]{Previous: func([]int) float64 { return 0 }}))
			g.Stage(none, u)
			return nil
		},
	} {
		rt, err := orwl.New(orwl.Options{})
		if err != nil {
			t.Fatal(err)
		}
		g := New(rt, Options{Size: Size{8, 8}})
		kernels := declare(g, NewField(g, "u", FieldOptions[float64]{}))
		if err := g.Sweep(3, kernels...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// A kernel that does not say which reductions it adds to and reads is stopped.
func TestUndeclaredReductions(t *testing.T) {
	for want, kernel := range map[string]func(s, m *Reduction, b *Block){
		"does not name it":                    func(s, _ *Reduction, b *Block) { s.Add(b, 1) },
		`reads reduction "s": declare`:        func(s, _ *Reduction, b *Block) { s.Before(b) },
		"and stage 0 adds to it: read Before": func(_, m *Reduction, b *Block) { m.Now(b) },
		"which is no sum":                     func(_, m *Reduction, b *Block) { m.Dot(b, nil, nil) },
	} {
		rt, err := orwl.New(orwl.Options{Log: silent})
		if err != nil {
			t.Fatal(err)
		}
		g := New(rt, Options{Size: Size{8, 8}})
		u := NewField(g, "u", FieldOptions[float64]{})
		s, m := NewSum(g, "s", ReductionOptions{}), NewMax(g, "m", ReductionOptions{})
		g.Stage(func(b *Block) { kernel(s, m, b) }, u, m).Reads(m)
		g.Stage(func(*Block) {}, s)
		if err := g.Sweep(3); err != nil {
			t.Fatal(err)
		}
		if err := rt.Run(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestBands gives a stage a large block in bands, and a small one at once. A mirrored grid has no bands: its stage reads an image of a
// cell that it changes, with the value from before. The result has the bits of a sweep row by row.
func TestBands(t *testing.T) {
	for name, c := range map[string]struct {
		rows     int
		mirrored bool
		calls    int // of a stage in a sweep
	}{
		"large":    {600, false, 3},
		"small":    {200, false, 1},
		"mirrored": {600, true, 1},
	} {
		t.Run(name, func(t *testing.T) {
			const sweeps, columns = 2, 62 // a row of both fields takes about 1 KiB
			rt, err := orwl.New(orwl.Options{})
			if err != nil {
				t.Fatal(err)
			}
			g := New(rt, Options{Size: Size{c.rows, columns}, Blocks: Size{1, 1}, Corners: true, Mirrored: []bool{false, c.mirrored}})
			u := NewField(g, "u", FieldOptions[float64]{Halo: Around(1), Initial: func(at []int) float64 { return math.Sin(float64(at[0] + 3*at[1])) }})
			v := NewField(g, "v", FieldOptions[float64]{})
			calls, cells := 0, 0
			counts := true
			g.Stage(func(b *Block) { // each second column, from those beside it
				if counts {
					calls++
					cells += b.Len(0) * b.Len(1)
				}
				for row := range b.Rows() {
					to, north, south := u.New(row), u.Old(row, -1, -1), u.Old(row, 1, 1)
					for i := 0; i < len(to); i += 2 {
						to[i] = (north[i] + south[i]) / 2
					}
				}
			}, u)
			g.Stage(func(b *Block) { Apply(b, v, u, 0, []Weight{{At: []int{1, 0}, Times: 1}}) }, v)
			if err := g.Sweep(sweeps); err != nil {
				t.Fatal(err)
			}
			if err := rt.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			if calls != sweeps*c.calls || cells != sweeps*c.rows*columns {
				t.Errorf("the stage had %d calls for %d cells, want %d for %d", calls, cells, sweeps*c.calls, sweeps*c.rows*columns)
			}
			counts = false
			if err := g.Verify(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}
