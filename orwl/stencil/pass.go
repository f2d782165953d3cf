package stencil

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/orwl/go-orwl/internal/inner"
	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/resource"
)

// A pass over a tile is a step task. It imports from the neighbours, sweeps, and exports.
//
// In place, the tasks have the order of the blocks. So each task finds cells of this pass on its low sides, and cells of
// the pass before on its high sides.
//
// Jacobi has two tasks for each tile, one for even and one for odd passes, and two faces for
// each neighbour:
//
//	even pass   reads the neighbours' odd faces,  writes the tile's even ones
//	odd pass    reads the neighbours' even faces, writes the tile's odd ones
//
// No task reads what another task of the same parity writes. So each tile finds the pass before, whatever the order of the tasks.
//
// With several stages, a pass is one sweep, and a tile has a task for each stage. The tasks of a stage come before the
// tasks of the next one, and read the faces that the stage before has written.
//
// With reductions, a tile has tasks for more than two turns: see tree.go.
//
// A large tile has several tasks for a pass, its pieces: see piece.go.

// port is a task's access to a face.
type port struct {
	access   *queue.Place
	face     *face
	far      *arrival // when the face came from another node; nil without Options.Clock, or if it comes from this one
	exchange *exchange

	direction direction // where the neighbour is
}

// reads declares that a task reads a resource in each round, and returns the request.
func reads(t *orwl.Task, r *resource.Resource) *queue.Place {
	return inner.OfAccess(inner.OfTask(t).Read(r)).Place()
}

// writes declares that a task writes a resource in each round, and returns the request.
func writes(t *orwl.Task, r *resource.Resource) *queue.Place {
	return inner.OfAccess(inner.OfTask(t).Write(r)).Place()
}

// face is a resource that a tile writes for a neighbour.
type face struct {
	*resource.Resource
	// computed is when a task computed the contents, by Options.Clock. The task that holds the resource may use
	// it. Other nodes do not see it.
	computed time.Duration
}

// faceSets is how many faces a tile has for each neighbour.
func (g *Grid) faceSets() int {
	if g.update == Jacobi && len(g.stages) == 1 {
		return 2
	}
	return 1
}

// All passes but the last one have the same number of sweeps. The last one may be shorter.

// passes counts the passes of the run, unless a reduction ends it.
func (g *Grid) passes() int { return divideUp(g.total, g.tiling.sweeps) }

// bound counts the sweeps before a pass.
func (g *Grid) bound(pass int) int { return min(pass*g.tiling.sweeps, g.total) }

// swept counts the sweeps after the run.
func (g *Grid) swept() int {
	if n := int(g.stop.Load()); n > 0 {
		return n
	}
	return g.total
}

// declare makes the tasks and resources.
func (g *Grid) declare() error {
	nodes := g.dealBlocks(inner.OfRuntime(g.rt).Weights())
	g.chooseTurns()
	for number, node := range nodes {
		t := g.newTile(g.place(number))
		t.node = node
		t.data = t.resource(t.name, t.layout.bytes)
		g.tiles = append(g.tiles, t)
	}
	g.declareFaces()
	g.plantTrees()
	for turn := range g.turns {
		for stage := range g.stages {
			for _, t := range g.tiles {
				g.declarePieces(t, stage, turn)
			}
			g.declareTree(stage, turn)
		}
	}
	inner.OfRuntime(g.rt).Grid(g.o.Name, g.Progress)
	return g.fill()
}

// resource declares a resource that the tile writes. Its home is the tile's node.
func (t *tile) resource(name string, bytes int) *resource.Resource {
	r := t.grid.rt.Resource(name, bytes)
	t.grid.rt.Home(r, t.node)
	return r
}

// tileAt is the tile of the block at a place.
func (g *Grid) tileAt(at vec) *tile { return g.tiles[g.number(at)] }

// declareFaces declares the faces of all tiles: for each stage and neighbour a resource, or two. There is none for a
// neighbour that imports nothing.
func (g *Grid) declareFaces() {
	for _, t := range g.tiles {
		for stage := range g.stages {
			for d := range t.out[stage] {
				x := &t.out[stage][d]
				if x.exchange == nil {
					continue
				}
				x.faces = new([2]face)
				n, _ := g.neighbour(t.at, direction(d))
				for set := range g.faceSets() {
					name := t.name + " to " + g.stepName(direction(d))
					if g.faceSets() > 1 {
						name += [2]string{", even", ", odd"}[set]
					}
					x.faces[set].Resource = t.resource(name+g.stageName(stage), x.layout.bytes)
				}
				g.tileAt(n).in[stage][direction(d).opposite()].faces = x.faces
			}
		}
	}
}

// stageName is the end of names that belong to a stage. It is empty if the grid has one stage.
func (g *Grid) stageName(stage int) string {
	if len(g.stages) == 1 {
		return ""
	}
	return fmt.Sprintf(", stage %d", stage)
}

// The sweeps of a pass go over the tile in bands of rows (or planes, in three dimensions). Each
// sweep is some rows behind the one before, because it needs the rows on its high side from
// that one:
//
//	band n of sweep 0      rows    n·h ... (n+1)·h-1
//	          sweep 1      rows -l+n·h ... (n+1)·h-1-l
//	          sweep 2      rows -2l+n·h ...
//
// So rows are swept several times while they are in the cache. A stage goes over bands, too, since its kernel may go over the
// rows several times.

// A band has about so many bytes of the fields.
const (
	bandBytes  = 64 << 10  // with several sweeps
	stageBytes = 256 << 10 // with several stages
)

// bandRows is the least number of rows in a band: kernels may compute several together.
const bandRows = 4

// sweep runs a part of a pass over a stage. The pass has so many sweeps, and done sweeps came before. The part goes from
// one progress to another, see [tile.span].
func (t *tile) sweep(stage, done, sweeps, from, to int) {
	g := t.grid
	dim := g.slowest()
	lag := g.shift(dim)
	first := 0 // the pass begins with this region
	if g.update == Jacobi {
		first = g.tiling.sweeps - sweeps
	}
	rows := t.band(from, to)
	for low := from; low < to; low += rows {
		high := min(low+rows, to)
		for s := first; s < first+sweeps; s++ {
			part := t.regions[s]
			part.low[dim] = max(part.low[dim], low-s*lag)
			part.high[dim] = min(part.high[dim], high-s*lag)
			if !part.empty() {
				t.run(stage, part.moved(t.low), done+s-first)
			}
		}
	}
}

// run calls the kernel of a stage for some cells.
func (t *tile) run(stage int, cells box, sweep int) {
	if t.grid.mirrored != [dims]bool{} {
		for _, i := range t.grid.changing {
			t.grid.fields[i].mirror(t.block.memory[i], sweep&1, cells)
		}
	}
	t.block.stage, t.block.cells, t.block.sweep = stage, cells, sweep
	t.grid.stages[stage].kernel(&t.block)
}

// band counts the rows of a band. A grid with mirrored edges has no bands in a stage: a sweep over a band would find images of
// cells that the stage has changed in the band before.
func (t *tile) band(from, to int) int {
	g := t.grid
	rows := g.block(t.at).size()[g.slowest()]
	within := func(bytes int) int { return min(rows, bytes*rows/max(1, t.bytes)) }
	switch stages := len(g.stages) > 1 && g.mirrored == [dims]bool{}; {
	case g.tiling.sweeps > 1 && t.bytes > 0:
		return max(1, min(bandRows, rows), within(bandBytes))
	case stages && within(stageBytes) >= bandRows:
		return within(stageBytes)
	}
	return to - from
}

// exporter is a task that writes one face of a tile when all pieces have ended: see Options.Exporters. All exporters of a
// tile read the tile at the same time.
type exporter struct {
	*tile
	exchange *exchange
	task     *orwl.Task
	data, to *queue.Place
	face     *face
}

func (g *Grid) declareExporter(t *tile, d direction, stage, turn int) {
	x := t.out[stage][d]
	e := &exporter{tile: t, exchange: x.exchange, face: &x.faces[turn%g.faceSets()]}
	e.task = g.rt.Task(t.name + " to " + g.stepName(d) + g.turnName(turn) + g.stageName(stage) + ", exporter").On(t.node)
	e.data, e.to = reads(e.task, t.data), writes(e.task, e.face.Resource)
	e.task.Each(g.rounds(turn), func(round int) error { return e.run(g.turns*round + turn) })
}

// run exports after pass n.
func (e *exporter) run(n int) error {
	g := e.grid
	data, err := e.data.Bytes()
	if err != nil {
		return err
	}
	stop := e.stopIn(data)
	if stop > 0 && g.bound(n) >= stop {
		e.task.Last()
		return nil
	}
	e.tell(e.task, Exporting)
	swept := g.bound(n + 1)
	face, err := e.to.Writable()
	if err != nil {
		return err
	}
	for i := range e.exchange.strips {
		s := &e.exchange.strips[i]
		e.block.memory[s.field].export(s, swept, data, face)
	}
	e.face.computed = e.watch.since // no piece runs while an exporter does
	if swept == g.total || stop > 0 && swept >= stop {
		e.tell(e.task, Outside)
	} else {
		e.tell(e.task, Waiting)
	}
	return nil
}

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
