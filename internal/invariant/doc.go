// Package invariant holds the module's asserts. An assert states a property of a
// data structure that holds if the code is right, whatever a caller does. A
// caller's mistake is not a broken invariant: it gets a typed error or a
// documented panic in every build.
//
// The build tag invariants and the race detector compile the asserts in. They
// cost nothing in other builds:
//
//	go test -tags invariants ./...
//
// # Use
//
// Pass a condition that is at hand as it is:
//
//	invariant.Check(q.granted <= q.queued, "%d granted of %d", q.granted, q.queued)
//
// With the asserts off, the compiler drops the call, and the computations that
// only the call needs. It cannot drop a function call that it does not inline.
// So put a condition that needs work behind the constant. Then the compiler drops
// the whole block:
//
//	if invariant.Enabled {
//		invariant.Check(q.walk() == q.queued, "lost a request in %v", q)
//	}
//
// A rare state that the code handles must also be tested: Sometimes counts that it was
// reached. The test that plays seeds fails if no seed reaches it:
//
//	invariant.Sometimes(g.state == orphaned, "an orphaned guest is granted")
//
// A condition must have no side effect, because it does not run in an ordinary
// build. Assert also what must not happen, such as a second writer inside.
package invariant
