// Llk23 sweeps Livermore kernel 23 over a matrix that is cut into a grid of
// blocks, one task or nine for each, and proves that the result is the sequential
// sweep's, bit for bit.
//
//	go run ./apps/llk23
//	go run ./apps/llk23 -grid 8x8 -block 250x250 -iters 20 -json
//	go run ./apps/llk23 -tasks 9 -trace run.json -plot field.png -out final.npy
//	go run ./apps/llk23 -nodes 2
//	go run ./apps/llk23 -nodes 2 -why
//	go run ./apps/llk23 -grid 8x1 -block 250x2000 -kernel fast -sweeps 4
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
// A block is its tasks' own memory. What it needs of its neighbours' reaches it
// through resources of an [orwl.Runtime], one for each frontier, and in no other
// way. The tasks are declared block by block, row by row, and that order alone
// makes the iterations fit: see [field.declare]. There is no barrier; a block runs
// ahead as far as its neighbours allow.
//
// A task acquires its accesses one by one, as late as it can, and releases each as
// soon as it has copied a frontier in or out: nobody waits for a block that is
// being swept, but for what it computes. See [part.pass]. While the rows of a
// block are in the cache it can be swept several times (-sweeps), with frontiers that
// are deeper instead of more often there.
//
//	-tasks fused   the main task reads four frontiers and writes its own four
//	-tasks 9       the main task reads eight frontiers; eight exporters read what it
//	               has left, and write an edge or a corner each (the paper's form)
//
// # On several nodes
//
// With -nodes the program starts itself as so many processes of this machine; where
// something else has started several (orwl run, srun, mpirun, a list of addresses, see
// docs/running.md) each finds its place in its environment. All have the same flags.
// Each makes the blocks that it is dealt ([deal]), and runs their tasks; a frontier is
// kept where it is written. In the end node 0 collects the blocks, which takes it one
// whole matrix, and it alone verifies, writes files and says what has come out. A
// file that -init names is read by every node.
//
// When a node is lost, or fails, or is asked to stop, the others end and say which.
//
// # What is measured
//
// A main task is in one phase at any time: waiting, computing, or copying
// frontiers; the shares in the report are means over the blocks' main tasks. A
// frontier that had come before it was asked for is a prefetch hit; what is called
// hidden is for how long frontiers were on their way, since they were announced,
// while their readers did something else. On its way is a frontier of the same node
// until it is computed, and one of another node until it is here: the reader does not
// learn when that was computed. Time computing goes by the clock: nodes that share
// processors take them from each other.
//
// What is said of several nodes is of all of them: the time is from when the first
// began until the last had swept its blocks, and what is collected afterwards is no
// part of it, nor of the bytes that went from node to node.
//
// A trace (package trace, orwl trace report) has a track for each task, with a slice for
// each phase and each wait, one for each access, and an arrow for each hand-over. It has
// room for 262,144 slices, shared evenly by the nodes and then by their tasks, and sums up
// what comes after the first of each. What a traced run reports as waiting is what the
// trace has: the wait slices, and the time before a task's first work and after its last.
//
// # While it runs
//
// With -metrics each node serves metrics for Prometheus, profiles, and who waits for whom,
// node i at the port plus i: see docs/observe.md. Those of this program are read from what is
// written anyway, but for the stopwatches of the blocks, which then show what they
// have: three words more for each phase.
//
// With -why node 0 tells, when its first task begins, which task runs on which node, where
// each frontier is kept, and how many bytes go from node to node in a round
// ([orwl.Runtime.Placement]).
//
// # Files
//
// What is computed: kernel.go, block.go, matrix.go, smooth.go, lfk.go,
// initial.go, sequential.go. Who computes it: size.go, direction.go, rect.go,
// frontier.go, field.go, deal.go, program.go, actor.go, part.go, exporter.go. What
// other nodes have of it: collect.go, pipe.go, statement.go. The program around it:
// flags.go, flags_file.go, flags_metrics.go, job.go, nodes.go, run.go, stopwatch.go, progress.go,
// result.go, output.go, report.go, main.go. What is seen of it
// meanwhile: exhibit.go, figures.go, display.go, why.go. Pictures: trace.go, plot.go, palette.go, glyphs.go.
package main
