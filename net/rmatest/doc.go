// Package rmatest is the conformance suite of the window contract, net/rma. It
// runs on every backend; a backend whose tests pass it may stand under any
// algorithm of this module.
//
// A [Case] is a small program that every rank executes. Ranks communicate by
// window operations alone, so that a case runs as well where each rank is a
// process of its own and where a simulator plays every operation as an event. No
// case reads a clock, and none waits except by Await.
//
//	func TestConformance(t *testing.T) {
//		rmatest.Run(t, func(t testing.TB, o rmatest.Options) rma.Fabric {
//			fabric, err := mem.New(mem.Options{Topology: o.Topology, Words: o.Words})
//			...
//			return fabric
//		})
//	}
//
// [Run] is for fabrics whose ranks are goroutines of the test. Where they are
// not, a runner of a few lines goes over [Cases] itself: make a fabric of at least
// Case.Ranks ranks and Case.Words words in each process, call Case.Setup there
// once, and execute the body that it returns for each rank. [Lifecycle] tests what
// happens when a fabric is closed.
//
// What a body saw is its error. It goes on after the first thing that it did not
// expect and reports that one at the end, so that a mistake does not leave the
// other ranks waiting.
//
// [Broken] is the suite's own test: windows with one defect each, and the cases
// that must reject them.
//
// [Tally] counts a window's operations, for tests of what an algorithm costs.
package rmatest
