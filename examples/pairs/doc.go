// Livermore kernel 23 by goroutines and pairs of handles, as the paper on ordered read-write locks has it (Gustedt,
// Jeanvoine: Relaxed Synchronization with Ordered Read-Write Locks, 2011).
//
//	go run ./examples/pairs
//
// The matrix is cut into blocks. Each block has a main task, which sweeps it, and a sub-task for each frontier that a
// neighbour needs. The sub-task copies the frontier to a resource, and the neighbour's main task reads it there. The
// kernel reads no diagonal neighbour, so corners have no sub-tasks.
//
//	main task ──▶ [ block 0 0 ] ──▶ sub-task ──▶ [ east 0 0 ] ──▶ main task ──▶ [ block 0 1 ]
//
// Each task is a goroutine, and does what listing 7 of the paper does: it writes one resource, here, and reads others,
// there. Only the order of the first requests decides which task comes first. It is the order of the tasks: row by row,
// and the main task of a block before its sub-tasks. So a main task reads this round's frontiers in the north and the
// west, and the last round's in the south and the east. A loop over the whole matrix does the same.
//
// Then package orwl runs the same tasks by its plan, without queues, and the program compares the two checksums.
package main
