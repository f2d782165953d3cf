// Package meeting is where the nodes of a run agree on phases. They do so by gatherings of the
// network, which go on whichever node is lost:
//
//	"phase"        what each node proposes; the round is the number of the agreement
//	"votes"        whether the phase joins, from those that have proposed
//	"phase 7 ends" its tasks have ended on a node
//
// If a node takes its call back, it says so in the place of its proposal. If that comes in time, the
// agreement is void, and the others propose once more. If it comes too late, the node refuses in
// the vote. A run of one node has a meeting of one.
//
// The package knows offers and votes as bytes, and nothing of tasks and resources. Its table is a
// step function: calls and messages in; messages and answers out. A [Meeting] has the goroutines of
// a run wait for these answers. Its mutex is held while the network takes a proposal, and while a
// call is told of a failure.
package meeting
