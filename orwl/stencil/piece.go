package stencil

import (
	"fmt"
	"slices"
	"time"

	"github.com/orwl/go-orwl/internal/inner"
	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/internal/typed"
	"github.com/orwl/go-orwl/orwl"
)

// piece is a step task that does a part of each pass over a tile. It begins when all faces that it imports are there, and
// exports when it ends. A tile has up to three pieces. Each writes the tile's data, so one runs at a time. They cut the
// tile in its slowest dimension:
//
//	first rows    import from all sides but the high one    export to the low side
//	middle
//	last rows     import from the high side                 export to all other sides
//
// So the neighbour on the low side waits for the first rows only, and the neighbour on the high side delays the last rows
// only. Tiles in a line compute at the same time, and edges travel while the middle computes.
//
// The tasks of a tile follow each other in the order of tasks. So each piece imports cells of the same pass as one task
// for the whole tile would.
type piece struct {
	*tile
	task        *orwl.Task
	data        *queue.Place // the request for the tile's memory
	reads       []port
	writes      []port
	from, to    int // progress, see [tile.span]
	stage, turn int
	// first and last say that the piece is the first or the last task of the pass over the tile.
	first, last bool
	// announced is when the task announced the accesses of this round, by Options.Clock.
	announced time.Duration
	hears     []hearing          // the records of reductions that it reads
	adds      *orwl.Out[partial] // the tile writes there what it adds to reductions in this stage; nil if it adds nothing
}

// hearing is the record of a tree that a piece reads.
type hearing struct {
	*tree
	record orwl.In[outcome]
}

// A piece costs a few microseconds. A piece of first or last rows has at least pieceCells cells, and the share
// 1/piecesEach of the block.
const (
	piecesEach = 4
	pieceCells = 2048
)

// span is the progress at which a pass begins, and at which it ends. At progress p, sweep s has done the rows below p-s·lag, see
// [tile.sweep]. Rows count from the block's first one.
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

// needed is the progress at which a pass first needs the cells of an exchange that it imports. It is the end if the pass
// never does.
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

// complete is the progress at which a pass has computed all cells of an exchange that it exports.
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

// cuts lists the progress at which each piece begins, and that at which the last one ends.
func (t *tile) cuts() []int {
	begin, end := t.span()
	rows := t.grid.pieceRows(t.at)
	cuts := []int{begin, end}
	if rows == 0 {
		return cuts
	}
	early, late, latest := begin, end, end
	for d := range direction(directions) {
		switch step := d.step()[t.grid.slowest()]; {
		case step < 0 && t.out[0][d].exchange != nil && !t.grid.o.Exporters:
			early = max(early, begin+rows, t.complete(t.out[0][d].exchange))
		case step > 0 && t.in[0][d].exchange != nil:
			latest = min(latest, t.needed(t.in[0][d].exchange))
			late = min(latest, end-rows)
		}
	}
	if late-early < rows { // the rows are not worth a piece
		late = min(early, latest)
	}
	cuts = append(cuts, min(early, end), min(late, end))
	slices.Sort(cuts)
	return slices.Compact(cuts)
}

// pieceRows counts the rows, or planes, of a piece at each end of a block. It is 0 if the block has one piece.
func (g *Grid) pieceRows(at vec) int {
	if len(g.stages) > 1 {
		return 0
	}
	if g.o.pieces != 0 {
		return max(0, g.o.pieces)
	}
	b := g.block(at)
	n := b.size()[g.slowest()]
	rows := max(divideUp(n, piecesEach), divideUp(pieceCells*n, b.cells()))
	if rows > n/2 {
		return 0
	}
	return rows
}

// declarePieces declares the tasks of a tile for a stage and a turn. Their first access is to the tile.
func (g *Grid) declarePieces(t *tile, stage, turn int) {
	cuts := t.cuts()
	t.pieces = (len(cuts) - 1) * len(g.stages)
	rounds := g.rounds(turn)
	if rounds == 0 {
		return
	}
	pieces := make([]*piece, len(cuts)-1)
	for i := range pieces {
		name := t.name + g.turnName(turn) + g.stageName(stage)
		if len(pieces) > 1 {
			name = fmt.Sprintf("%s, piece %d of %d", name, i+1, len(pieces))
		}
		p := &piece{
			tile: t, task: g.rt.Task(name).On(t.node), from: cuts[i], to: cuts[i+1], stage: stage, turn: turn,
			first: stage == 0 && i == 0, last: stage == len(g.stages)-1 && i == len(pieces)-1,
		}
		if p.first && turn == 0 {
			inner.OfTask(p.task).Unit()
		}
		p.data = writes(p.task, t.data)
		p.task.Each(rounds, func(round int) error { return p.run(g.turns*round + turn) })
		pieces[i] = p
	}
	if p := pieces[len(pieces)-1]; p.last {
		t.lasts = append(t.lasts, p.task)
	}
	pieces[0].listen()
	if x := g.trees[stage][turn]; x != nil {
		p := pieces[len(pieces)-1]
		adds := orwl.Writes[partial](p.task, x.parts[g.number(t.at)])
		p.adds = &adds
	}
	sets := g.faceSets()
	for d := range t.in[g.before(stage)] {
		x := t.in[g.before(stage)][d]
		if x.exchange == nil {
			continue
		}
		needed := t.needed(x.exchange)
		i := 0
		for i < len(pieces)-1 && needed >= pieces[i].to {
			i++
		}
		pieces[i].read(direction(d), x, (turn+1)%sets)
	}
	for d := range t.eachOut(stage) {
		x := t.out[stage][d]
		if g.o.Exporters {
			g.declareExporter(t, d, stage, turn)
			continue
		}
		i := 0
		for complete := t.complete(x.exchange); complete > pieces[i].to; { // the last piece is at the end
			i++
		}
		pieces[i].write(d, x, turn%sets)
	}
}

// turnName names a turn in the names of tasks. It is empty if there is one turn.
func (g *Grid) turnName(turn int) string {
	switch g.turns {
	case 1:
		return ""
	case 2:
		return [2]string{", even", ", odd"}[turn]
	}
	return fmt.Sprintf(", turn %d", turn)
}

// listen declares which records of reductions the piece reads.
func (p *piece) listen() {
	g, s := p.grid, p.grid.stages[p.stage]
	for _, r := range s.reads {
		if r.stage() < p.stage {
			p.hear(g.trees[r.stage()][p.turn])
		} else {
			p.hear(g.ahead(r.stage(), p.turn))
		}
	}
	if p.first {
		for _, x := range slices.Concat(g.trees...) {
			if x != nil && x.reader == p.turn {
				p.hear(x)
			}
		}
	}
}

func (p *piece) hear(x *tree) {
	if !slices.ContainsFunc(p.hears, func(h hearing) bool { return h.tree == x }) {
		p.hears = append(p.hears, hearing{x, orwl.Reads[outcome](p.task, x.record)})
	}
}

// eachOut yields the directions to which a stage of a tile exports. A worker goes on with the step that became ready
// first. In place that is the next block of the row, which probably has all its other faces.
func (t *tile) eachOut(stage int) func(yield func(direction) bool) {
	return func(yield func(direction) bool) {
		for i := range direction(directions) {
			if d := (here + 1 + i) % directions; t.out[stage][d].exchange != nil && !yield(d) {
				return
			}
		}
	}
}

func (p *piece) read(d direction, x border, set int) {
	f := &x.faces[set]
	access := reads(p.task, f.Resource)
	p.reads = append(p.reads, port{direction: d, access: access, face: f, exchange: x.exchange, far: p.follow(d, access)})
}

func (p *piece) write(d direction, x border, set int) {
	f := &x.faces[set]
	p.writes = append(p.writes, port{direction: d, access: writes(p.task, f.Resource), face: f, exchange: x.exchange})
}

// run is the piece's part of pass n.
func (p *piece) run(n int) error {
	g := p.grid
	done, swept := g.bound(n), g.bound(n+1)
	asked := p.watch.since
	data, err := p.data.Writable()
	if err != nil {
		return err
	}
	p.begun()
	p.bind(data)
	p.learn(data)
	over := p.over(done)
	if p.first {
		if err := p.begin(n, done, over); err != nil {
			return err
		}
	}
	if over {
		p.task.Last()
		p.give(0, true)
		return nil
	}
	if len(p.reads) > 0 {
		p.enter(Importing)
	}
	for i := range p.reads {
		r := &p.reads[i]
		came := r.there() // the processor loads it while it waits for the rest of the face
		face, err := r.access.Bytes()
		if err != nil {
			return err
		}
		for j := range r.exchange.strips {
			s := &r.exchange.strips[j]
			p.block.memory[s.field].load(s, done, face)
		}
		p.imported(r, came, asked)
	}
	p.enter(Computing)
	p.sweep(p.stage, done, swept-done, p.from, p.to)
	if len(p.writes) > 0 {
		p.enter(Exporting)
	}
	for i := range p.writes {
		w := &p.writes[i]
		face, err := w.access.Writable()
		if err != nil {
			return err
		}
		for j := range w.exchange.strips {
			s := &w.exchange.strips[j]
			p.block.memory[s.field].store(s, swept, face)
		}
		w.face.computed = p.watch.since
	}
	final := p.over(g.bound(n + g.turns))
	if final {
		p.task.Last()
	}
	p.give(swept, final)
	if err := p.end(n, swept); err != nil {
		return err
	}
	p.announced = p.watch.since
	return nil
}

// over reports whether the tile knows that the run ends after at most so many sweeps.
func (t *tile) over(sweeps int) bool { return t.stop > 0 && sweeps >= t.stop }

// learn reads the records of reductions.
func (p *piece) learn(data []byte) {
	for _, h := range p.hears {
		record := h.record.View()
		for i, r := range h.reductions {
			o, t := record.At(i), &p.tallies[r.number]
			switch {
			case h.stage < p.stage:
				t.now, t.before = o.now, o.before
			case h.tree == p.grid.ahead(h.tree.stage, p.turn):
				t.before = o.now
			}
			if end := int(o.end); end > 0 && (p.stop == 0 || end < p.stop) {
				p.stop = min(end, p.grid.total)
				typed.Slice[int64](data[p.layout.stop:][:8])[0] = int64(p.stop)
				p.grid.stop.Store(int64(p.stop))
			}
		}
	}
}

// give writes what the tile has added to reductions after so many sweeps. With 0 sweeps it adds nothing. final says that
// the task does not run again.
func (p *piece) give(swept int, final bool) {
	if p.adds == nil {
		return
	}
	x := p.grid.trees[p.stage][p.turn]
	parts := p.adds.Slice()
	for i, r := range x.reductions {
		t := &p.tallies[r.number]
		if t.sweeps, t.ended = 0, 0; swept > 0 && r.due(swept) {
			t.sweeps = int64(swept)
		}
		if final {
			t.ended = 1
		}
		parts[i], t.partial = t.partial, empty()
	}
}

// A tile finishes a pass at its end. If a reduction may end the run, the tile finishes the pass when the next one begins,
// because only then it knows whether the pass was the last.

// begin begins a pass, or finds that the pass before was the last.
func (p *piece) begin(n, done int, over bool) error {
	switch {
	case n == 0:
		return p.film(-1, done, false) // the cells before the run
	case p.grid.ends() && !p.ended:
		return p.finish(n-1, done, over)
	}
	return nil
}

// end ends the piece's part of a pass.
func (p *piece) end(n, swept int) error {
	g := p.grid
	last := swept == g.total || p.over(swept)
	if p.last && (last || !g.ends()) {
		if err := p.finish(n, swept, last); err != nil {
			return err
		}
	}
	if !p.ended {
		p.enter(Waiting)
	}
	return nil
}

// finish ends a pass over the tile.
func (p *piece) finish(n, swept int, last bool) error {
	if err := p.film(n, swept, last); err != nil || !last {
		return err
	}
	p.ended = true
	for i, f := range p.grid.fields {
		f.forget(p.block.memory[i])
	}
	p.enter(Outside)
	return nil
}
