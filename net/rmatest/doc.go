// Package rmatest is the conformance suite of the window contract, net/rma. It runs
// on every backend. A backend that passes it can run every algorithm of this module.
//
// A [Case] is a small program that every rank executes. Ranks communicate only by
// window operations. So a case also runs where each rank is a process, and where a
// simulator plays every operation as an event. No case reads a clock. A case waits
// only by Await.
//
//	func TestConformance(t *testing.T) {
//		rmatest.Run(t, func(t testing.TB, o rmatest.Options) rma.Fabric {
//			fabric, err := mem.New(mem.Options{Topology: o.Topology, Words: o.Words})
//			...
//			return fabric
//		})
//	}
//
// [Run] is for fabrics with all ranks as goroutines of the test. Other backends need
// a runner of a few lines that goes over [Cases]. In each process it makes a fabric
// of at least Case.Ranks ranks and Case.Words words and calls Case.Setup once. Then
// it executes the body that Setup returned, for each rank. [Lifecycle] tests the end
// of a fabric and of a context.
//
// A body returns the first mistake that it saw as its error. After a mistake it goes
// on to its end, so that the other ranks do not wait for it. A [Player] remembers the
// mistake. [Scene] makes a case of a function of a Player, also for suites of what
// stands on windows.
//
// The suite's own tests have windows with one defect each, and the cases that must
// reject them.
//
// [Tally] counts the operations of a window, to test the cost of an algorithm.
package rmatest
