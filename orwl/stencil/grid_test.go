package stencil

import (
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/orwl"
)

func init() { rings.FewChecks() }

// trial is a grid with fields of several types, and a kernel that mixes all that it may read
// into a number that depends on the order. So one wrong cell changes the result.
type trial struct {
	o      Options
	sweeps int
	a      FieldOptions[uint64]
	b      FieldOptions[[3]int32]
	c      FieldOptions[uint16] // constant
}

func (x trial) String() string {
	return fmt.Sprintf("%+v, %d sweeps, halos %v %v %v", x.o, x.sweeps, x.a.Halo, x.b.Halo, x.c.Halo)
}

func draw(t *rapid.T) (x trial) {
	ranks := rapid.IntRange(1, 3).Draw(t, "dimensions")
	most := [...]int{0, 40, 14, 9}[ranks]
	x.o.Update = rapid.SampledFrom([]Update{Jacobi, InPlace}).Draw(t, "update")
	x.o.Corners = rapid.Bool().Draw(t, "corners")
	x.o.Sweeps = rapid.IntRange(1, 3).Draw(t, "between exchanges")
	x.o.pieces = rapid.IntRange(-1, 4).Draw(t, "rows of a piece")
	x.o.Exporters = rapid.Bool().Draw(t, "exporters")
	halo := func(name string) (h [][2]int) {
		for range ranks {
			h = append(h, [2]int{rapid.IntRange(0, 2).Draw(t, name+" low"), rapid.IntRange(0, 2).Draw(t, name+" high")})
		}
		return h
	}
	x.a.Halo, x.b.Halo, x.c.Halo = halo("a"), halo("b"), halo("c")
	for i := range ranks {
		around := rapid.Bool().Draw(t, "periodic")
		if x.o.Update == InPlace && (x.o.Sweeps > 1 || i > 0 && x.o.Corners) {
			around = false
		}
		widest := max(x.a.Halo[i][0], x.a.Halo[i][1], x.b.Halo[i][0], x.b.Halo[i][1])
		least := max(1, x.o.Sweeps*widest)
		fewest := 1
		if around && x.o.Update == InPlace {
			fewest = 2
		}
		blocks := rapid.IntRange(fewest, 3).Draw(t, "blocks")
		if x.o.Update == InPlace && x.o.Corners && i > 0 {
			blocks = 1
		}
		x.o.Periodic = append(x.o.Periodic, around)
		x.o.Blocks = append(x.o.Blocks, blocks)
		x.o.Size = append(x.o.Size, rapid.IntRange(least*blocks, max(least*blocks, most)).Draw(t, "size"))
	}
	x.sweeps = rapid.IntRange(0, 7).Draw(t, "sweeps")
	x.a.Initial = func(at []int) uint64 { return mixed(1, at...) }
	x.b.Initial = func(at []int) [3]int32 { return [3]int32{int32(mixed(2, at...)), 5, int32(len(at))} }
	x.c.Initial = constant
	if rapid.Bool().Draw(t, "rows") {
		x.c.Initial, x.c.InitialRow = nil, constantRow
	}
	if x.o.Update == Jacobi && rapid.Bool().Draw(t, "previous") {
		x.a.Previous = func(at []int) uint64 { return mixed(5, at...) }
	}
	return x
}

func constant(at []int) uint16 { return uint16(mixed(3, at...)) }

func constantRow(at []int, row []uint16) {
	at = slices.Clone(at)
	for i := range row {
		row[i] = constant(at)
		at[len(at)-1]++
	}
}

func mixed(seed uint64, at ...int) uint64 {
	for _, n := range at {
		seed = (seed^uint64(n+7))*0x9e3779b97f4a7c15 + seed>>29
	}
	return seed
}

// declare declares the trial in a runtime.
func (x trial) declare(rt *orwl.Runtime) (*Grid, *Field[uint64], error) {
	g := New(rt, x.o)
	a := NewField(g, "a", x.a)
	b := NewField(g, "b", x.b)
	c := NewField(g, "c", x.c)
	offsetsA, offsetsB, offsetsC := x.offsets(x.a.Halo), x.offsets(x.b.Halo), x.offsets(x.c.Halo)
	previous := x.a.Previous != nil
	g.Stage(func(block *Block) {
		for r := range block.Rows() {
			newA, newB := rowIn(a.newArray(block), r), b.New(r)
			constants := rowIn(c.oldArray(block), r)
			for i := range r.length() {
				sum := uint64(block.Sweep())
				if previous {
					sum += newA[i]
				}
				for _, d := range offsetsA {
					sum = mixed(sum, int(a.Old(r, d...)[i]))
				}
				for _, d := range offsetsC {
					sum = mixed(sum, int(rowIn(c.oldArray(block, d...), r)[i]))
				}
				sum ^= uint64(constants[i])
				other := b.Old(r)[i]
				for _, d := range offsetsB {
					old := b.Old(r, d...)[i]
					other[0] = other[0]*31 + old[2]
					other[2] ^= old[0] + int32(sum)
				}
				newA[i], newB[i] = sum+uint64(other[0]), other
			}
		}
	}, a, b)
	return g, a, g.Sweep(x.sweeps)
}

// rowIn is the cells of a row as they are in the memory around its block.
func rowIn[T any](m array[T], r Row) []T {
	low := r.block.cells.low
	first := m.First + (r.z-low[0])*m.Plane + (r.y-low[1])*m.Row
	return m.Cells[first : first+r.length()]
}

// offsets are all that a kernel may read.
func (x trial) offsets(h [][2]int) (all [][]int) {
	ranks := len(h)
	at := make([]int, ranks)
	var rest func(dim int, away int)
	rest = func(dim, away int) {
		if dim == ranks {
			all = append(all, append([]int(nil), at...))
			return
		}
		for n := -h[dim][0]; n <= h[dim][1]; n++ {
			if n != 0 && away > 0 && !x.o.Corners {
				continue
			}
			at[dim] = n
			more := away
			if n != 0 {
				more++
			}
			rest(dim+1, more)
		}
		at[dim] = 0
	}
	rest(0, 0)
	return all
}

// Any grid computes what the sequential sweep computes, bit for bit.
func TestGridEqualsSequential(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := draw(t)
		rt, err := orwl.New(orwl.Options{})
		if err != nil {
			t.Fatal(err)
		}
		g, _, err := x.declare(rt)
		if err != nil {
			t.Fatalf("%v: %v", x, err)
		}
		if err := rt.Run(t.Context()); err != nil {
			t.Fatalf("%v: %v", x, err)
		}
		if err := g.Verify(t.Context()); err != nil {
			t.Fatalf("%v: %v", x, err)
		}
	})
}

// At is the place of a row's first cell, also where a block computes cells beyond a periodic edge.
func TestRowAt(t *testing.T) {
	rt, err := orwl.New(orwl.Options{})
	if err != nil {
		t.Fatal(err)
	}
	g := New(rt, Options{Size: Size{6, 8}, Blocks: Size{2, 2}, Periodic: []bool{true, true}, Sweeps: 2})
	u := NewField(g, "u", FieldOptions[float64]{Halo: Around(1)})
	place := NewField(g, "place", FieldOptions[[2]int32]{Initial: func(at []int) [2]int32 {
		return [2]int32{int32(at[0]), int32(at[1])}
	}})
	g.Stage(func(b *Block) {
		for r := range b.Rows() {
			if got, want := [2]int32{int32(r.At(0)), int32(r.At(1))}, place.Old(r)[0]; got != want {
				t.Errorf("a row begins at %v, want %v", got, want)
			}
		}
	}, u)
	if err := g.Sweep(3); err != nil {
		t.Fatal(err)
	}
	if err := rt.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// With many processors and few passes, a grid has fewer sweeps in a pass: otherwise its first wavefront keeps few
// processors busy.
func TestChosenSweepsByProcessors(t *testing.T) {
	for _, c := range []struct{ processors, sweeps, want int }{
		{1, 8, 8}, {2, 8, 8}, {16, 8, 2}, {16, 100, 8}, {16, 1, 1}, {64, 16, 4}, {64, 1000, 8},
	} {
		before := runtime.GOMAXPROCS(c.processors)
		rt, err := orwl.New(orwl.Options{})
		if err != nil {
			t.Fatal(err)
		}
		g := New(rt, Options{Size: Size{5000, 4000}, Blocks: Size{4, 4}, Update: InPlace}) // no caches have room for it
		g.whole, g.total = true, c.sweeps
		NewField(g, "u", FieldOptions[float64]{Halo: Around(1)})
		err = g.divide()
		runtime.GOMAXPROCS(before)
		if err != nil || g.InPass() != c.want {
			t.Errorf("%d sweeps on %d processors: %v, %d in a pass, want %d", c.sweeps, c.processors, err, g.InPass(), c.want)
		}
	}
}

// A large grid in place has whole rows in its blocks as long as the processors are few.
func TestChosenShape(t *testing.T) {
	for _, c := range []struct {
		o          Options
		processors int
		want       vec
	}{
		{Options{Size: Size{2000, 2000}, Update: InPlace}, 2, vec{1, 4, 1}},
		{Options{Size: Size{2000, 2000}, Update: InPlace}, 64, vec{1, 16, 8}},
		{Options{Size: Size{500, 500}, Update: InPlace}, 2, vec{1, 2, 2}}, // in the caches
		{Options{Size: Size{2000, 2000}}, 2, vec{1, 2, 2}},
		{Options{Size: Size{2000, 2000}, Update: InPlace, Blocks: Size{4, 4}}, 2, vec{1, 4, 4}},
	} {
		before := runtime.GOMAXPROCS(c.processors)
		rt, err := orwl.New(orwl.Options{})
		if err != nil {
			t.Fatal(err)
		}
		g := New(rt, c.o)
		g.whole, g.total = true, 100
		NewField(g, "u", FieldOptions[float64]{Halo: Around(1)})
		err = g.divide()
		runtime.GOMAXPROCS(before)
		if err != nil || g.blocks != c.want {
			t.Errorf("%v on %d processors: %v, %v blocks, want %v", c.o.Size, c.processors, err, g.blocks, c.want)
		}
	}
}

// A grid chooses how many sweeps a pass has, and the result is the one of the sequential sweep.
func TestChosenSweeps(t *testing.T) {
	large := Size{1000, 600} // 4.8 MB
	for name, c := range map[string]struct {
		o      Options
		sweeps int
		want   int
	}{
		"in place":                        {Options{Size: large, Blocks: Size{8, 4}}, 1000, Deepest},
		"as many as the blocks allow":     {Options{Size: large, Blocks: Size{200, 1}}, 1000, 4},
		"few sweeps":                      {Options{Size: large, Blocks: Size{4, 4}}, 2, 2},
		"one block":                       {Options{Size: large, Blocks: Size{1, 1}}, 1000, Deepest},
		"blocks are chosen, too":          {Options{Size: large}, 1000, Deepest},
		"it fits into the caches":         {Options{Size: Size{500, 600}}, 1000, 1},
		"asked for":                       {Options{Size: large, Sweeps: 3}, 1000, 3},
		"asked for one":                   {Options{Size: large, Sweeps: 1}, 1000, 1},
		"Jacobi":                          {Options{Size: large, Update: Jacobi}, 1000, Deepest},
		"Jacobi with thin blocks":         {Options{Size: large, Update: Jacobi, Blocks: Size{200, 1}}, 1000, 2},
		"around":                          {Options{Size: large, Periodic: []bool{false, true}}, 1000, 1},
		"the first dimension only is cut": {Options{Size: large, Corners: true}, 1000, Deepest},
	} {
		t.Run(name, func(t *testing.T) {
			if !strings.HasPrefix(name, "Jacobi") {
				c.o.Update = InPlace
			}
			rt, err := orwl.New(orwl.Options{})
			if err != nil {
				t.Fatal(err)
			}
			g := New(rt, c.o)
			u := NewField(g, "u", FieldOptions[float64]{Halo: Around(1), Initial: func(at []int) float64 { return float64(at[0]*7%13 + at[1]) }})
			if err := g.Sweep(c.sweeps, func(b *Block) { relax(u, b) }); err != nil {
				t.Fatal(err)
			}
			if g.InPass() != c.want {
				t.Errorf("%v: %d sweeps in a pass, want %d", g, g.InPass(), c.want)
			}
		})
	}
}

// Blocks of one kind import alike, though the grid computes that for one of them.
func TestImportsByKind(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := &Grid{shapes: make(map[kind]*shape)}
		g.update = rapid.SampledFrom([]Update{Jacobi, InPlace}).Draw(t, "update")
		g.tiling.sweeps = rapid.IntRange(1, 3).Draw(t, "sweeps")
		g.size, g.blocks = vec{1, 1, 1}, vec{1, 1, 1}
		for i := 1; i < dims; i++ {
			g.halo.low[i] = rapid.IntRange(0, 2).Draw(t, "low")
			g.halo.high[i] = rapid.IntRange(0, 2).Draw(t, "high")
			g.blocks[i] = rapid.IntRange(1, 6).Draw(t, "blocks")
			g.size[i] = g.blocks[i]*6 + rapid.IntRange(0, 5).Draw(t, "more cells")
			g.around[i] = g.tiling.sweeps == 1 && rapid.Bool().Draw(t, "around")
		}
		for n := range g.blocks.product() {
			at := g.place(n)
			if got, want := g.shapeOf(at).imports, g.tiling.compute(at); !reflect.DeepEqual(got, want) {
				t.Fatalf("block %v imports %v, want %v", at, got, want)
			}
		}
	})
}
