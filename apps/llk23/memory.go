package main

import (
	"fmt"

	"github.com/orwl/go-orwl/internal/memory"
)

// taskBytes is what the tasks and frontiers of a small block take, on every node: all of them
// declare all tasks.
var taskBytes = map[form]int64{fused: 10 << 10, nine: 32 << 10}

// bytes is what a block takes.
func (e extent) bytes() int64 {
	rows, cols := int64(e.above+e.rows), int64(e.cols)
	return 8 * ((rows+2)*(cols+2) + int64(planes-1)*rows*cols)
}

// need is the most that the run has in this process at a time, or in all that it starts on this
// machine: first the blocks. Then there is only the result, which is on node 0, and a whole block
// more if it is verified.
func (j *job) need() (bytes int64) {
	field := newField(j.problem, j.grid, j.tasks)
	nodes := max(1, j.options.nodes, j.place.Nodes)
	all := j.spawns() // or the blocks of one node
	declared := j.grid.cells() * taskBytes[j.tasks]
	for n, node := range deal(j.grid, j.block, nodes) {
		if all || node == j.place.Node {
			bytes += field.extent(n/j.grid.cols, n%j.grid.cols).bytes()
		}
	}
	if all {
		declared *= int64(nodes)
	}
	if whole := j.whole(); j.verify && j.place.Node == 0 {
		bytes = max(bytes, whole.bytes()+8*j.elements())
	}
	return bytes + declared
}

// fitMemory refuses what this machine has no room for. Over ssh each node asks its own machine.
func (j *job) fitMemory(free func() (memory.Room, bool)) error {
	if j.spawns() && j.ssh != "" {
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
