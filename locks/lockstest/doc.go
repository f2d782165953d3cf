// Package lockstest is the conformance suite of the contract that package locks
// documents. It runs for every row of the table on every backend. A lock that passes
// may guard a resource.
//
// A [Subject] is a lock to judge: a row of the table, or a row that a [Specimen] has
// broken. A [Case] tests one promise, with a small program that every rank executes.
// Ranks communicate by window operations alone. So a case also runs where each rank
// is a process of its own, and where a simulator plays every operation as an event.
// No case reads a clock. A case waits only in Await and in the lock.
//
//	for _, spec := range locks.All() {
//		for _, c := range lockstest.Cases() {
//			body, err := c.For(lockstest.Of(spec)).Setup(fabric)
//			...
//		}
//	}
//
// A program cannot see when another rank begins to wait. So the lock gets a window
// that signals when its rank is about to wait. At that moment other ranks queue up
// behind it, cancel it, or release the lock.
//
// [Contest] is for the simulator alone. Any number of ranks acquire again and again,
// and checks that see all ranks at once judge every step. [Nested] does so for ranks that hold
// several locks of a set at once.
//
// [Broken] tests the suite itself: it lists locks with one defect each, and the
// cases that must reject them.
package lockstest
