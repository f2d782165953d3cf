package files

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/npy"
	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/orwl/launch"
	_ "github.com/orwl/go-orwl/orwl/nodes"
	"github.com/orwl/go-orwl/orwl/stencil"
)

var silent = slog.New(slog.NewTextHandler(io.Discard, nil))

// together runs a program on so many nodes, all in this process.
func together(t *testing.T, count int, program func(ctx context.Context, rt *orwl.Runtime) error) {
	t.Helper()
	errs := make([]error, count)
	address := make(chan string, 1)
	run := func(i int, p launch.Place) {
		p.Node, p.Nodes, p.Listen = i, count, "127.0.0.1:0"
		errs[i] = orwl.Run(t.Context(), orwl.Options{Log: silent, Join: orwl.JoinOptions{Place: &p, Lease: time.Minute, Log: silent}}, program)
	}
	var all sync.WaitGroup
	if count > 1 {
		all.Go(func() { run(0, launch.Place{Report: func(a string) error { address <- a; return nil }}) })
		root := <-address
		for i := 1; i < count; i++ {
			all.Go(func() { run(i, launch.Place{Root: root}) })
		}
	} else {
		run(0, launch.Place{})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// start is the value of a cell at first. No two cells have the same.
func start(size []int) func(at []int) float64 {
	return func(at []int) float64 {
		n := 0
		for i := range at {
			n = n*size[i] + at[i]
		}
		return float64(n) + 0.5
	}
}

// counted is a grid whose cells count sweeps in u: the first value plus the sweeps. v is a pair of numbers, and constant.
// The kernel calls first.
func counted(rt *orwl.Runtime, o stencil.Options, sweeps int, first func(b *stencil.Block)) (u *stencil.Field[float64], v *stencil.Field[[2]int16], err error) {
	g := stencil.New(rt, o)
	u = stencil.NewField(g, "u", stencil.FieldOptions[float64]{Halo: stencil.Around(1), Initial: start(o.Size)})
	v = stencil.NewField(g, "v & w", stencil.FieldOptions[[2]int16]{Initial: func(at []int) [2]int16 { return [2]int16{int16(at[0]), int16(at[len(at)-1])} }})
	end := stencil.NewMax(g, "end", stencil.ReductionOptions{Until: func(sweep int, _ float64) bool { return sweep+1 == sweeps }})
	g.Stage(func(b *stencil.Block) {
		first(b)
		for r := range b.Rows() {
			old, next := u.Old(r), u.New(r)
			for i := range next {
				next[i] = old[i] + 1
			}
		}
		end.Add(b, 1)
	}, u, end)
	return u, v, g.Sweep(sweeps + 10)
}

// shapes are grids of one to three dimensions, whose blocks have different sizes.
var shapes = []stencil.Options{
	{Size: stencil.Size{11}, Blocks: stencil.Size{4}},
	{Size: stencil.Size{7, 10}, Blocks: stencil.Size{3, 2}},
	{Size: stencil.Size{3, 5, 8}, Blocks: stencil.Size{2, 2, 3}},
}

// write runs a grid on so many nodes, and writes its files.
func write(t *testing.T, nodes int, o stencil.Options, sweeps int, name string, every int, both bool) {
	t.Helper()
	together(t, nodes, func(ctx context.Context, rt *orwl.Runtime) error {
		u, v, err := counted(rt, o, sweeps, func(*stencil.Block) {})
		if err != nil {
			return err
		}
		fields := []Field{u}
		if both {
			fields = append(fields, v)
		}
		out, err := Create(name, every, fields...)
		if err != nil {
			return err
		}
		return out.Finish(ctx, rt.Run(ctx))
	})
}

// TestOutAndIn has a grid begin with the file of another one, on any nodes. Its cells around the array are zero.
func TestOutAndIn(t *testing.T) {
	for _, o := range shapes {
		for _, ending := range []string{".npy", ".zarr"} {
			for _, nodes := range []int{1, 3} {
				name := filepath.Join(t.TempDir(), "end"+ending)
				write(t, nodes, o, 4, name, 0, ending == ".zarr")
				array := name
				if ending == ".zarr" {
					array = filepath.Join(name, "u")
					pairs, err := Open[[2]int16](filepath.Join(name, "v & w"))
					if err != nil {
						t.Fatal(err)
					}
					row := make([][2]int16, 4)
					pairs.Row(make([]int, len(o.Size)), row)
					if last := int16(len(o.Size) - 1); len(o.Size) > 1 && !slices.Equal(row, [][2]int16{{0, 0}, {0, 1}, {0, 2}, {0, 3}}) {
						t.Errorf("%v: pairs %v, last %d", o.Size, row, last)
					}
				}
				in, err := Open[float64](array)
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(in.Size(), o.Size) {
					t.Errorf("size %v, want %v", in.Size(), o.Size)
				}
				row := make([]float64, o.Size[len(o.Size)-1]+3)
				at := make([]int, len(o.Size))
				at[len(at)-1] = -1
				in.Row(at, row)
				for i, v := range row {
					want := 0.0
					if i > 0 && i <= len(row)-3 {
						want = float64(i-1) + 4.5
					}
					if v != want {
						t.Errorf("%s, %d nodes: the first row is %v", array, nodes, row)
						break
					}
				}
				rt, err := orwl.New(orwl.Options{})
				if err != nil {
					t.Fatal(err)
				}
				g := stencil.New(rt, stencil.Options{Size: in.Size(), Blocks: o.Blocks})
				u := stencil.NewField(g, "u", stencil.FieldOptions[float64]{Halo: stencil.Around(1), InitialRow: in.Row})
				if err := g.Sweep(0, func(*stencil.Block) {}); err != nil {
					t.Fatal(err)
				}
				cells, err := u.Values(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				for i, v := range cells {
					if want := float64(i) + 4.5; v != want {
						t.Fatalf("%s, %d nodes: cell %d is %v, want %v", array, nodes, i, v, want)
					}
				}
			}
		}
	}
}

// Each mistake has an error, before the run.
func TestMistakes(t *testing.T) {
	rt, err := orwl.New(orwl.Options{})
	if err != nil {
		t.Fatal(err)
	}
	g := stencil.New(rt, stencil.Options{Size: stencil.Size{4, 4}, Sweeps: 2})
	u := stencil.NewField(g, "u", stencil.FieldOptions[float64]{})
	c := stencil.NewField(g, "c", stencil.FieldOptions[complex128]{})
	s := stencil.NewField(g, "s", stencil.FieldOptions[struct{ A, B int32 }]{})
	slash := stencil.NewField(g, "a/b", stencil.FieldOptions[int8]{})
	if err := g.Sweep(4, func(*stencil.Block) {}); err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	for _, x := range []struct {
		name   string
		every  int
		fields []Field
		want   string
	}{
		{"u.txt", 0, []Field{u}, "want the name of a .npy"},
		{".npy", 0, []Field{u}, "want the name of a .npy"},
		{"u.npy", 0, nil, "0 fields"},
		{"u.npy", 0, []Field{u, c}, "2 fields"},
		{"u.npy", 3, []Field{u}, "only a .pvd"},
		{"u.pvd", 3, []Field{u}, "a multiple of the 2 sweeps"},
		{"u.pvd", -2, []Field{u}, "a multiple of the 2 sweeps"},
		{"u.pvti", 0, []Field{c}, "VTK has no numbers"},
		{"u.npy", 0, []Field{s}, "a cell is a number"},
		{"u.zarr", 0, []Field{slash}, "would have such a name"},
		{"missing/u.npy", 0, []Field{u}, "no such file"},
	} {
		if _, err := Create(filepath.Join(folder, x.name), x.every, x.fields...); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: %v, want %q", x.name, err, x.want)
		}
	}
	out, err := Create(filepath.Join(folder, "u.npy"), 0, u)
	if err != nil {
		t.Fatal(err)
	}
	failed := errors.New("the run has failed")
	if err := out.Finish(t.Context(), failed); !errors.Is(err, failed) {
		t.Errorf("%v, want %v", err, failed)
	}
	if left, err := filepath.Glob(filepath.Join(folder, "*u.npy*")); err != nil || len(left) > 0 {
		t.Errorf("a run that failed has left %v, %v", left, err)
	}
}

// Open says what is wrong with an array.
func TestOpenMistakes(t *testing.T) {
	folder := t.TempDir()
	file := func(name string, a npy.Array, bytes int) string {
		name = filepath.Join(folder, name+".npy")
		f, err := os.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(npy.Write(f, a, make([]byte, bytes)), f.Close()); err != nil {
			t.Fatal(err)
		}
		return name
	}
	short := file("short", npy.Array{DType: "<f8", Shape: []int{2}}, 16)
	if err := os.Truncate(short, 140); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		file("type", npy.Array{DType: "<f4", Shape: []int{2}}, 8):                       "type <f4",
		file("scalar", npy.Array{DType: "<f8"}, 8):                                      "the shape []",
		file("axes", npy.Array{DType: "<f8", Shape: []int{1, 1, 1, 1}}, 8):              "in 1 to 3 dimensions",
		file("fortran", npy.Array{DType: "<f8", Shape: []int{1, 2}, Fortran: true}, 16): "ascontiguousarray",
		short:                                "it has 140 bytes of 144",
		filepath.Join(folder, "missing.npy"): "no such file",
		filepath.Join(folder, "missing"):     "no such file",
	} {
		if _, err := Open[float64](name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	if _, err := Open[string](short); !errors.Is(err, errCell) {
		t.Errorf("%v, want %v", err, errCell)
	}
}

// float64s are the numbers of some bytes.
func float64s(b []byte) (v []float64) {
	for ; len(b) > 0; b = b[8:] {
		v = append(v, math.Float64frombits(binary.LittleEndian.Uint64(b)))
	}
	return v
}

// wantSteps are the sweeps of the steps of a series.
func wantSteps(sweeps, every int) (all []int) {
	for at := 0; at < sweeps; at += every {
		all = append(all, at)
	}
	return append(all, sweeps)
}

// cells are the values of u after so many sweeps.
func cells(size []int, sweeps int) (v []float64) {
	n := 1
	for _, s := range size {
		n *= s
	}
	for i := range n {
		v = append(v, float64(i)+0.5+float64(sweeps))
	}
	return v
}

func named(o stencil.Options) string { return fmt.Sprintf("%d dimensions", len(o.Size)) }
