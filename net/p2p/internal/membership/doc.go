// Package membership lets the nodes of a run agree on who takes part. An [Epoch] is a number
// and the nodes that take part then. Each change makes the next epoch. A [Member] is a node's
// part in this. It is a step function: the loss of a node or a message in, messages out. It
// has no goroutine, no clock and no socket.
//
//	lost ──▶ chair ──Ask──▶ members    who has ended
//	               ◀─Answer─           what they have accepted of another chair
//	               ──Offer─▶           the next epoch: that one, or the chair's own
//	               ◀─Accept─
//	               ──Enter─▶           it is decided
//
// The chair is the member with the lowest number that a node still hears. If the chair is
// lost, the next one asks anew. It finishes the epoch that a member has accepted, and then
// makes its own. This is Paxos (Lamport, The Part-Time Parliament, 1998), with one decision
// for each number. Chairs do not compete: a node answers only to its own chair, and its chair changes
// only when that one is lost. So a ballot is the number of the chair, and then of its try.
//
// # Who decides
//
// Members form a quorum of their epoch if they are
//
//   - more than half of it;
//   - half of it, with its lowest member;
//   - or all of it but nodes that are known to have ended or left.
//
// A node that hears no quorum is apart, and must not go on. So of two nodes that are cut off
// from each other, node 0 goes on. If the process of node 0 has ended, node 1 goes on. The minority of a
// cut network never does.
//
// # What is assumed
//
//   - A node stops for good, or works as it should. A process that is started again has another
//     life.
//   - Messages from one node to another arrive once, in any order, until the receiver has lost the
//     sender. From then on nothing of that life arrives.
//   - A loss for silence may be wrong: the process may run. An end, or a leave, is true.
//     Where the kernel or a launcher has seen a process end, or its machine refuses
//     connections, it has ended.
//
// # What holds
//
// No two nodes that live are ever in epochs with the same number and other members. This is the
// reason: two quorums of one epoch share a member, or all of the first have ended before the
// second was formed. In the first case the member tells the second chair what it has accepted. In the
// second case, all that have not ended answer to the second chair. It tells them first who has
// ended, and they do not listen to those any more.
//
// A node that has ended may have been in another epoch with that number. Nothing that it did there
// lives.
//
// Two members that are cut off from each other, and still hear the chair, both stay members.
//
// # Homes
//
// A resource has its home on one node, and no epoch gives it another one. When the home is lost, what
// it kept is lost. To let the state outlive it, another member may become the home when it enters
// an epoch without the first, and not before. The fences of the new home must begin above all that the
// first has given: a node that is apart may use these until its lease is over.
package membership
