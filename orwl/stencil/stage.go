package stencil

import (
	"errors"
	"fmt"
	"slices"
)

// A sweep is a list of stages. Each computes some fields of all cells. When a stage of a block begins, its neighbours
// have ended the stage before, and the block has the edges that they wrote there:
//
//	sweep n     stage 0: q from p, p around it      adds to p·q
//	            stage 1: x and r from p and q       reads p·q        adds to r·r
//	            stage 2: p from r                   reads r·r
//	sweep n+1   stage 0: ...
//
// With several stages, each field has one generation, which a stage changes in place. So a stage must not read a field
// around a cell if it writes it there. The only stage of a grid may do so, since such a field has two generations then.

// Stage is a part of each sweep.
type Stage struct {
	grid   *Grid
	number int
	kernel func(b *Block)
	reads  []*Reduction
}

// written is a field that a stage writes, or a reduction that it adds to.
type written interface{ writtenBy(s *Stage) error }

// Stage adds a stage to each sweep: a kernel, with the fields that it writes and the reductions that it adds to. The
// kernel may read all fields, as far as their Halo reaches. With several stages it must read the fields that it writes at
// the computed cell only, or in cells that it does not write. A field that no stage writes is constant.
func (g *Grid) Stage(kernel func(b *Block), writes ...written) *Stage {
	s := &Stage{grid: g, number: len(g.stages), kernel: kernel}
	g.stages = append(g.stages, s)
	if g.declared {
		g.check(errSwept)
	}
	for _, w := range writes {
		s.check(w.writtenBy(s))
	}
	return s
}

func (s *Stage) check(err error) {
	if err != nil {
		s.grid.check(fmt.Errorf("stage %d: %w", s.number, err))
	}
}

// Reads says that the kernel reads reductions: by [Reduction.Before], and by [Reduction.Now] those that earlier stages add
// to. For these a block waits until all blocks have ended the stage that adds.
func (s *Stage) Reads(of ...*Reduction) *Stage {
	for _, r := range of {
		s.check(r.ofEachSweep())
	}
	s.reads = append(s.reads, of...)
	return s
}

func (f *Field[T]) writtenBy(s *Stage) error {
	if f.grid != s.grid {
		return f.wrong(errors.New("it is of another grid"))
	}
	if !slices.Contains(f.writers, s.number) {
		f.writers = append(f.writers, s.number)
	}
	return nil
}

// settleStages checks the stages when all are declared. If Sweep got a kernel, it becomes the only stage, which writes
// all fields.
func (g *Grid) settleStages(kernel []func(b *Block)) {
	if len(kernel)+len(g.stages) == 0 {
		g.check(errors.New("it has no kernel: give Sweep one, or declare stages"))
		return
	}
	switch {
	case len(kernel) > 1 || len(kernel) == 1 && len(g.stages) > 0:
		g.check(fmt.Errorf("it has %d kernels and %d stages: want one kernel, or stages", len(kernel), len(g.stages)))
		return
	case len(kernel) == 1:
		g.whole = true
		s := &Stage{grid: g, kernel: kernel[0]}
		for _, f := range g.fields {
			f.wholly()
		}
		for _, r := range g.reductions {
			s.check(r.writtenBy(s))
		}
		g.stages = append(g.stages, s)
	}
	if len(g.stages) > 1 {
		switch {
		case g.update == InPlace:
			g.check(wrong("Update", "InPlace", "want Jacobi with several stages, which change fields in place anyway"))
		case g.o.Sweeps > 1:
			g.check(wrong("Sweeps", g.o.Sweeps, "want 1 with several stages, which exchange edges in each sweep"))
		}
	}
	for _, f := range g.fields {
		g.check(f.settle())
	}
	for _, r := range g.reductions {
		r.check(r.settle())
	}
}

// wholly says that the kernel of Sweep writes the field.
func (f *Field[T]) wholly() { f.writers = []int{0} }

func (f *Field[T]) settle() error {
	if f.options.Previous != nil && (len(f.writers) == 0 || len(f.grid.stages) > 1) {
		return f.wrong(errors.New("it has Previous, which only the kernel of a grid with one stage finds"))
	}
	return nil
}

func (f *Field[T]) writtenIn(stage int) bool { return slices.Contains(f.writers, stage) }

// before is the stage that runs before another one, perhaps in the sweep before.
func (g *Grid) before(stage int) int { return (stage + len(g.stages) - 1) % len(g.stages) }
