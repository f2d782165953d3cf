// Package experiments is orwl-lab experiments: the four experiments of the paper that describes
// ordered read-write locks (Gustedt, Jeanvoine: Relaxed Synchronization with Ordered Read-Write
// Locks, 2011, §4.2), made on the machine at hand.
//
//	orwl-lab experiments -for 15m -to results
//
//	2a   ns an element against the size of a block, for 4 to 100 blocks
//	2b   the shares of computing and waiting, of the same runs
//	2c   1 to 16 main tasks a core, pinned, for a matrix of one size
//	2d   weak scaling over nodes, which are processes here; and over nodes of described
//	     clusters, whose cores the simulator plays
//
// Each other point is a run of the program llk23, in a process of its own, whose JSON report is read: what is
// measured is what a user starts. A [plan] says which runs there are, and how many iterations fit
// into the time. The folder gets index.html, which needs no network and no script, and measured.csv.
//
// The paper had a cluster with a node for each block. Where one machine cannot do the same, the
// page says what was done instead, and which runs were left out and why.
package experiments
