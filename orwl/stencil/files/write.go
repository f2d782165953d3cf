package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/orwl/go-orwl/internal/npy"
	"github.com/orwl/go-orwl/internal/outfile"
	"github.com/orwl/go-orwl/internal/zarr"
	"github.com/orwl/go-orwl/orwl/stencil/internal/inside"
)

// Field is a *stencil.Field of any type.
type Field any

// Out is the files of a run.
type Out struct {
	name   string
	format string
	fields []inside.Bytes
	kinds  []kind
	grid   inside.Grid
	series *series
	one    *outfile.File // for npy, on node 0
}

// CheckName checks the ending of a name.
func CheckName(name string) error {
	if ext := filepath.Ext(name); slices.Contains([]string{".npy", ".zarr", ".pvti", ".pvd"}, ext) && filepath.Base(name) != ext {
		return nil
	}
	return errors.New("want the name of a .npy, .zarr, .pvti or .pvd file")
}

// Create prepares files for some fields of a grid. It fails if they cannot be written. A series has a step after every so
// many sweeps: a multiple of the sweeps between exchanges, and 0 for these. Every node calls it after [stencil.Grid.Sweep] and before the run.
func Create(name string, every int, fields ...Field) (*Out, error) {
	o := &Out{name: name, format: filepath.Ext(name)}
	if err := CheckName(name); err != nil {
		return nil, fmt.Errorf("files: %s: %w", name, err)
	}
	for _, f := range fields {
		one := inside.Of(f).(inside.Bytes)
		k, err := kindOf(one.Type())
		if err != nil {
			return nil, fmt.Errorf("%w: field %q", err, one.Name())
		}
		o.fields, o.kinds, o.grid = append(o.fields, one), append(o.kinds, k), one.Grid()
		switch {
		case k.vtk == "" && strings.HasPrefix(o.format, ".pv"):
			return nil, fmt.Errorf("files: VTK has no numbers as those of field %q, which are %s: write .npy or .zarr", one.Name(), k.zarr)
		case strings.ContainsAny(one.Name(), "/\\") && o.format == ".zarr":
			return nil, fmt.Errorf("files: the folder of field %q would have such a name", one.Name())
		}
	}
	switch {
	case len(fields) == 0 || len(fields) > 1 && o.format == ".npy":
		return nil, fmt.Errorf("files: %d fields for %s: want one for .npy, and at least one for the others", len(fields), name)
	case every != 0 && o.format != ".pvd":
		return nil, fmt.Errorf("files: %s is no series: only a .pvd has a step after every %d sweeps", name, every)
	case o.format == ".npy" && o.grid.Runtime().Node() == 0:
		one, err := outfile.Create(name)
		o.one = one
		return o, err
	case o.format == ".npy":
		return o, nil
	}
	folder := name
	if o.format != ".zarr" {
		folder = o.folder()
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, err
	}
	if err := outfile.Check(filepath.Join(folder, fmt.Sprint("node ", o.grid.Runtime().Node()))); err != nil {
		return nil, err
	}
	if o.format != ".pvd" {
		return o, nil
	}
	if err := o.film(every); err != nil || o.grid.Runtime().Node() > 0 {
		return o, err
	}
	return o, o.forget()
}

// forget removes what makes files readable that have the same name, before their parts are replaced.
func (o *Out) forget() error {
	names := []string{o.name}
	if o.format == ".zarr" {
		names = []string{zarr.Metadata(o.name)}
		for _, f := range o.fields {
			names = append(names, zarr.Metadata(filepath.Join(o.name, f.Name())))
		}
	}
	for _, name := range names {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// Finish writes the files. Every node calls it after the run, also after one that has failed, with its error.
func (o *Out) Finish(ctx context.Context, run error) error {
	defer o.one.Drop()
	switch {
	case run != nil:
		return run
	case o.format == ".npy":
		return o.writeNPY(ctx)
	case o.format == ".pvd":
		return o.finishSeries(ctx)
	}
	if err := o.whenAll(ctx, o.forget); err != nil {
		return err
	}
	if o.format == ".zarr" {
		return o.writeZarr(ctx)
	}
	return o.writeImage(ctx)
}

func (o *Out) writeNPY(ctx context.Context) error {
	if o.one == nil {
		return nil
	}
	size := o.grid.Size()
	cells, err := o.fields[0].Box(ctx, make([]int, len(size)), size)
	if err != nil {
		return err
	}
	a := npy.Array{DType: o.kinds[0].npy, Shape: slices.Concat(size, o.kinds[0].count)}
	return o.one.Finish(func(w io.Writer) error { return npy.Write(w, a, cells) })
}

// writeZarr writes the chunks of this node. A chunk is as large as the largest block, and is of the node of the block that
// has its number.
func (o *Out) writeZarr(ctx context.Context) error {
	size, blocks := o.grid.Size(), o.grid.Blocks()
	chunk := make([]int, len(size))
	for i := range chunk {
		chunk[i] = (size[i] + blocks[i] - 1) / blocks[i]
	}
	for i, f := range o.fields {
		a := zarr.Array{Type: o.kinds[i].zarr, Shape: slices.Concat(size, o.kinds[i].count), Chunk: slices.Concat(chunk, o.kinds[i].count)}
		for axis := range a.Shape {
			a.Names = append(a.Names, []string{"z", "y", "x", f.Name()}[3-len(size)+axis])
		}
		folder := filepath.Join(o.name, f.Name())
		for at, block := range places(a.Chunks()[:len(size)], blocks) {
			if _, _, node := o.grid.Result(block); node != o.grid.Runtime().Node() {
				continue
			}
			if len(o.kinds[i].count) > 0 {
				at = append(at, 0)
			}
			low, high := a.Box(at)
			cells, err := f.Box(ctx, low[:len(size)], high[:len(size)])
			if err == nil {
				err = a.WriteChunk(folder, at, cells)
			}
			if err != nil {
				return err
			}
		}
		if err := o.whenAll(ctx, func() error { return a.Write(folder) }); err != nil {
			return err
		}
	}
	return o.whenAll(ctx, func() error { return zarr.WriteGroup(o.name) })
}

// places yields the places of chunks, each with the number of the block at that place.
func places(chunks, blocks []int) func(yield func(at []int, block int) bool) {
	return func(yield func([]int, int) bool) {
		n := 1
		for _, c := range chunks {
			n *= c
		}
		for i := range n {
			at, block, stride := make([]int, len(chunks)), 0, 1
			for axis := range slices.Backward(chunks) {
				at[axis] = i % chunks[axis]
				i /= chunks[axis]
				block += at[axis] * stride
				stride *= blocks[axis]
			}
			if !yield(at, block) {
				return
			}
		}
	}
}

// whenAll has node 0 write something when all nodes have come here.
func (o *Out) whenAll(ctx context.Context, write func() error) error {
	rt := o.grid.Runtime()
	if _, err := rt.Gather(ctx, "files", nil); err != nil || rt.Node() > 0 {
		return err
	}
	return write()
}

// kind is a type of cells in the words of each format.
type kind struct {
	npy, zarr, vtk string // of a number; vtk is empty if VTK has no such numbers
	count          []int  // a cell is an array of so many numbers; none if it is a number
}

var errCell = errors.New("files: a cell is a number, or an array of numbers")

// numbers are the types of numbers. VTK and zarr have the same names, with a number of bits behind them.
var numbers = map[reflect.Kind]kind{
	reflect.Int8: {npy: "|i1"}, reflect.Int16: {npy: "<i2"}, reflect.Int32: {npy: "<i4"}, reflect.Int64: {npy: "<i8"},
	reflect.Uint8: {npy: "|u1", vtk: "UInt8"}, reflect.Uint16: {npy: "<u2", vtk: "UInt16"}, reflect.Uint32: {npy: "<u4", vtk: "UInt32"},
	reflect.Uint64: {npy: "<u8", vtk: "UInt64"}, reflect.Float32: {npy: "<f4"}, reflect.Float64: {npy: "<f8"},
	reflect.Complex64: {npy: "<c8", vtk: "none"}, reflect.Complex128: {npy: "<c16", vtk: "none"},
}

func kindOf(t reflect.Type) (kind, error) {
	var count []int
	if t.Kind() == reflect.Array {
		count, t = []int{t.Len()}, t.Elem()
	}
	k, known := numbers[t.Kind()]
	if !known {
		return kind{}, fmt.Errorf("%w: this one is %v", errCell, t)
	}
	name := t.Kind().String()
	k.zarr = name
	switch k.vtk {
	case "":
		k.vtk = strings.ToUpper(name[:1]) + name[1:]
	case "none":
		k.vtk = ""
	}
	k.count = count
	return k, nil
}

// numbersEach is how many numbers a cell has.
func (k kind) numbersEach() int {
	if len(k.count) > 0 {
		return k.count[0]
	}
	return 1
}
