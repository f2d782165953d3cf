// Sorts numbers that are spread over nodes, by merging. Each node but the last one sorts the numbers
// that it has, and keeps them as runs, in blocks. The last node merges all runs. It holds one block
// of each run, and needs the next block of the run whose block ends first.
//
// Which run that is depends on the numbers. The node knows it one step ahead: it is the run whose
// block has the smallest last number. Knuth calls this forecasting (The Art of Computer Programming,
// volume 3, section 5.4). So the node announces that run's next block, merges until the block is needed,
// and mostly finds it there.
//
// The program merges with and without announcing. It says how long the merge has waited for a block,
// and compares all bits with a sort of all numbers at once:
//
//	go run ./examples/mergesort
//	go run ./examples/mergesort -tcp
package main
