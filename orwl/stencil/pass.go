package stencil

import (
	"time"

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
//
// A pass over a large tile is done in stages, a task each: see stage.go.

// ports are a task's accesses to what it exchanges with a neighbour.
type ports struct{ in, out *port }

// port is a task's access to a face.
type port struct {
	access   *orwl.Access
	face     *face
	far      *arrival // of what is imported from another node, by [Watch]; nil otherwise
	exchange *exchange

	direction direction // where the neighbour is
}

// face is a resource with what a tile exports to a neighbour.
type face struct {
	*resource.Resource
	// computed is when the contents were, by [Watch]. The task that holds the resource may use
	// it. Other nodes do not see it.
	computed time.Duration
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
		if g.o.Snapshots {
			g.rt.Relaxed(t.data)
		}
		g.tiles = append(g.tiles, t)
	}
	g.declareFaces()
	for parity := range g.parities() {
		for _, t := range g.tiles {
			g.declareStages(t, parity)
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
			if x.exchange == nil {
				continue
			}
			x.faces = new([2]face)
			n, _ := g.neighbour(t.at, direction(d))
			for parity := range g.parities() {
				name := t.name + " to " + g.stepName(direction(d))
				if g.parities() > 1 {
					name += [2]string{", even", ", odd"}[parity]
				}
				x.faces[parity].Resource = t.resource(name, x.layout.bytes)
			}
			g.tileAt(n).in[direction(d).opposite()].faces = x.faces
		}
	}
}
