// Package plan turns a program whose order is known into comparisons of round numbers.
//
// In a declared program each access is requested once a round, and again before it is released. So
// what the queues will do is known before the start. Let done(x) be how many rounds access x has
// released. Access y of round k is granted exactly when, for each conflicting access x of its
// resource,
//
//	done(x) >= k      if x stood before y at the start
//	done(x) >= k-1    if x stood behind y
//
// An access that has ended counts as done for ever. This is the whole FIFO, grouped readers
// included: see "Why one round is enough" at [liveness.System.Check] for the proof, and the tests
// here for all states of small programs.
//
//	start order of a resource     W0   R1 R2   W3
//	conditions of round k         W0: W3 >= k-1        R1: W0 >= k, W3 >= k-1
//	                              W3: R1 >= k, R2 >= k, W0 >= k
//
// # Counters
//
// A counter has one writer, its task, which publishes a round by one store after the bytes. A task
// that holds all its accesses at once has one counter. A task that acquires and releases them one by
// one has one for each access.
//
// # Nearest conditions
//
// If each round of each access comes, the nearest conflicting group is enough: a reader waits for
// the writer before it, and a writer for the readers before it, or for the writer before it if there
// are none. Accesses further back are done, because the nearest has waited for it. So the number
// of conditions grows with the number of accesses, and not with its square.
//
//	W0: W3 >= k-1    R1: W0 >= k    R2: W0 >= k    W3: R1 >= k, R2 >= k
//
// This goes wrong when accesses end after different rounds. In W0 W1 W2, let W1 end: W2 waits for
// no access, and overtakes W0. So where the rounds of a resource's accesses differ, or are not known,
// all conditions are kept. For a resource with many accesses they would be too many. There an access
// that has ended goes on with empty turns: it waits for its own conditions, publishes the next
// round, and touches nothing. See [Plan.Turns].
//
// # At most so many rounds ahead
//
// A task may have to stay near to another one that it shares nothing with: round k begins when the other one has published
// round k - n. See [Ahead]. The other one does not wait in return. Such a condition is on an earlier round. So a program that is
// alive without it is alive with it: of all rounds that have not ended, take those with the least number, and of these the first in
// the order of the proof. Its conditions are on rounds that have ended.
//
// # Several nodes
//
// A node knows the counters of its own tasks. It knows about other nodes what has arrived: versions of
// bytes, and credits of readers. There the nearest conditions lack one: a writer also waits for the bytes of the
// writer before it. [New] adds it, and gives a task that crosses nodes a counter for each access.
// Package versions is the protocol. The rule stands in nodes_test.go, with a model of it and of variants
// that go wrong.
package plan
