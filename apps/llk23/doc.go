// Llk23 sweeps Livermore kernel 23 over a matrix that is cut into horizontal
// strips, one for each rank, and proves that the result is the sequential
// sweep's, bit for bit.
//
//	go run ./apps/llk23
//	go run ./apps/llk23 -rows 4000 -cols 4000 -iters 20 -json
//
// # What it computes
//
// Every interior element of a matrix becomes a mixture of itself and its four
// neighbours, in place, row by row from north to south and from west to east.
// In iteration k an element therefore uses the north and west neighbours of
// iteration k and the south and east neighbours of iteration k-1. A ring of
// width 1 around the interior is constant.
//
// # How the strips agree
//
// A strip is a rank's own memory. What it needs of its neighbours' reaches it
// through its window and in no other way: the row above as of this iteration,
// and the row below as of the last one. There is no barrier; a strip runs ahead
// as far as its two neighbours allow, and the ranks work like a pipeline in
// which each lags behind the one to its north. See [strips.sweep].
//
// This is the program on the bare window. It uses neither locks nor handles,
// and is what the forms built on those have to be measured against.
//
// # Files
//
// What is computed: kernel.go, block.go, matrix.go, smooth.go. In what order:
// sequential.go, strips.go, pipeline.go, frontier.go. The program around it:
// flags.go, run.go, stopwatch.go, progress.go, result.go, report.go, main.go.
package main
