package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/orwl/go-orwl/internal/outfile"
	"github.com/orwl/go-orwl/internal/vtk"
)

// An image has a piece for each block:
//
//	run.pvti                run.pvd
//	run/3.vti               run/000100.pvti
//	                        run/000100-3.vti
//
// Names follow from the sweep and the block. So a run that goes on in another life writes the same files.

// folder is where pieces are.
func (o *Out) folder() string { return strings.TrimSuffix(o.name, o.format) }

// arrays describes the fields.
func (o *Out) arrays() (all []vtk.Array) {
	for i, f := range o.fields {
		all = append(all, vtk.Array{Name: f.Name(), Type: o.kinds[i].vtk, Count: o.kinds[i].numbersEach()})
	}
	return all
}

// block is the cells of a block, and whether it is of this node.
func (o *Out) block(number int) (b vtk.Box, own bool) {
	low, high, node := o.grid.Result(number)
	return vtk.Box{Low: low, High: high}, node == o.grid.Runtime().Node()
}

func (o *Out) blocks() int {
	n := 1
	for _, b := range o.grid.Blocks() {
		n *= b
	}
	return n
}

// writePiece writes the piece of a block, whose cells box returns for each field.
func (o *Out) writePiece(name string, b vtk.Box, box func(field int) ([]byte, error)) error {
	data := make([][]byte, len(o.fields))
	for i := range o.fields {
		var err error
		if data[i], err = box(i); err != nil {
			return err
		}
	}
	return outfile.Write(filepath.Join(o.folder(), name), func(w io.Writer) error { return vtk.WritePiece(w, b, o.arrays(), data) })
}

// writeIndex writes a .pvti. file is the path of a block's piece, from the folder of the index.
func (o *Out) writeIndex(name string, file func(block int) string) error {
	size := o.grid.Size()
	var pieces []vtk.Piece
	for n := range o.blocks() {
		if b, _ := o.block(n); !empty(b) {
			pieces = append(pieces, vtk.Piece{Box: b, File: file(n)})
		}
	}
	whole := vtk.Box{Low: make([]int, len(size)), High: size}
	return outfile.Write(name, func(w io.Writer) error { return vtk.WriteImage(w, whole, o.arrays(), pieces) })
}

// sides are the lengths of a box.
func sides(b vtk.Box) []int {
	n := make([]int, len(b.Low))
	for i := range n {
		n[i] = b.High[i] - b.Low[i]
	}
	return n
}

// empty reports whether a block has no cells after the run.
func empty(b vtk.Box) bool { return slices.Min(sides(b)) < 1 }

// writeImage writes the fields after the run.
func (o *Out) writeImage(ctx context.Context) error {
	for n := range o.blocks() {
		b, own := o.block(n)
		if !own || empty(b) {
			continue
		}
		err := o.writePiece(fmt.Sprintf("%d.vti", n), b, func(i int) ([]byte, error) { return o.fields[i].Box(ctx, b.Low, b.High) })
		if err != nil {
			return err
		}
	}
	return o.whenAll(ctx, func() error {
		return o.writeIndex(o.name, func(n int) string { return fmt.Sprintf("%s/%d.vti", filepath.Base(o.folder()), n) })
	})
}

// series writes pieces while the run goes on. A step has come when all fields have.
type series struct {
	every int // sweeps
	mu    sync.Mutex
	steps map[int][][]byte // by sweep: the cells of each field that has come
	err   error            // the first
}

// film begins a series.
func (o *Out) film(every int) error {
	pass := o.grid.InPass()
	if every == 0 {
		every = pass
	}
	switch {
	case o.grid.Last() == 0:
		return errors.New("files: a series of no sweep")
	case every < 0 || every%pass > 0:
		return fmt.Errorf("files: a step after every %d sweeps: want a multiple of the %d sweeps between exchanges", every, pass)
	}
	o.series = &series{every: every, steps: map[int][][]byte{}}
	for i, f := range o.fields {
		f.BytesOfFrames(every/pass, func(sweeps int, _ bool, cells []byte) { o.come(i, sweeps, cells) })
	}
	return nil
}

// come takes a field after so many sweeps. The caller changes the cells later.
func (o *Out) come(field, sweeps int, cells []byte) {
	s := o.series
	s.mu.Lock()
	step := s.steps[sweeps]
	if step == nil {
		step = make([][]byte, len(o.fields))
		s.steps[sweeps] = step
	}
	step[field] = cells
	whole := !slices.ContainsFunc(step, func(c []byte) bool { return c == nil })
	if whole {
		delete(s.steps, sweeps)
	} else {
		step[field] = slices.Clone(cells)
	}
	failed := s.err != nil
	s.mu.Unlock()
	if !whole || failed {
		return
	}
	if err := o.writeStep(sweeps, step); err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.err = err
	}
}

// stepName is the beginning of the names of a step.
func stepName(sweeps int) string { return fmt.Sprintf("%06d", sweeps) }

// writeStep writes this node's pieces of a step.
func (o *Out) writeStep(sweeps int, step [][]byte) error {
	for n := range o.blocks() {
		b, own := o.block(n)
		if !own || empty(b) {
			continue
		}
		err := o.writePiece(fmt.Sprintf("%s-%d.vti", stepName(sweeps), n), b, func(i int) ([]byte, error) {
			return cut(step[i], o.grid.Size(), b, int(o.fields[i].Type().Size())), nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// cut copies a box out of the cells of a grid of some size. A cell has so many bytes.
func cut(cells []byte, size []int, b vtk.Box, each int) (part []byte) {
	n := sides(b)
	last := len(n) - 1
	rows := 1
	for _, side := range n[:last] {
		rows *= side
	}
	for row := range rows {
		at, stride := b.Low[last], size[last]
		for axis := last - 1; axis >= 0; axis-- {
			at += (b.Low[axis] + row%n[axis]) * stride
			row /= n[axis]
			stride *= size[axis]
		}
		part = append(part, cells[at*each:(at+n[last])*each]...)
	}
	return part
}

// finishSeries writes which images there are.
func (o *Out) finishSeries(ctx context.Context) error {
	s := o.series
	s.mu.Lock()
	err := s.err
	s.mu.Unlock()
	if err != nil {
		return err
	}
	return o.whenAll(ctx, func() error {
		var steps []vtk.Step
		last, err := o.grid.End(ctx)
		if err != nil {
			return err
		}
		for at := 0; ; at = min(at+s.every, last) {
			name := stepName(at)
			index := filepath.Join(o.folder(), name+".pvti")
			if err := o.writeIndex(index, func(n int) string { return fmt.Sprintf("%s-%d.vti", name, n) }); err != nil {
				return err
			}
			steps = append(steps, vtk.Step{Time: at, File: filepath.Base(o.folder()) + "/" + name + ".pvti"})
			if at == last {
				break
			}
		}
		return outfile.Write(o.name, func(w io.Writer) error { return vtk.WriteSeries(w, steps) })
	})
}
