// Llk23 sweeps Livermore kernel 23 over a matrix that is cut into a grid of
// blocks, with a few tasks for each, and proves that the result is the sequential
// sweep's, bit for bit.
//
//	go run ./apps/llk23
//	go run ./apps/llk23 -grid 8x8 -block 250x250 -iters 20 -json
//	go run ./apps/llk23 -tasks 9 -trace run.json -plot field.png -out final.npy
//	go run ./apps/llk23 -kernel fast -sweeps 4
//	go run ./apps/llk23 -nodes 2 -metrics 127.0.0.1:9464
//	srun -n 8 ./llk23 -grid 16x16 -json
//
// # What it computes
//
// Every interior element of a matrix becomes a mixture of itself and its four
// neighbours, in place, row by row from north to south and from west to east.
// In iteration k an element therefore uses the north and west neighbours of
// iteration k and the south and east neighbours of iteration k-1. A ring of
// width 1 around the interior is constant.
//
// # How the blocks agree
//
// The matrix is a grid of package [github.com/orwl/go-orwl/orwl/stencil], swept in place. The
// elements of a block's neighbours reach it through resources, one for each frontier, and in
// no other way. There is no barrier; a block runs ahead as far as its neighbours allow. A large block
// has up to three tasks, its pieces (docs/reference/stencils.md). While the rows of a block are in the
// cache it can be swept several times (-sweeps): then frontiers are deeper, and needed less often.
//
//	-tasks fused   the pieces read four frontiers and write the block's own four
//	-tasks 9       the pieces read eight frontiers; when the last has ended, eight
//	               exporters write an edge or a corner each (the paper's form)
//
// # On several nodes
//
// With -nodes the program starts itself as so many processes of this machine. Where something else has
// started several, each finds its place in its environment (docs/reference/running.md). All have the same
// flags. Each makes the blocks that it is dealt, and runs their tasks; a frontier is kept where it is
// written. In the end node 0 collects the blocks, which takes it two whole matrices, and it alone
// verifies, writes files and says what has come out. A file that -init names is read by every node.
//
// When a node is lost, or leaves by SIGTERM, the others go on from the last cut (docs/explanation/nodes.md), also if that was node 0, or
// if it was verifying. The lowest one that is left then has number 0. Each node checks in the beginning that it could write the
// files. When a node fails, the others end and say which.
//
// # What is measured
//
// The report begins with the result: whether all bits equal the sequential sweep, and how many times as long that took. Then
// it says for how much of their time the processors were busy. A block is in one phase at any time: it waits for its neighbours, is queued
// until a worker is free, computes, or copies frontiers; the shares are means over the blocks. Blocks that outnumber the processors
// must be queued or wait: 16 blocks on 2 processors for 87.5 % of the time at least. So the report says what is possible, too.
// A block is queued when its last frontier has come, so that includes what the runtime itself takes. Time computing
// goes by the clock: nodes that share processors take them from each other.
//
// A frontier is a prefetch hit if it was there when the block ended the piece before. Hidden is
// the time for which frontiers were on their way, since they were announced, while the block
// did something else. A frontier of the same node is on its way until it is computed, and one
// of another node until it is here: the reader does not learn when that was computed. A block
// of one piece has no hits after its first pass: each frontier that it reads depends on what it
// has just written.
//
// The figures of several nodes are of all of them. The time is from when the first began until
// the last had swept its blocks, without the collection afterwards. If nodes were lost, it is from the beginning of the first life,
// and the report says how many lives there were, and why. All other figures, the trace and the film are of the last life: what the
// lost nodes had of them is lost.
//
// A trace (package trace, orwl trace report) has room for 262,144 slices, shared evenly by the nodes and then
// by their tasks, and sums up what comes after the first of each. A piece also waits while another piece of
// its block works. So its waits add up to more than the block's.
//
// With -metrics, node i serves metrics at the port plus i (docs/reference/observe.md), and with -why node 0
// tells which task runs where ([orwl.Runtime.Placement]).
package main
