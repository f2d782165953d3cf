// Pipelined conjugate gradients, by P. Ghysels and W. Vanroose (Parallel Computing 40, 2014, algorithm 3): the equation
// of examples/poisson. Each sweep needs the sums of the sweep before. They travel while the blocks multiply:
//
//	poisson      multiply  sum  step  sum  turn        two sums, and all wait for both
//	pipelined    multiply        step, turn            one round of sums, which travel meanwhile
//	             ╰── sums ──╯
//
// It takes more work for each cell, so it pays where messages are slow.
//
//	go run ./examples/pipelined
package main
