package main

import (
	"fmt"

	"github.com/orwl/go-orwl/internal/memory"
)

// taskBytes is what the tasks and frontiers of a small block take, on every node: all of them
// declare all tasks.
var taskBytes = map[form]int64{fused: 16 << 10, nine: 40 << 10}

// bytes is what a block takes.
func (e extent) bytes() int64 {
	rows, cols := int64(e.rows), int64(e.cols)
	return 8 * ((rows+2)*(cols+2) + int64(planes-1)*rows*cols)
}

// need is the most that the run has in this process at a time, or in all that it starts on this
// machine: first the blocks. Then node 0 has the result, beside the data of the blocks, and six
// matrices more if it is verified.
func (j *job) need() (bytes int64) {
	nodes := int64(max(1, j.options.nodes, j.place.Nodes))
	blocks, declared := j.grid.cells(), j.grid.cells()*taskBytes[j.tasks]
	if j.spawns() {
		declared *= nodes
	} else {
		blocks = (blocks + nodes - 1) / nodes // of the node that has most
	}
	more := j.inPass() - 1 // rows and columns of neighbours
	bytes = blocks * extent{rows: j.block.rows + more, cols: j.block.cols + more}.bytes()
	if j.place.Node == 0 {
		end := 2 * 8 * j.elements()
		if j.verify {
			end += j.whole().bytes()
		}
		bytes = max(bytes, end)
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
