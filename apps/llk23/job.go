package main

import (
	"fmt"

	"github.com/orwl/go-orwl/internal/exhibit"
	"github.com/orwl/go-orwl/internal/memory"
	"github.com/orwl/go-orwl/internal/outfile"
	"github.com/orwl/go-orwl/orwl/launch"
)

// job is what the options come to, with everything at hand that they name: what
// is wrong with that is noticed before any work is done.
type job struct {
	options
	problem
	place            launch.Place
	out, trace, plot *outfile.File    // on node 0
	exhibit          *exhibit.Exhibit // nil: there is none
}

// The defaults of -grid and -block, for initial values of a matrix of any size.
var (
	usualGrid  = size{4, 4}
	usualBlock = size{500, 500}
)

// newJob prepares what o says for a process in that place. The caller must close the job.
func newJob(o options, place launch.Place) (_ *job, err error) {
	j := &job{options: o, problem: problem{iters: o.iters, sweeps: o.sweeps}, place: place}
	j.problem.kernel, _ = kernelByName(o.kernel)
	defer func() {
		if err != nil {
			j.close()
		}
	}()
	switch o.init {
	case initHills, initNoise:
		j.anySize()
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
	for _, f := range []struct {
		flag, name string
		to         **outfile.File
	}{{"out", o.out, &j.out}, {"trace", o.trace, &j.trace}, {"plot", o.plot, &j.plot}} {
		if f.name == "" || place.Node != 0 || j.spawns() && o.ssh != "" {
			continue
		}
		if *f.to, err = outfile.Create(f.name); err != nil {
			return nil, fmt.Errorf("-%s %s: %w", f.flag, f.name, reason(err))
		}
	}
	switch {
	case !j.spawns():
		j.exhibit, err = exhibit.New(exhibit.Options{Address: o.metrics, Place: place})
	case o.ssh == "": // otherwise the ports are not of this machine
		err = exhibit.Try(o.metrics, o.nodes)
	}
	return j, err
}

// anySize chooses what was not given, where every size will do.
func (j *job) anySize() {
	if j.grid == (size{}) {
		j.grid = usualGrid
	}
	if j.block == (size{}) {
		j.block = usualBlock
	}
}

// fit chooses what was not given, for a matrix with whole inside its ring.
func (j *job) fit(whole size) error {
	given := j.options
	switch none := (size{}); {
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
	case n == 1:
	case j.grid.rows > 1 && j.block.rows < n:
		return fmt.Errorf("-sweeps %d: want at most %d, since -block %v has no more rows", n, j.block.rows, j.block)
	case j.grid.cols > 1 && j.block.cols < n:
		return fmt.Errorf("-sweeps %d: want at most %d, since -block %v has no more columns", n, j.block.cols, j.block)
	}
	return nil
}

// fitNodes checks that every node gets a block, and that the flag and the launcher agree on the
// number of nodes.
func (j *job) fitNodes() error {
	nodes, from := j.options.nodes, "-nodes"
	if j.place.Nodes > 1 && j.ssh != "" && !j.place.How.BySpawn() {
		return fmt.Errorf("-ssh: want none, since this is %v, which something else has started", j.place)
	}
	if there := j.place.Nodes; there > 1 && nodes != 0 && nodes != there {
		return fmt.Errorf("-nodes %d: want %d, or no -nodes, since this is %v", nodes, there, j.place)
	} else if there > 1 {
		nodes, from = there, string(j.place.How)
	}
	if blocks := j.grid.cells(); int64(nodes) > blocks {
		return fmt.Errorf("%s %d: want at most %d nodes, since -grid %v has no more blocks", from, nodes, blocks, j.grid)
	}
	return nil
}

// spawns says that this process is to start others, and does nothing else.
func (j *job) spawns() bool {
	return (j.options.nodes > 1 || j.ssh != "") && j.place.Nodes == 1 && !j.place.How.BySpawn()
}

// divisor is the largest of n's divisors that is at most as large as most.
func divisor(n, most int) int {
	for d := min(n, most); d > 1; d-- {
		if n%d == 0 {
			return d
		}
	}
	return 1
}

// close gives back what the job has, and drops outputs that were not finished.
func (j *job) close() {
	// Only read, or not wanted any more.
	_ = j.data.Close()
	for _, o := range []*outfile.File{j.out, j.trace, j.plot} {
		o.Drop()
	}
	// A reader that is still there has had its time.
	_ = j.exhibit.Close()
}
