package stencil

import (
	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/resource"
)

// A pass over a tile is a step task. It imports from the neighbours, sweeps, and exports.
//
// In place, each tile has one task. The tasks are in the order of the blocks, so that each
// finds this pass's cells on its low sides, and cells of the pass before on its high sides.
//
// Jacobi has two tasks for each tile, one for even and one for odd passes, and two faces for
// each neighbour:
//
//	even pass   reads the neighbours' odd faces,  writes the tile's even ones
//	odd pass    reads the neighbours' even faces, writes the tile's odd ones
//
// No task reads what another one of the same parity writes. So all tiles find the pass before,
// in whatever order they are.
type pass struct {
	*tile
	task   *orwl.Task
	data   *orwl.Access
	reads  []port
	writes []port
	// low and high are the next blocks in each dimension, for the messages of reductions.
	low, high [dims]ports
}

// ports are a task's accesses to what it exchanges with a neighbour.
type ports struct{ in, out port }

// port is a task's access to a face.
type port struct {
	exchange *exchange
	access   *orwl.Access
}

// parities is how many tasks a tile has.
func (g *Grid) parities() int {
	if g.update == Jacobi {
		return 2
	}
	return 1
}

// passes is how many there are, unless a reduction ends the run.
func (g *Grid) passes() int { return divideUp(g.total-g.start, g.tiling.sweeps) }

// swept is how many sweeps there were, after the run.
func (g *Grid) swept() int {
	if n := int(g.stop.Load()); n > 0 {
		return min(g.start+n*g.tiling.sweeps, g.total)
	}
	return g.total
}

// declare makes the tasks and resources.
func (g *Grid) declare() error {
	nodes := g.dealBlocks(g.rt.Nodes())
	for number, node := range nodes {
		t := g.newTile(g.place(number))
		t.node = node
		for _, r := range g.reductions {
			t.flows = append(t.flows, r.newFlow())
		}
		t.data = t.resource(t.name, t.layout.bytes)
		if g.o.Snapshots && g.rt.Nodes() > 1 {
			g.rt.Relaxed(t.data)
		}
		g.tiles = append(g.tiles, t)
	}
	g.declareFaces()
	for parity := range g.parities() {
		for _, t := range g.tiles {
			g.declarePass(t, parity)
		}
	}
	g.declareKeepers()
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

// declareFaces declares a resource for what a tile exports to a neighbour, or two for Jacobi. A
// neighbour that imports nothing has none.
func (g *Grid) declareFaces() {
	for _, t := range g.tiles {
		for d := range t.out {
			x := &t.out[d]
			if x.nothing() {
				continue
			}
			x.faces = new([2]*resource.Resource)
			n, _ := g.neighbour(t.at, direction(d))
			for parity := range g.parities() {
				name := t.name + " to " + g.stepName(direction(d))
				if g.parities() > 1 {
					name += [2]string{", even", ", odd"}[parity]
				}
				x.faces[parity] = t.resource(name, x.layout.bytes)
			}
			g.tileAt(n).in[direction(d).opposite()].faces = x.faces
		}
	}
}

// declarePass declares a task of a tile. First it takes the tile.
func (g *Grid) declarePass(t *tile, parity int) {
	rounds := g.passes()
	if n := g.parities(); n > 1 {
		rounds = (rounds - parity + 1) / n
	}
	if rounds == 0 {
		return
	}
	name := t.name
	if g.parities() > 1 {
		name += [2]string{", even", ", odd"}[parity]
	}
	task := g.rt.Task(name).On(t.node)
	p := &pass{tile: t, task: task}
	p.data = task.Write(t.data)
	for d := range t.in {
		if x := &t.in[d]; x.faces != nil {
			p.reads = append(p.reads, port{x, task.Read(x.faces[(parity+1)%g.parities()])})
			p.beside(direction(d)).in = p.reads[len(p.reads)-1]
		}
	}
	for d := range t.out {
		if x := &t.out[d]; x.faces != nil {
			p.writes = append(p.writes, port{x, task.Write(x.faces[parity])})
			p.beside(direction(d)).out = p.writes[len(p.writes)-1]
		}
	}
	task.Each(rounds, func(round int) error { return p.run(g.parities()*round + parity) })
}

// beside are the ports of a neighbour, if messages of reductions go there.
func (p *pass) beside(d direction) *ports {
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

// run is pass n of the tile.
func (p *pass) run(n int) error {
	g := p.grid
	done := g.start + n*g.tiling.sweeps
	if err := p.bind(p.data); err != nil {
		return err
	}
	for _, r := range p.reads {
		if err := p.load(r.exchange, r.access, done); err != nil {
			return err
		}
	}
	sweeps := min(g.tiling.sweeps, g.total-done)
	p.sweep(done, sweeps)
	for _, w := range p.writes {
		if err := p.store(w.exchange, w.access, done+sweeps); err != nil {
			return err
		}
	}
	if err := p.reduce(n); err != nil {
		return err
	}
	p.checkpoint(n, done+sweeps)
	return nil
}

// reduce brings the reductions one step further. If one ends the run, this is the task's last
// round, or one that follows.
func (p *pass) reduce(n int) error {
	g := p.grid
	for i, r := range g.reductions {
		stop, err := r.advance(p.flows[i], p, n)
		if err != nil {
			return err
		}
		if stop > 0 && stop < g.passes() && (p.stop == 0 || stop < p.stop) {
			p.stop = stop
			g.stop.Store(int64(stop))
		}
	}
	if p.stop > 0 && n+g.parities() >= p.stop {
		p.task.Last()
	}
	return nil
}
