package stencil

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/orwl/go-orwl/orwl/exact"
)

// Reduction is the sum or the greatest of values that the kernels of all blocks add in a sweep. It has the same bits on
// any blocks and nodes, and for any number of sweeps between exchanges.
type Reduction struct {
	grid   *Grid
	name   string
	number int
	most   bool // it is the greatest value, and no sum
	o      ReductionOptions
	adders []int // these stages add to it, in their order
}

// ReductionOptions are the parameters of a reduction. The zero value is a reduction of each sweep, which ends no run.
type ReductionOptions struct {
	// Until ends the run if it returns true for the value of a sweep. It must be pure: a run that goes on from a
	// cut may call it again, on any node. If several reductions have one, the first that holds ends the run.
	Until func(sweep int, value float64) bool
	// Every is 1 by default: each sweep has a value. With n, only each n-th sweep has one, and the grid drops the values
	// that kernels add in the others. The sweeps between exchanges must divide it.
	Every int
	// Lag is how many sweeps follow the one for which Until holds. Then all blocks end. A block waits for the value only
	// when so many sweeps have passed. The sweeps between exchanges must divide it.
	Lag int
	// Start is the value that kernels read by Before in the first sweep.
	Start float64
	// Result gets each value, in the order of the sweeps. A task of one node calls it, and goes on when it returns.
	Result func(sweep int, value float64)
}

// NewSum declares the sum of the values that kernels add in a sweep. It is exact, and rounded once: see [exact.Sum].
func NewSum(g *Grid, name string, o ReductionOptions) *Reduction { return g.reduction(name, false, o) }

// NewMax declares the greatest of the values that kernels add in a sweep.
func NewMax(g *Grid, name string, o ReductionOptions) *Reduction { return g.reduction(name, true, o) }

func (g *Grid) reduction(name string, most bool, o ReductionOptions) *Reduction {
	r := &Reduction{grid: g, name: name, number: len(g.reductions), most: most, o: o}
	r.o.Every = max(1, o.Every)
	g.reductions = append(g.reductions, r)
	switch {
	case g.declared:
		r.check(errSwept)
	case o.Every < 0:
		r.check(wrong("Every", o.Every, "want 1 or more, or 0 for 1"))
	case o.Lag < 0:
		r.check(wrong("Lag", o.Lag, "want 0 or more"))
	}
	for _, other := range g.reductions[:r.number] {
		if other.name == name {
			r.check(errors.New("the grid has another reduction of this name"))
		}
	}
	return r
}

func (r *Reduction) check(err error) { r.grid.check(r.wrong(err)) }

func (r *Reduction) wrong(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("reduction %q: %w", r.name, err)
}

func (r *Reduction) ofEachSweep() error {
	if r.o.Every == 1 {
		return nil
	}
	return r.wrong(wrong("Every", r.o.Every, "want 1: kernels read it"))
}

func (r *Reduction) writtenBy(s *Stage) error {
	if r.grid != s.grid {
		return r.wrong(errors.New("it is of another grid"))
	}
	r.adders = append(r.adders, s.number)
	return nil
}

// stage is the last stage that adds to the reduction, or -1.
func (r *Reduction) stage() int {
	if len(r.adders) == 0 {
		return -1
	}
	return r.adders[len(r.adders)-1]
}

// settle checks the reduction when all stages are declared.
func (r *Reduction) settle() error {
	switch k := max(1, r.grid.o.Sweeps); {
	case len(r.adders) == 0:
		return errors.New("no stage adds to it: name it with the fields that the stage writes")
	case !r.fits(k):
		return wrong("Every", r.o.Every, "and Lag %d: want multiples of the %d sweeps between exchanges", r.o.Lag, k)
	}
	return nil
}

// fits reports whether a pass of so many sweeps ends with each value of the reduction, and with its end.
func (r *Reduction) fits(sweeps int) bool { return r.o.Every%sweeps == 0 && r.o.Lag%sweeps == 0 }

// Add adds values of the block. A kernel adds each value once.
//
//	sum.Add(b, row...)
//	greatest.Add(b, change)
func (r *Reduction) Add(b *Block, values ...float64) {
	if t := r.tally(b); t != nil {
		t.add(r, values)
	}
}

// Dot adds x[i]*y[i], rounded, for all i, to a sum.
func (r *Reduction) Dot(b *Block, x, y []float64) {
	if r.most {
		panic(fmt.Sprintf("stencil: Dot adds to reduction %q, which is no sum", r.name))
	}
	if t := r.tally(b); t != nil {
		t.sum.Dot(x, y)
	}
}

// tally is where the block adds to the reduction. It is nil in a sweep without a value.
func (r *Reduction) tally(b *Block) *tally {
	if !r.due(b.sweep + 1) {
		return nil
	}
	if !slices.Contains(r.adders, b.stage) {
		panic(fmt.Sprintf("stencil: stage %d adds to reduction %q, and does not name it among what it writes", b.stage, r.name))
	}
	return &b.tile.tallies[r.number]
}

// due reports whether the reduction has a value after so many sweeps.
func (r *Reduction) due(sweeps int) bool { return sweeps%r.o.Every == 0 }

// Now is this sweep's value, in a stage that names the reduction by [Stage.Reads], and behind all stages that add to it.
func (r *Reduction) Now(b *Block) float64 {
	t := r.read(b)
	if r.stage() >= b.stage {
		panic(fmt.Sprintf("stencil: stage %d reads this sweep's value of reduction %q, and stage %d adds to it: read Before", b.stage, r.name, r.stage()))
	}
	return t.now
}

// Before is the value of the sweep before, in a stage that names the reduction by [Stage.Reads].
func (r *Reduction) Before(b *Block) float64 { return r.read(b).before }

func (r *Reduction) read(b *Block) *tally {
	if !slices.Contains(b.tile.grid.stages[b.stage].reads, r) {
		panic(fmt.Sprintf("stencil: stage %d reads reduction %q: declare that by Stage.Reads", b.stage, r.name))
	}
	return &b.tile.tallies[r.number]
}

// partial is the part of a reduction that one or several tiles have added in a sweep.
type partial struct {
	sum    exact.Sum
	most   float64
	sweeps int64 // the value is for the sweep that ends after so many; 0 says that there is no value
	ended  int64 // 1 says that the tasks that wrote it do not run again
}

// empty is a partial without values.
func empty() partial { return partial{most: math.Inf(-1)} }

func (p *partial) add(r *Reduction, values []float64) {
	if !r.most {
		p.sum.AddAll(values)
		return
	}
	for _, v := range values {
		p.most = greater(p.most, v)
	}
}

// merge adds another part. The order of merges changes no bit.
func (p *partial) merge(from *partial) {
	p.sum.Merge(&from.sum)
	p.most = greater(p.most, from.most)
	p.sweeps, p.ended = from.sweeps, from.ended
}

func (p *partial) value(r *Reduction) float64 {
	if r.most {
		return p.most
	}
	return p.sum.Value()
}

// greater is the greater one of two numbers. If one of them is NaN, it is always the same NaN.
func greater(x, y float64) float64 {
	if x = max(x, y); x != x {
		return math.NaN()
	}
	return x
}

// tally is a reduction in one tile.
type tally struct {
	partial
	now, before float64 // the kernel reads these
}
