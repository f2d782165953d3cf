package stencil

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/orwl/go-orwl/orwl"
)

// weighted is a grid with weights, mirrored edges, and a plain sweep over an array beside it.
type weighted struct {
	o      Options
	w      Weights
	sweeps int
}

func drawWeighted(t *rapid.T) (x weighted) {
	trial := draw(t)
	x.o, x.sweeps = trial.o, trial.sweeps
	x.o.Corners = false // it follows from the weights
	mirrors := false
	for i, around := range x.o.Periodic {
		mirrored := !around && rapid.Bool().Draw(t, "mirrored")
		x.o.Mirrored = append(x.o.Mirrored, mirrored)
		mirrors = mirrors || mirrored
		x.o.Size[i] = max(x.o.Size[i], 2)
	}
	halo := trial.a.Halo
	corners := trial.o.Corners && !(mirrors && x.o.Update == InPlace)
	all := trial.offsets(halo)
	if !corners {
		all = slices.DeleteFunc(all, func(at []int) bool {
			apart := 0
			for _, n := range at {
				apart += min(1, n*n)
			}
			return apart > 1
		})
	}
	for _, i := range rapid.Permutation(indices(len(all))).Draw(t, "order") {
		x.w = append(x.w, Weight{At: all[i], Times: rapid.Float64Range(-1, 1).Draw(t, "weight")})
	}
	if len(x.w) > 1 {
		x.w = x.w[:rapid.IntRange(1, len(x.w)).Draw(t, "weights")]
	}
	return x
}

func indices(n int) (all []int) {
	for i := range n {
		all = append(all, i)
	}
	return all
}

func (x weighted) initial(at []int) float64 { return float64(mixed(7, at...)>>40) - 1<<23 }

// plain sweeps an array, cell by cell.
func (x weighted) plain() []float64 {
	size := x.o.Size
	cells := 1
	for _, n := range size {
		cells *= n
	}
	place := func(i int) []int {
		at := make([]int, len(size))
		for k := len(size) - 1; k >= 0; k-- {
			at[k], i = i%size[k], i/size[k]
		}
		return at
	}
	u := make([]float64, cells)
	for i := range u {
		u[i] = x.initial(place(i))
	}
	for range x.sweeps {
		before := slices.Clone(u)
		now := before
		if x.o.Update == InPlace {
			now = u
		}
		next := make([]float64, cells)
		for i := range next {
			sum := 0.0
			for k, w := range x.w {
				at, from, beyond := place(i), now, false
				for d := range at {
					at[d] += w.At[d]
					switch n := size[d]; {
					case x.o.Periodic[d]:
						at[d] = (at[d] + n) % n
					case x.o.Mirrored[d] && at[d] < 0:
						at[d], from = -1-at[d], before
					case x.o.Mirrored[d] && at[d] >= n:
						at[d], from = 2*n-1-at[d], before
					case at[d] < 0 || at[d] >= n:
						beyond = true
					}
				}
				value := 0.0
				if beyond {
					value = x.initial(at)
				} else {
					index := 0
					for d, n := range size {
						index = index*n + at[d]
					}
					value = from[index]
				}
				if k == 0 {
					sum = float64(w.Times * value)
				} else {
					sum += float64(w.Times * value)
				}
			}
			if next[i] = sum; x.o.Update == InPlace {
				u[i] = sum
			}
		}
		u = next
	}
	return u
}

// A grid with weights computes what a plain loop computes, with periodic, fixed and mirrored edges, on any blocks. Halo and
// Corners follow.
func TestWeights(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawWeighted(t)
		rt, err := orwl.New(orwl.Options{})
		if err != nil {
			t.Fatal(err)
		}
		g := New(rt, x.o)
		u := NewField(g, "u", FieldOptions[float64]{Weights: x.w, Initial: x.initial})
		kernel := func(b *Block) {
			if x.o.Update == Jacobi {
				x.w.Apply(b, u, u)
				return
			}
			for r := range b.Rows() { // a cell is read after it was written
				cells := u.New(r)
				for i := range cells {
					sum := 0.0
					for k, w := range x.w {
						if product := float64(w.Times * u.Old(r, w.At...)[i]); k == 0 {
							sum = product
						} else {
							sum += product
						}
					}
					cells[i] = sum
				}
			}
		}
		if err := g.Sweep(x.sweeps, kernel); err != nil {
			if strings.Contains(err.Error(), "want at least so many cells") {
				t.Skip(err)
			}
			t.Fatalf("%+v: %v", x, err)
		}
		if err := rt.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := g.Verify(t.Context()); err != nil {
			t.Errorf("%+v: %v", x, err)
		}
		got, err := u.Values(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range x.plain() {
			if math.Float64bits(got[i]) != math.Float64bits(want) {
				t.Fatalf("%+v: cell %d is %g, want %g", x, i, got[i], want)
			}
		}
	})
}

// Without a kernel, each field is swept by its weights. Add has the new cell as the first term.
func TestNoKernel(t *testing.T) {
	w := Weights{{Times: 0.5}, {At: At{-1}, Times: 0.25}, {At: At{1}, Times: 0.25}}
	run := func(previous bool, kernels func(u *Field[float64]) []Kernel) []float64 {
		rt, err := orwl.New(orwl.Options{})
		if err != nil {
			t.Fatal(err)
		}
		g := New(rt, Options{Size: Size{30}, Blocks: Size{3}})
		o := FieldOptions[float64]{Weights: w, Initial: func(at []int) float64 { return float64(at[0] * at[0] % 7) }}
		if previous {
			o.Previous = o.Initial
		}
		u := NewField(g, "u", o)
		NewField(g, "c", FieldOptions[int32]{Constant: true})
		if err := g.Sweep(9, kernels(u)...); err != nil {
			t.Fatal(err)
		}
		if err := rt.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		got, err := u.Values(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	loop := func(own float64) func(u *Field[float64]) []Kernel {
		return func(u *Field[float64]) []Kernel {
			return []Kernel{func(b *Block) {
				for r := range b.Rows() {
					next, old, west, east := u.New(r), u.Old(r), u.Old(r, -1), u.Old(r, 1)
					for i := range next {
						next[i] = own*next[i] + float64(0.5*old[i]) + float64(0.25*west[i]) + float64(0.25*east[i])
					}
				}
			}}
		}
	}
	if got, want := run(false, func(*Field[float64]) []Kernel { return nil }), run(false, loop(0)); !slices.Equal(got, want) {
		t.Errorf("without a kernel %v, want %v", got, want)
	}
	add := func(u *Field[float64]) []Kernel { return []Kernel{func(b *Block) { w.Add(b, -1, u, u) }} }
	if got, want := run(true, add), run(true, loop(-1)); !slices.Equal(got, want) {
		t.Errorf("Add: %v, want %v", got, want)
	}
}

// Weights that cannot be are refused by name.
func TestWrongWeights(t *testing.T) {
	for want, c := range map[string]struct {
		o Options
		w Weights
	}{
		"weight 2 is at [1 0], and so is one before it":           {w: Weights{{At: At{1, 0}}, {At: At{0, 1}}, {At: At{1, 0}}}},
		"weight 1 is at [0 0], and so is one before it":           {w: Weights{{}, {At: At{0, 0}}}},
		"weight 1 is at [], and so is one before it":              {w: Weights{{At: At{0, 0}}, {}}},
		"weight 0 is at [1], want 2 distances":                    {w: Weights{{At: At{1}}}},
		`no kernel, and field "u" no Weights`:                     {},
		"Mirrored is [true], and dimension 0 is periodic":         {o: Options{Mirrored: []bool{true}, Periodic: []bool{true}}, w: Weights{{}}},
		"Mirrored is [true true true], want at most the 2":        {o: Options{Mirrored: []bool{true, true, true}}, w: Weights{{}}},
		"Mirrored is [true], want none with InPlace and Corners":  {o: Options{Mirrored: []bool{true}, Update: InPlace}, w: Weights{{At: At{1, 1}}}},
		"and the Halo in dimension 1 is 9: want at least so many": {o: Options{Mirrored: []bool{false, true}, Blocks: Size{1, 1}}, w: Weights{{At: At{0, 9}}}},
	} {
		rt, err := orwl.New(orwl.Options{})
		if err != nil {
			t.Fatal(err)
		}
		c.o.Size = Size{8, 8}
		g := New(rt, c.o)
		NewField(g, "u", FieldOptions[float64]{Weights: c.w})
		if err := g.Sweep(3); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	rt, err := orwl.New(orwl.Options{})
	if err != nil {
		t.Fatal(err)
	}
	g := New(rt, Options{Size: Size{8}})
	NewField(g, "u", FieldOptions[int32]{Weights: Weights{{}}})
	if err := g.Sweep(3); err == nil || !strings.Contains(err.Error(), "not of float64") {
		t.Error(err)
	}
}
