package stencil

import (
	"fmt"
	"time"

	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/resource"
)

// A pass over a tile is a step task. It imports from the neighbours, sweeps, and exports.
//
// In place, the tasks are in the order of the blocks, so that each finds this pass's cells on its low sides, and
// cells of the pass before on its high sides.
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
// With several stages, a pass is one sweep, and a tile has a task for each stage. All tasks of a stage stand before
// those of the next one, and read the faces that the stage before has written.
//
// With reductions, a tile has tasks for more turns than two: see tree.go.
//
// A pass over a large tile is done in pieces, a task each: see piece.go.

// port is a task's access to a face.
type port struct {
	access   *orwl.Access
	face     *face
	far      *arrival // of what is imported from another node, by Options.Clock; nil otherwise
	exchange *exchange

	direction direction // where the neighbour is
}

// face is a resource with what a tile exports to a neighbour.
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

// Passes end where the number of sweeps is a multiple of those in a pass, so the first and the last one may be shorter.

// passes is how many there are, unless a reduction ends the run.
func (g *Grid) passes() int {
	if g.start >= g.total {
		return 0
	}
	return divideUp(g.total, g.tiling.sweeps) - g.start/g.tiling.sweeps
}

// bound is how many sweeps there were before a pass.
func (g *Grid) bound(pass int) int {
	if pass == 0 {
		return g.start
	}
	return min((g.start/g.tiling.sweeps+pass)*g.tiling.sweeps, g.total)
}

// swept is how many sweeps there were, after the run.
func (g *Grid) swept() int {
	if n := int(g.stop.Load()); n > 0 {
		return n
	}
	return g.total
}

// declare makes the tasks and resources.
func (g *Grid) declare() error {
	nodes := g.dealBlocks(g.rt.Nodes())
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

// declareFaces declares a resource for what a stage of a tile exports to a neighbour, or two. A
// neighbour that imports nothing has none.
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

// stageName ends the names of what a stage has, if there are several.
func (g *Grid) stageName(stage int) string {
	if len(g.stages) == 1 {
		return ""
	}
	return fmt.Sprintf(", stage %d", stage)
}
