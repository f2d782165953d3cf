// Package lockstest is the conformance suite of the contract that package locks
// documents. It runs for every row of the table on every backend; a lock that
// passes may stand under a resource.
//
// A [Subject] is a lock to judge: a row of the table, or one that a [Specimen] has
// broken. A [Case] is one promise, as a small program that every rank executes.
// Ranks communicate by window operations alone, so that a case runs as well where
// each rank is a process of its own and where a simulator plays every operation as
// an event. No case reads a clock or waits except by Await and by the lock.
//
//	for _, spec := range locks.All() {
//		for _, c := range lockstest.Cases() {
//			body, err := c.For(lockstest.Of(spec)).Setup(fabric)
//			...
//		}
//	}
//
// What cannot be seen from inside a program is arranged: the lock gets a window
// that tells when its rank is about to wait, so that others can queue up behind it,
// cancel it, or let go, just then.
//
// [Contest] is for the simulator alone: any number of ranks that acquire again and
// again, judged at every step with the eyes of somebody who sees all of them at
// once.
//
// [Broken] is the suite's own test: locks with one defect each, and the cases that
// must reject them.
package lockstest
