// Command pictures draws the pictures of the README. The wavefront says how many sweeps each block of a run has done at three
// moments. It is drawn from a trace of llk23:
//
//	go run ./apps/llk23 -grid 8x8 -block 200x200 -iters 40 -trace run.json
//	go run ./docs/pictures <run.json >docs/pictures/wavefront.svg
//
// With -film it makes a film smaller: half as wide, with few colours, and at most 290,000 bytes.
//
//	go run ./examples/wave -sweeps 700 -plot wave.gif
//	go run ./docs/pictures -film <wave.gif >docs/pictures/wave.gif
//	go run ./examples/grayscott -plot spots.gif
//	go run ./docs/pictures -film <spots.gif >docs/pictures/spots.gif
//	go run ./examples/life -soup 120 -sweeps 400 -plot life.gif
//	go run ./docs/pictures -film <life.gif >docs/pictures/life.gif
//	go run ./apps/llk23 -grid 8x8 -block 100x100 -iters 200 -plot docs/pictures/field.png
//
// With -residual it plots how two solvers converge:
//
//	go run ./examples/poisson -residuals >poisson
//	go run ./examples/pipelined -residuals >pipelined
//	go run ./docs/pictures -residual poisson pipelined >docs/pictures/residual.svg
package main
