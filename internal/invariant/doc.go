// Package invariant holds the module's asserts: statements about a data
// structure that are true whenever the code is right, whatever a caller did. A
// caller's mistake is not an invariant; it gets a typed error or a documented
// panic in every build.
//
// The asserts are compiled in under the build tag invariants and under the race
// detector, and cost nothing otherwise:
//
//	go test -tags invariants ./...
//
// # Use
//
// A condition that is at hand is passed as it is:
//
//	invariant.Check(q.granted <= q.queued, "%d granted of %d", q.granted, q.queued)
//
// With the asserts off, the compiler drops the call and everything that was
// computed for it alone. It must still make the calls it cannot see through, so
// a condition that needs work stands behind the constant, and then the whole
// block is dropped:
//
//	if invariant.Enabled {
//		invariant.Check(q.walk() == q.queued, "lost a request in %v", q)
//	}
//
// A condition must have no side effect: it does not run in an ordinary build.
// Assert also what must not hold, such as a second writer inside.
package invariant
