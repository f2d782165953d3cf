package experiments

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/rma/model"
	"github.com/orwl/go-orwl/net/sim"
	"github.com/orwl/go-orwl/net/topology"
)

// cluster is a described machine that runs the paper's Fig. 2(d). Each node has four cores and 4x4 blocks, below the
// blocks of the node before. The simulator plays the cores in virtual time: a core has the four blocks of a column.
// Of the blocks that may go on, it sweeps the one that is furthest behind. Then it sends frontiers to other nodes, tells the
// neighbours, and waits if it has no block that may go on.
type cluster struct {
	machine model.Model
	nodes   int
	side    int           // of a block
	sweep   time.Duration // of a block, by one core
}

const (
	nodeSide   = 4  // blocks on a side of a node's square, and cores
	warming    = 8  // iterations before the time is taken
	iterations = 24 // in all
)

// The words of a rank: how often it was told of something, how far the four neighbours of each of its blocks have come,
// and a frontier. No rank reads the contents of the frontier.
const (
	bell     rma.Disp = 0
	progress rma.Disp = 1
	frontier rma.Disp = progress + nodeSide*4
)

// The neighbours of a block.
const (
	north = iota
	west
	south
	east
)

// heard is where a rank finds how far a neighbour of one of its blocks has come.
func heard(row, neighbour int) rma.Disp { return progress + rma.Disp(4*row+neighbour) }

// iteration predicts how long an iteration takes when all nodes have begun.
func (c cluster) iteration() (time.Duration, error) {
	tree, err := topology.Parse(fmt.Sprintf("node:%d core:%d", c.nodes, nodeSide))
	if err != nil {
		return 0, err
	}
	var warm, end time.Duration // when the last core had come so far
	system := sim.System{Topology: tree, Words: int(frontier) + c.side, MaxSteps: 1 << 30, Setup: func(f *sim.Fabric) (sim.Program, error) {
		if _, err := f.Alloc(int(frontier) + c.side); err != nil {
			return sim.Program{}, err
		}
		return sim.Program{Rank: func(ctx context.Context, w rma.Window) error {
			me := int(w.Rank())
			core := &core{cluster: c, w: w.(*sim.Window), node: me / nodeSide, column: me % nodeSide, face: make([]byte, 8*c.side)}
			err := core.run(ctx)
			warm, end = max(warm, core.warm), max(end, core.w.Now())
			return err
		}}, nil
	}}
	if p := system.Predict(c.machine, 1); p.Failure != nil {
		return 0, p.Failure
	}
	return (end - warm) / (iterations - warming), nil
}

// machines are the clusters of the prediction.
var machines = []string{"ethernet", "coolmuc-2"}

// predict adds the predictions to the runs, if the run on one node is there that says what a sweep takes.
func (p plan) predict(ctx context.Context, points []point, out io.Writer) ([]point, error) {
	at := slices.IndexFunc(points, func(o point) bool { return o.figure == "2d" && o.leftOut == "" })
	if at < 0 {
		return points, nil
	}
	sweep := points[at].NsPerElement * paperBlock * paperBlock
	for _, name := range machines {
		machine, err := sim.MachineByName(name)
		if err != nil {
			return nil, err
		}
		for _, nodes := range p.few(nodeCounts) {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			took, err := cluster{machine: machine, nodes: nodes, side: paperBlock, sweep: time.Duration(sweep)}.iteration()
			if err != nil {
				return nil, err
			}
			o := point{
				figure: "2d", blocks: [2]int{nodeSide * nodes, nodeSide}, side: [2]int{paperBlock, paperBlock}, nodes: nodes, processors: nodeSide,
				iterations: iterations - warming, machine: name,
			}
			o.Seconds = took.Seconds() * float64(o.iterations)
			o.NsPerElement = float64(took) / o.elements()
			o.ComputeShare = sweep / float64(took)
			o.WaitShare, o.LeastWaitShare = 1-o.ComputeShare, 1-1.0/nodeSide
			points = append(points, o)
			if _, err := fmt.Fprintln(out, &o); err != nil {
				return nil, err
			}
		}
	}
	return points, nil
}

// core is a rank, and its column of a node's blocks.
type core struct {
	cluster
	w            *sim.Window
	node, column int
	done         [nodeSide]uint64 // sweeps of each block
	warm         time.Duration    // when all had made the first ones
	face         []byte
}

// run makes all sweeps.
func (c *core) run(ctx context.Context) error {
	for slices.Min(c.done[:]) < iterations {
		told := c.w.Get(c.w.Rank(), bell)
		if row := c.next(); row >= 0 {
			c.w.Compute(c.sweep)
			if c.done[row]++; slices.Min(c.done[:]) == warming && c.warm == 0 {
				c.warm = c.w.Now()
			}
			c.export(row)
		} else if _, err := c.w.Await(ctx, c.w.Rank(), bell, rma.IsNot(told)); err != nil {
			return err
		}
	}
	return nil
}

// next is the row of the block to sweep, -1 if none may go on.
func (c *core) next() int {
	best := -1
	for row, done := range c.done {
		if done < iterations && (best < 0 || done < c.done[best]) && c.mayGoOn(row) {
			best = row
		}
	}
	return best
}

// mayGoOn reports whether the neighbours of a block let it begin its next sweep, in the order of Gauss-Seidel: those to
// the north and west have made this sweep, and the others the one before.
func (c *core) mayGoOn(row int) bool {
	next := c.done[row] + 1
	for neighbour, need := range [...]uint64{north: next, west: next, south: next - 1, east: next - 1} {
		owner, _, there := c.neighbour(row, neighbour)
		if !there {
			continue
		}
		var has uint64
		switch {
		case owner != c.w.Rank():
			has = c.w.Get(c.w.Rank(), heard(row, neighbour))
		case neighbour == north:
			has = c.done[row-1]
		default:
			has = c.done[row+1]
		}
		if has < need {
			return false
		}
	}
	return true
}

// neighbour is the core that has a neighbour of a block, and in which row of its own. A block at the edge of the matrix
// lacks some.
func (c *core) neighbour(row, neighbour int) (owner rma.Rank, of int, there bool) {
	node, of, column := c.node, row, c.column
	switch neighbour {
	case north:
		of--
	case south:
		of++
	case west:
		column--
	case east:
		column++
	}
	if of < 0 {
		node, of = node-1, nodeSide-1
	} else if of == nodeSide {
		node, of = node+1, 0
	}
	there = node >= 0 && node < c.nodes && column >= 0 && column < nodeSide
	return rma.Rank(node*nodeSide + column), of, there
}

// export tells the neighbours on other cores of a sweep. Those on other nodes get the frontier before.
func (c *core) export(row int) {
	opposite := [...]int{north: south, west: east, south: north, east: west}
	for neighbour := range opposite {
		owner, of, there := c.neighbour(row, neighbour)
		if !there || owner == c.w.Rank() {
			continue
		}
		if int(owner)/nodeSide != c.node {
			c.w.PutBytes(owner, frontier, c.face)
			c.w.Flush(owner)
		}
		c.w.Put(owner, heard(of, opposite[neighbour]), c.done[row])
		c.w.Flush(owner)
		c.w.Accumulate(owner, bell, rma.Sum, 1)
	}
}
