package stencil

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/orwl/go-orwl/handle"
	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/internal/typed"
	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/resource"
)

// A tree of tasks merges the parts that tiles add to reductions. It comes after the tasks of the stage that adds:
//
//	tile ──▶ part ┐
//	tile ──▶ part ┼─▶ joint ──▶ part ┐
//	tile ──▶ part ┘                  ├─▶ root ──▶ record ──▶ tiles
//	tile ──▶ part ┬─▶ joint ──▶ part ┘
//	tile ──▶ part ┘
//
// The shape of the tree changes no bit: sums are exact. It does not depend on the nodes, since the next life of the run may have
// others and must declare the same. Few tiles need no joint. A joint runs on the node of its first tile.
//
// # Turns
//
// A round of the plan has several passes, its turns. Each tile has tasks of its own for each turn. So only turns after
// which a reduction has a value have a tree, and only turns in which the run may end read its record:
//
//	Every 4, Lag 2     turn 0   turn 1   turn 2   turn 3
//	                                              parts ─▶ root ─▶ record
//	                                     ◀─ reads the record of the round before
//
// A task writes the record of a turn once a round. So a tile reads the record at most one round later, even if Lag is
// longer, and keeps its values.

// A round has at most mostTurns turns. If Lag allows, a value has waitAhead passes of time to come from all blocks.
const (
	mostTurns = 16
	waitAhead = 8
)

// chooseTurns chooses how many turns a round has. Few turns have trees if the passes between two values are a multiple of
// the turns.
func (g *Grid) chooseTurns() {
	g.turns = g.faceSets()
	for _, r := range g.reductions {
		passes := r.o.Every / g.tiling.sweeps
		for part := min(passes, mostTurns); part > 0; part-- {
			if n := g.turns / gcd(g.turns, part) * part; passes%part == 0 && n <= mostTurns {
				g.turns = n
				break
			}
		}
	}
	for _, r := range g.reductions {
		for r.o.Until != nil && g.turns < min(r.o.Lag/g.tiling.sweeps+1, waitAhead) {
			g.turns *= 2
		}
	}
}

// mayBeDue reports whether the reduction has a value after some pass of the turn.
func (g *Grid) mayBeDue(turn int, r *Reduction) bool {
	return (turn+1)%gcd(g.turns, r.o.Every/g.tiling.sweeps) == 0
}

// rounds counts the passes of a turn.
func (g *Grid) rounds(turn int) int { return max(0, (g.passes()-turn+g.turns-1)/g.turns) }

// outcome is a reduction in a record.
type outcome struct {
	end         int64 // the run ends after so many sweeps; 0 if that is not known
	now, before float64
}

// tree merges the parts that a stage adds in one turn.
type tree struct {
	grid       *Grid
	stage      int
	turn       int
	reductions []*Reduction
	parts      []*resource.Resource // each tile writes its own, in the order of the tiles
	record     *resource.Resource
	prior      *resource.Resource // the record of the turn before that has a tree, which may be the same one
	reader     int                // the turn that reads in the record whether the run ends; -1 if none does
	root       int                // the root runs on this node
}

// plantTrees declares the resources of all trees. The only tree of a stage comes before itself.
func (g *Grid) plantTrees() {
	g.trees = make([][]*tree, len(g.stages))
	for s := range g.stages {
		g.trees[s] = make([]*tree, g.turns)
		var last *tree
		for turn := range g.turns {
			if t := g.newTree(s, turn); t != nil {
				g.trees[s][turn] = t
				if last != nil {
					t.prior = last.record
				}
				last = t
			}
		}
		if last != nil {
			g.trees[s][slices.IndexFunc(g.trees[s], func(t *tree) bool { return t != nil })].prior = last.record
		}
	}
}

// newTree is nil if no reduction of the stage has a value after the turn.
func (g *Grid) newTree(stage, turn int) *tree {
	x := &tree{grid: g, stage: stage, turn: turn, root: g.tiles[0].node, reader: -1}
	due, wait := false, g.turns-1
	for _, r := range g.reductions {
		if r.stage() != stage {
			continue
		}
		x.reductions = append(x.reductions, r)
		if !g.mayBeDue(turn, r) {
			continue
		}
		due = true
		if r.o.Until != nil {
			wait = min(wait, r.o.Lag/g.tiling.sweeps)
			x.reader = (turn + 1 + wait) % g.turns
		}
	}
	if !due {
		return nil
	}
	for _, t := range g.tiles {
		x.parts = append(x.parts, t.resource(fmt.Sprintf("%s: part of %s", x, t.name), len(x.reductions)*bytesOf[partial]()))
	}
	x.record = g.rt.Resource(x.String(), len(x.reductions)*bytesOf[outcome]()) // its home is the root's node
	return x
}

// String is the name of the record.
func (x *tree) String() string {
	return fmt.Sprintf("%s reductions of stage %d in turn %d", x.grid.o.Name, x.stage, x.turn)
}

// ahead is the tree whose record a stage reads in a turn if the tree comes after the stage: the tree of the turn before.
func (g *Grid) ahead(stage, turn int) *tree { return g.trees[stage][(turn+g.turns-1)%g.turns] }

// fan is how many parts a joint merges at most.
const fan = 16

// declareTree declares the tasks of a tree. They come after the tasks of the stage.
func (g *Grid) declareTree(stage, turn int) {
	x := g.trees[stage][turn]
	if x == nil || g.rounds(turn) == 0 {
		return
	}
	top := x.parts
	for level, each := 0, fan; len(top) > fan; level, each = level+1, each*fan {
		var next []*resource.Resource
		for some := range slices.Chunk(top, fan) {
			node := g.tiles[len(next)*each].node
			next = append(next, x.joint(fmt.Sprintf("%s: joint %d.%d", x, level, len(next)), node, some))
		}
		top = next
	}
	t := g.rt.Task(x.String()).On(x.root)
	from := partsOf(t, top)
	record := orwl.Writes[outcome](t, x.record)
	prior := func(i int) outcome { return record.Slice()[i] }
	if x.prior != x.record {
		in := orwl.Reads[outcome](t, x.prior)
		prior = func(i int) outcome { return in.View().At(i) }
	}
	t.Each(g.rounds(turn), func(int) error {
		parts := gather(from, len(x.reductions))
		if parts[0].ended > 0 {
			t.Last()
		}
		x.conclude(parts, prior, record.Slice())
		return nil
	})
}

// joint declares a task that merges parts.
func (x *tree) joint(name string, node int, parts []*resource.Resource) *resource.Resource {
	g := x.grid
	sum := g.rt.Resource(name, len(x.reductions)*bytesOf[partial]())
	t := g.rt.Task(name).On(node)
	from, to := partsOf(t, parts), orwl.Writes[partial](t, sum)
	t.Each(g.rounds(x.turn), func(int) error {
		all := gather(from, len(x.reductions))
		if all[0].ended > 0 {
			t.Last()
		}
		copy(to.Slice(), all)
		return nil
	})
	return sum
}

func partsOf(t *orwl.Task, of []*resource.Resource) (all []orwl.In[partial]) {
	for _, r := range of {
		all = append(all, orwl.Reads[partial](t, r))
	}
	return all
}

// learnEnd finds out after how many sweeps the run has ended, if no tile of this node has found it out in this life of the run.
func (g *Grid) learnEnd(ctx context.Context) error {
	if !g.ends() || g.stop.Load() > 0 {
		return nil
	}
	for _, x := range slices.Concat(g.trees...) {
		if x == nil {
			continue
		}
		err := queue.Look(ctx, (*queue.Resource)(x.record), func(p *queue.Place) error {
			b, err := p.Bytes()
			if err != nil {
				return err
			}
			for _, o := range handle.View[outcome](typed.ViewOf[outcome](b)).All() {
				if end := int(o.end); end > 0 && end < g.swept() { // the first end of several
					g.stop.Store(int64(end))
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

// gather merges so many parts of reductions each.
func gather(from []orwl.In[partial], n int) []partial {
	all := slices.Repeat([]partial{empty()}, n)
	for _, a := range from {
		v := a.View()
		for i := range all {
			part := v.At(i)
			all[i].merge(&part)
		}
	}
	return all
}

// bytesOf is the size of a value in memory.
func bytesOf[T any]() int { return int(reflect.TypeFor[T]().Size()) }

// conclude writes the record of a sweep.
func (x *tree) conclude(parts []partial, prior func(i int) outcome, now []outcome) {
	for i, r := range x.reductions {
		o, sweeps := prior(i), int(parts[i].sweeps)
		if sweeps > 0 {
			o.before, o.now = o.now, parts[i].value(r)
			if r.o.Result != nil {
				r.o.Result(sweeps-1, o.now)
			}
			if r.o.Until != nil && o.end == 0 && r.o.Until(sweeps-1, o.now) {
				o.end = int64(sweeps + r.o.Lag)
			}
		}
		now[i] = o
	}
}
