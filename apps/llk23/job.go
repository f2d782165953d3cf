package main

import (
	"cmp"
	"fmt"

	"github.com/orwl/go-orwl/internal/memory"
	"github.com/orwl/go-orwl/internal/monitor"
	"github.com/orwl/go-orwl/internal/outfile"
	"github.com/orwl/go-orwl/orwl/launch"
	"github.com/orwl/go-orwl/orwl/stencil"
)

// job is what the options come to, with everything at hand that they name: what
// is wrong with that is noticed before any work is done.
type job struct {
	options
	problem
	place   launch.Place
	monitor *monitor.Monitor // nil: there is none
}

// The defaults of -grid and -block, for initial values of a matrix of any size. Blocks have whole rows: with several sweeps
// in a pass they take 0.6 to 0.7 of the time of 4x4 blocks. If one of the two is given, the other one is square.
var (
	wholeRows      = size{16, 1}
	wholeRowsBlock = size{125, 2000}
	usualGrid      = size{4, 4}
	usualBlock     = size{500, 500}
)

// fewestRows is how many rows a block with whole rows has at least: a matrix with fewer gets the usual grid.
const fewestRows = 16

// newJob prepares what o says for a process in that place. The caller must close the job.
func newJob(o options, place launch.Place) (_ *job, err error) {
	j := &job{options: o, problem: problem{iters: o.iters, sweeps: o.sweeps, kernel: kernels[o.kernel]}, place: place}
	defer func() {
		if err != nil {
			j.close()
		}
	}()
	switch o.init {
	case initHills, initNoise:
		if none := (size{}); j.grid == none && j.block == none {
			j.grid, j.block = wholeRows, wholeRowsBlock
		}
		j.grid, j.block = cmp.Or(j.grid, usualGrid), cmp.Or(j.block, usualBlock)
	case initLFK:
		err = j.fit(lfkSize)
	default:
		if j.data, err = openData(o.init); err != nil {
			return nil, fmt.Errorf("-init %s: %w", o.init, reason(err))
		}
		err = j.fit(size{j.data.size.rows - 2, j.data.size.cols - 2})
	}
	if err != nil {
		return nil, err
	}
	if n := j.grid.cells(); n > mostBlocks {
		return nil, fmt.Errorf("-grid %v: it has %d blocks, want at most %d", j.grid, n, mostBlocks)
	}
	if most := mostElements / j.grid.cells(); j.block.cells() > most {
		return nil, fmt.Errorf("-block %v: it has %d elements, want at most %d with -grid %v, for no more than 2^32", j.block, j.block.cells(), most, j.grid)
	}
	if err := j.fitSweeps(); err != nil {
		return nil, err
	}
	if err := j.fitNodes(); err != nil {
		return nil, err
	}
	whole := j.grid.times(j.block)
	j.rows, j.cols = whole.rows, whole.cols
	switch o.init {
	case initNoise:
		j.values = noise
	case initLFK:
		j.values = lfk
	default: // a file has data only
		j.values = hills(whole)
	}
	if err := j.fitMemory(memory.Free); err != nil {
		return nil, err
	}
	// Each node may be number 0 in the last life of the run, and write them.
	for _, f := range [][2]string{{"out", o.out}, {"trace", o.trace}, {"plot", o.plot}} {
		if f[1] == "" || j.spawns() && o.nodes.SSH != "" {
			continue
		}
		if err = outfile.Check(f[1]); err != nil {
			return nil, fmt.Errorf("-%s %s: %w", f[0], f[1], reason(err))
		}
	}
	switch {
	case !j.spawns():
		j.monitor, err = monitor.New(monitor.Options{Address: o.metrics, Place: place})
	case o.nodes.SSH == "": // otherwise the ports are not of this machine
		err = monitor.Try(o.metrics, o.nodes.Nodes)
	}
	return j, err
}

// fit chooses what was not given, for a matrix with whole inside its ring.
func (j *job) fit(whole size) error {
	given := j.options
	switch none := (size{}); {
	case given.grid == none && given.block == none && wholeRows.divides(whole) && whole.rows >= wholeRows.rows*fewestRows:
		j.grid = wholeRows
	case given.grid == none && given.block == none:
		j.grid = size{divisor(whole.rows, usualGrid.rows), divisor(whole.cols, usualGrid.cols)}
	case given.grid == none:
		if !j.block.divides(whole) {
			return fmt.Errorf("-block %v: want rows that divide %d and columns that divide %d, which -init %s has inside its ring",
				j.block, whole.rows, whole.cols, j.init)
		}
		j.grid = size{whole.rows / j.block.rows, whole.cols / j.block.cols}
	case !j.grid.divides(whole):
		return fmt.Errorf("-grid %v: want rows that divide %d and columns that divide %d, which -init %s has inside its ring",
			j.grid, whole.rows, whole.cols, j.init)
	}
	if given.block == (size{}) {
		j.block = size{whole.rows / j.grid.rows, whole.cols / j.grid.cols}
	}
	if j.grid.times(j.block) != whole {
		return fmt.Errorf("-block %v: want %dx%d with -grid %v, since -init %s has %v inside its ring",
			j.block, whole.rows/j.grid.rows, whole.cols/j.grid.cols, j.grid, j.init, whole)
	}
	return nil
}

// fitSweeps checks that blocks can be swept several times in one pass, if o asks for it.
func (j *job) fitSweeps() error {
	n := j.options.sweeps
	switch {
	case n <= 1:
	case j.grid.rows > 1 && j.block.rows < n:
		return fmt.Errorf("-sweeps %d: want at most %d, since -block %v has no more rows", n, j.block.rows, j.block)
	case j.grid.cols > 1 && j.block.cols < n:
		return fmt.Errorf("-sweeps %d: want at most %d, since -block %v has no more columns", n, j.block.cols, j.block)
	}
	return nil
}

// fitNodes checks that every node gets a block.
func (j *job) fitNodes() error {
	nodes, from := j.nodes.Nodes, "-nodes"
	if j.place.Nodes > 1 {
		nodes, from = j.place.Nodes, string(j.place.How)
	}
	if blocks := j.grid.cells(); int64(nodes) > blocks {
		return fmt.Errorf("%s %d: want at most %d nodes, since -grid %v has no more blocks", from, nodes, blocks, j.grid)
	}
	return nil
}

// spawns says that this process is to start others, and does nothing else.
func (j *job) spawns() bool { return j.nodes.Spawns(j.place) }

// divisor is the largest of n's divisors that is at most as large as most.
func divisor(n, most int) int {
	for d := min(n, most); d > 1; d-- {
		if n%d == 0 {
			return d
		}
	}
	return 1
}

// close gives back what the job has.
func (j *job) close() {
	_ = j.data.Close() // only read
	// A reader that is still there has had its time.
	_ = j.monitor.Close()
}

// taskBytes is what the tasks and frontiers of a small block take, on every node: all of them
// declare all tasks.
var taskBytes = map[form]int64{fused: 16 << 10, nine: 40 << 10}

// bytes is what a block takes.
func (e extent) bytes() int64 {
	rows, cols := int64(e.rows), int64(e.cols)
	return 8 * ((rows+2)*(cols+2) + int64(planes-1)*rows*cols)
}

// cutCopies is how many copies of a block's data the nodes keep beside it: of two cuts, each on two nodes.
const cutCopies = 4

// need is the most that the run has in this process at a time, or in all that it starts on this
// machine: first the blocks. Then node 0 has the result, beside the data of the blocks, and six
// matrices more if it is verified. Several nodes have cuts all the time.
func (j *job) need() (bytes int64) {
	nodes := int64(max(1, j.nodes.Nodes, j.place.Nodes))
	blocks, declared := j.grid.cells(), j.grid.cells()*taskBytes[j.tasks]
	cuts := int64(0)
	if nodes > 1 {
		cuts = cutCopies * 8 * j.block.cells()
	}
	if j.spawns() {
		declared *= nodes
	} else {
		blocks = (blocks + nodes - 1) / nodes // of the node that has most
	}
	inPass := j.options.sweeps
	if inPass == 0 {
		inPass = stencil.Deepest
	}
	more := min(inPass, j.options.iters) - 1 // rows and columns of neighbours
	bytes = blocks * extent{rows: j.block.rows + more, cols: j.block.cols + more}.bytes()
	if j.place.Node == 0 {
		end := 2 * 8 * j.elements()
		if j.verify {
			end += j.whole().bytes()
		}
		bytes = max(bytes, end)
	}
	return bytes + blocks*cuts + declared
}

// fitMemory refuses what this machine has no room for. Over ssh each node asks its own machine.
func (j *job) fitMemory(free func() (memory.Room, bool)) error {
	if j.spawns() && j.nodes.SSH != "" {
		return nil
	}
	need := j.need()
	if room, known := free(); known && need > room.Bytes {
		return fmt.Errorf("-grid %v -block %v: the run needs %s of memory, and %s has %s free: want fewer elements, or nodes on more machines",
			j.grid, j.block, gibibytes(need), room.Of, gibibytes(room.Bytes))
	}
	return nil
}

// gibibytes is a number of bytes as people read it.
func gibibytes(n int64) string { return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30)) }
