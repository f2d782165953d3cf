// Package versions is the protocol between the nodes of a run that goes by a plan, as a step function: an event or
// a message in; counters to publish and messages out. It has no goroutine, no clock and no socket.
//
// # Counters
//
// A counter has one writer, its access, and each node has a copy of it. A message says of some counters which round
// they have published. The receiver publishes it, too. So a node asks for the counters of other nodes as for its own,
// and package books needs no rule for nodes.
//
//	read     its node ──credit──▶ the nodes of the accesses that wait for it
//	write    its node ──version──▶ home ──version──▶ all other nodes that use the resource
//
// A version is the round of a write and the position of its access in the start order. It has a base: the version
// that the write has changed. A receiver whose copy is at the base writes the bytes, stores the version, and then
// publishes the counter. So the rule of plan/nodes_test.go holds. The counter of a write has published round k here
// exactly when the version here is (k, position) or later, or the access has ended:
//
//   - A node publishes the counter after the version. So a counter shows the version.
//   - Versions are a chain of bases, so a copy takes all of them in their order, and each publishes its counter. If one
//     joins another one on the way, the message has the reports of both. A report is the round that an access has
//     published. So a version shows the counters of all versions before it.
//
// The end of an access is a report without a version. It must not overtake the versions before it. So its base is the
// last version that was sent there, and any later one will do.
//
// # Messages
//
// A credit waits for a node for each read, and one version for each resource. A version that waits is joined by the
// next one of its resource: their bytes become one set of spans, the base is the first one's, and the reports of both
// travel. [Node.Released] takes the bytes from the copy, since the next writer may change them at once. [Node.Pass]
// makes a message of all that waits for a node.
//
//	node 1                          node 0, the home            node 2
//	Released ─┐ joins
//	Released ─┴▶ Pass ────────────▶ Take ─▶ counters
//	                                  └───▶ Pass ─────────────▶ Take ─▶ counters of the write
//	    counter of the read ◀─ Take ◀──────────────────────────── Pass ◀─ Released, the read
//
// A home sorts nothing: a writer has waited for the version before its own, and this one came through the home. The
// home does not send a version back to its writer. A write that changed nothing is a version, too.
//
// Messages may overtake each other. A credit counts if it is higher than the one before. A version that comes before
// its base is kept until its base has come. If the copy has left the base behind, the version is an error.
//
// # Memory
//
// Each link of a resource to a node has one buffer of the size of the resource at most. Mostly a writer waits for other
// nodes in each round. But where the home has no access of its own, or all accesses of a node have ended, nothing holds
// a writer back. Its next version joins the one that waits, in the same memory. At most four messages of a link are on their
// way. The next one leaves when the other node has shown that it has one of them:
//
//	a version from there     its base is there
//	a credit from there      all versions before that read are there
//	an answer                the third and the fourth message on their way ask for it
//
// Mostly the next message from there shows it, and no message asks.
//
// So a receiver keeps three versions of a resource at most: of four on their way one is the base that is missing. They
// all come from one node, since a version of another one has a base that came through the home. [ErrGap] is the error
// for a fourth.
//
// # Use
//
//	n, err := versions.New(versions.Options{Run: run, Node: 1, Nodes: 3, Plan: p, Copies: copies})
//	n.Begin(&work)                                              // and pass, as below
//	...
//	err = n.Released(counter, k, changed, versions.Goes, &work) // after the body, before its counter is published here
//	for _, to := range work.Nodes {
//		for {
//			if header, bulk, ok = n.Pass(to, header[:0], bulk[:0]); !ok {
//				break
//			}
//			err = post(to, header, bulk)
//		}
//	}
//	...
//	err = n.Take(from, header, bulk, &work)                     // after a message has come: raise work.Publish, and pass
//
// A task that crosses nodes begins when [Node.Begun] says so, and the copies here are the last ones when [Node.Over] does. A failed
// task calls nothing: no task then goes beyond it.
//
// # Locks
//
// A resource has a lock for its version and its copy, and an outbox has one for all that waits for a node. The order is
// resource, then outbox. A goroutine holds at most one of a kind. Each method gives them back before it returns.
package versions
