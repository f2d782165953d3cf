// Command pictures draws the wavefront of the README: how many sweeps each block of a run has done
// at three moments. It reads a trace of llk23 from standard input, and writes SVG.
//
//	go run ./apps/llk23 -grid 8x8 -block 200x200 -iters 40 -trace run.json
//	go run ./docs/pictures <run.json >docs/pictures/wavefront.svg
package main
