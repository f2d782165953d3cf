package stencil

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// savedFile is a file of the checkpoint that the run continues.
type savedFile struct {
	path     string
	contents contents
}

// resume finds the checkpoint to continue, and makes the directory for those to come.
func (g *Grid) resume() error {
	dir, from := g.o.Checkpoint.Dir, g.o.Resume
	if dir != "" {
		if err := folder(dir).make(); err != nil {
			return err
		}
		if from == "" || !sameDir(dir, from) {
			all, err := entries(folder(dir), g.o.Name)
			if err != nil {
				return err
			}
			if len(sets(all)) > 0 {
				return fmt.Errorf("%w: Checkpoint.Dir %s holds checkpoints of a grid of this name, like %s: set Resume to continue, or remove them", ErrOptions, dir, sets(all)[0][0])
			}
		}
	}
	if from == "" {
		return nil
	}
	all, err := entries(folder(from), g.o.Name)
	if err != nil {
		return err
	}
	var damaged []error
	for _, s := range sets(all) {
		files, err := g.open(from, s)
		if err == nil {
			return g.continues(files, s[0].sweeps)
		}
		if !errors.Is(err, errDamaged) {
			return err
		}
		g.rt.Log().Warn("stencil: a checkpoint cannot be continued", "grid", g.o.Name, "sweeps", s[0].sweeps, "dir", from, "error", err)
		damaged = append(damaged, err)
	}
	if len(damaged) > 0 {
		return fmt.Errorf("%w in %s: %w", ErrNoCheckpoint, from, errors.Join(damaged...))
	}
	return nil
}

// continues begins with a checkpoint. All nodes must begin with the same one. The run compares
// the names of resources on all nodes, so one of them names it.
func (g *Grid) continues(files []*savedFile, sweeps int) error {
	if sweeps > g.total {
		return fmt.Errorf("%w: the checkpoint %s has %d sweeps, want at most the %d of this run", ErrNoCheckpoint, files[0].path, sweeps, g.total)
	}
	g.start, g.saves = sweeps, files
	g.resumeReductions(files)
	g.rt.Home(g.rt.Resource(fmt.Sprintf("%s after %d sweeps of %d", g.o.Name, sweeps, g.total), 0), 0)
	return nil
}

// open reads the files of a checkpoint and verifies each byte. The error matches errDamaged if an
// older checkpoint may do.
func (g *Grid) open(dir string, s set) (files []*savedFile, err error) {
	if names := s.missing(); len(names) > 0 {
		return nil, fmt.Errorf("%w: %s is missing: the run ended before it was written, or the nodes did not share the directory", errDamaged, strings.Join(names, ", "))
	}
	var errs []error
	cells := 0
	for _, e := range s {
		f := &savedFile{path: filepath.Join(dir, e.String())}
		if err := f.read(g, e); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", f.path, err))
			continue
		}
		files = append(files, f)
		for i := range f.contents.Parts {
			cells += f.contents.Parts[i].box().cells()
		}
	}
	if len(errs) == 0 && cells != g.domain().cells() {
		return nil, fmt.Errorf("%w: the files of %s and those beside it have %d of %d cells", errDamaged, files[0].path, cells, g.domain().cells())
	}
	return files, errors.Join(errs...)
}

// read verifies the file, and that it is of the grid.
func (f *savedFile) read(g *Grid, e entry) error {
	return f.with(func(file *os.File) error {
		info, err := file.Stat()
		if err != nil {
			return err
		}
		c, err := readContents(file, info.Size())
		if err != nil {
			return err
		}
		f.contents = c
		if c.Grid != e.grid || c.Sweeps != e.sweeps || c.Writer != e.writer || c.Of != e.of {
			return fmt.Errorf("%w: it was written as %s", errDamaged, entry{grid: c.Grid, sweeps: c.Sweeps, writer: c.Writer, of: c.Of})
		}
		if want := g.savedFields(); c.Size != g.size || !slices.Equal(c.Fields, want) {
			return fmt.Errorf("%w: it is of another grid: size %v with fields %+v, want %v with %+v", ErrNoCheckpoint, c.Size, c.Fields, g.size, want)
		}
		for i := range c.Parts {
			if err := c.verify(file, &c.Parts[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// with opens the file for body. A file that cannot be read is as good as damaged.
func (f *savedFile) with(body func(*os.File) error) error {
	file, err := os.Open(f.path)
	if err == nil {
		defer file.Close() // it was only read
		err = body(file)
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		return fmt.Errorf("%w: %w", errDamaged, err)
	}
	return err
}

// resume gives the cells of the tile the values of the checkpoint, if there is one. All others
// keep their initial values.
func (t *tile) resume(data []byte) error {
	for _, f := range t.grid.saves {
		err := f.with(func(file *os.File) error {
			for i := range f.contents.Parts {
				if err := t.restore(data, file, &f.contents.Parts[i], t.grid.start); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
