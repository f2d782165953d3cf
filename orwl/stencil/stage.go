package stencil

import (
	"fmt"
	"slices"
	"time"

	"github.com/orwl/go-orwl/orwl"
)

// stage is a step task that does a part of each pass over a tile. It begins when all that it
// imports is there, and exports when it ends. A tile has up to three stages, which take turns by
// the tile's data. They cut it in its slowest dimension:
//
//	first rows    import all but what is behind the last rows    export to the low side
//	middle
//	last rows     import from the high side                      export all else
//
// So the neighbour on the low side waits for the first rows only, and the one on the high side
// delays the last rows only. Tiles that lie in a line compute at the same time, and edges travel
// during the middle.
//
// All tasks of a tile are neighbours in the order of tasks. So each import is of the same pass as
// it would be with one stage.
type stage struct {
	*tile
	task     *orwl.Task
	data     *orwl.Access
	reads    []port
	writes   []port
	from, to int // progress, see [tile.span]
	// first and last are of the tile's stages.
	first, last bool
	// announced is when the accesses of this round were, by [Watch].
	announced time.Duration
	// low and high are the next blocks in each dimension, for the messages of reductions.
	low, high [dims]ports
}

// A stage costs a few microseconds. A grid that chooses gives each at least stageCells, and a
// stagesEach-th of the block.
const (
	stagesEach = 4
	stageCells = 2048
)

// span is the progress of a pass: from where to where it goes. At progress p, sweep s has done
// the rows below p-s·lag, see sweep.go. Rows count from the block's first.
func (t *tile) span() (begin, end int) {
	dim := t.grid.slowest()
	begin = t.regions[0].low[dim]
	for s := range t.grid.tiling.sweeps {
		end = max(end, t.regions[s].high[dim]+s*t.grid.shift(dim))
	}
	return begin, end
}

// slowest is the first of the user's dimensions.
func (g *Grid) slowest() int { return dims - g.ranks }

// needed is the progress from which on a pass needs what it imports, or the end.
func (t *tile) needed(x *exchange) int {
	dim := t.grid.slowest()
	_, progress := t.span()
	for s := range t.grid.tiling.sweeps {
		r := t.regions[s]
		reach := r.grown(t.grid.halo)
		for i := range x.strips {
			if b := x.strips[i].box.common(reach); !b.empty() {
				progress = min(progress, max(r.low[dim], b.low[dim]-t.grid.halo.high[dim])+s*t.grid.shift(dim))
			}
		}
	}
	return progress
}

// complete is the progress at which a pass has computed all that it exports.
func (t *tile) complete(x *exchange) int {
	dim := t.grid.slowest()
	progress, _ := t.span()
	for s := range t.grid.tiling.sweeps {
		r := t.regions[s]
		for i := range x.strips {
			if b := x.strips[i].box.common(r); !b.empty() {
				progress = max(progress, b.high[dim]+s*t.grid.shift(dim))
			}
		}
	}
	return progress
}

// cuts are the progress at which each stage begins, and the end. A cut at an end is none.
func (t *tile) cuts() []int {
	begin, end := t.span()
	rows := t.grid.stageRows(t.at)
	cuts := []int{begin, end}
	if rows == 0 {
		return cuts
	}
	early, late, latest := begin, end, end
	for d := range direction(directions) {
		switch step := d.step()[t.grid.slowest()]; {
		case step < 0 && t.out[d].exchange != nil && !t.grid.o.Exporters:
			early = max(early, begin+rows, t.complete(t.out[d].exchange))
		case step > 0 && t.in[d].exchange != nil:
			latest = min(latest, t.needed(t.in[d].exchange))
			late = min(latest, end-rows)
		}
	}
	if late-early < rows { // not worth a stage
		late = min(early, latest)
	}
	cuts = append(cuts, min(early, end), min(late, end))
	slices.Sort(cuts)
	return slices.Compact(cuts)
}

// stageRows is how many rows, or planes, are a stage at each end of a block; 0: the block has one
// stage.
func (g *Grid) stageRows(at vec) int {
	if len(g.reductions) > 0 { // their messages need all faces at once
		return 0
	}
	if g.o.Stages != 0 {
		return max(0, g.o.Stages)
	}
	b := g.block(at)
	n := b.size()[g.slowest()]
	rows := max(divideUp(n, stagesEach), divideUp(stageCells*n, b.cells()))
	if rows > n/2 {
		return 0
	}
	return rows
}

// declareStages declares the tasks of a tile. First they take the tile.
func (g *Grid) declareStages(t *tile, parity int) {
	cuts := t.cuts()
	t.stages = len(cuts) - 1
	rounds := g.passes()
	if n := g.parities(); n > 1 {
		rounds = (rounds - parity + 1) / n
	}
	if rounds == 0 {
		return
	}
	suffix := ""
	if g.parities() > 1 {
		suffix = [2]string{", even", ", odd"}[parity]
	}
	stages := make([]*stage, t.stages)
	for i := range stages {
		name := t.name + suffix
		if len(stages) > 1 {
			name = fmt.Sprintf("%s, stage %d of %d", name, i+1, len(stages))
		}
		s := &stage{tile: t, task: g.rt.Task(name).On(t.node), from: cuts[i], to: cuts[i+1], first: i == 0, last: i == len(stages)-1}
		s.data = s.task.Write(t.data)
		s.task.Each(rounds, func(round int) error { return s.run(g.parities()*round + parity) })
		stages[i] = s
	}
	for d := range t.in {
		x := t.in[d]
		if x.exchange == nil {
			continue
		}
		needed := t.needed(x.exchange)
		i := 0
		for i < len(stages)-1 && needed >= stages[i].to {
			i++
		}
		stages[i].read(direction(d), &x.faces[(parity+1)%g.parities()])
	}
	for d := range t.eachOut() {
		x := t.out[d]
		if g.o.Exporters {
			g.declareExporter(t, d, rounds, parity)
			continue
		}
		i := 0
		for complete := t.complete(x.exchange); complete > stages[i].to; { // the last stage is at the end
			i++
		}
		stages[i].write(d, &x.faces[parity])
	}
	for _, s := range stages {
		s.settle()
	}
}

// eachOut yields the directions to which a tile exports. A worker runs next the step that it has
// made ready first. In place, the next block in a row is the likeliest to have all else.
func (t *tile) eachOut() func(yield func(direction) bool) {
	return func(yield func(direction) bool) {
		for i := range direction(directions) {
			if d := (here + 1 + i) % directions; t.out[d].exchange != nil && !yield(d) {
				return
			}
		}
	}
}

func (p *stage) read(d direction, f *face) {
	access := p.task.Read(f.Resource)
	p.reads = append(p.reads, port{direction: d, access: access, face: f, exchange: p.in[d].exchange, far: p.follow(d, access)})
}

func (p *stage) write(d direction, f *face) {
	p.writes = append(p.writes, port{direction: d, access: p.task.Write(f.Resource), face: f, exchange: p.out[d].exchange})
}

// settle finds the ports of the next blocks, when all are declared.
func (p *stage) settle() {
	for i := range p.reads {
		p.beside(p.reads[i].direction).in = &p.reads[i]
	}
	for i := range p.writes {
		p.beside(p.writes[i].direction).out = &p.writes[i]
	}
}

// beside are the ports of a neighbour, if messages of reductions go there.
func (p *stage) beside(d direction) *ports {
	if p.grid.beside(p.at, d) {
		for i, step := range d.step() {
			switch step {
			case -1:
				return &p.low[i]
			case 1:
				return &p.high[i]
			}
		}
	}
	return new(ports)
}

// run is the stage's part of pass n.
func (p *stage) run(n int) error {
	g := p.grid
	done := g.start + n*g.tiling.sweeps
	sweeps := min(g.tiling.sweeps, g.total-done)
	asked := p.watch.since
	data, err := p.data.Place().Writable()
	if err != nil {
		return err
	}
	p.bind(data)
	if p.first && n == 0 { // what the run begins with
		if err := p.film(-1, g.start, false); err != nil {
			return err
		}
	}
	if len(p.reads) > 0 {
		p.enter(Importing)
	}
	for i := range p.reads {
		r := &p.reads[i]
		computed := r.face.computed // this waits for memory, too, and need not do so after the rest
		face, err := r.access.Place().Bytes()
		if err != nil {
			return err
		}
		for j := range r.exchange.strips {
			s := &r.exchange.strips[j]
			p.block.memory[s.field].load(s, done, face)
		}
		p.imported(r, computed, asked)
	}
	p.enter(Computing)
	p.sweep(done, sweeps, p.from, p.to)
	if len(p.writes) > 0 {
		p.enter(Exporting)
	}
	for i := range p.writes {
		w := &p.writes[i]
		face, err := w.access.Place().Writable()
		if err != nil {
			return err
		}
		for j := range w.exchange.strips {
			s := &w.exchange.strips[j]
			p.block.memory[s.field].store(s, done+sweeps, face)
		}
		w.face.computed = p.watch.since
	}
	if err := p.end(n, done+sweeps); err != nil {
		return err
	}
	p.announced = p.watch.since
	return nil
}

// end ends the stage's part of a pass.
func (p *stage) end(n, swept int) error {
	next := Waiting
	if p.last {
		if err := p.reduce(n); err != nil {
			return err
		}
		last := n+1 == p.grid.passes() || n+1 == p.stop
		p.checkpoint(n, swept, last)
		if err := p.told(n, swept, last); err != nil {
			return err
		}
		if last {
			next = Outside
			for i, f := range p.grid.fields {
				f.forget(p.block.memory[i])
			}
		}
	}
	p.enter(next)
	return nil
}

// reduce brings the reductions one step further. If one ends the run, this is the task's last
// round, or one that follows.
func (p *stage) reduce(n int) error {
	g := p.grid
	for i, r := range g.reductions {
		stop, err := r.advance(p.flows[i], p, n)
		if err != nil {
			return err
		}
		if stop > 0 && p.stop == 0 { // the first one that is known is the least
			p.stop = stop
			g.stop.Store(int64(stop))
		}
	}
	if p.stop > 0 && n+g.parities() >= p.stop {
		p.task.Last()
	}
	return nil
}
