// Package membership lets the nodes of a run agree on the members of it. An [Epoch] is a number
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
// The chair is the most senior member that a node still hears: epochs have let it in first, and
// it has the lowest number of those. If the chair is
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
//   - half of it, with its most senior member;
//   - or all of it but nodes that are known to have ended or left, and had not lost this one before.
//
// A node that hears no quorum is apart, and must not go on. So of two nodes that are cut off
// from each other, node 0 goes on, unless it has come back meanwhile: then node 1 is the senior. If
// the process of the senior has ended, the other goes on. The minority of a cut network never does.
//
// # New lives
//
// A node that has ended, or left, comes back as a new life, which knocks at any member. Its seat says
// since which epoch it is in. So a chair stays the chair until it is lost.
//
//   - An epoch lets new lives in when all members have accepted it that have not ended. A quorum
//     would not do: it may end, and with it what the rule of quorums holds on to, but not the new life.
//   - A life that was lost, and may run, may think that it is the only one left: it does not know the
//     new life. So the chair waits until such a life, by its lease with the chair, is sure of the chair
//     no more ([Member.Quiet]). If it learns later that the chair has ended, this does not count for its
//     quorum. A chair that was never in touch with that life lets nobody in beside it.
//   - A chair that finds new lives in what another chair has offered lets them in if all members have
//     accepted that. If one that it hears has not, nobody is let in. If all that it hears have, and
//     another member is silent, nobody can know, and the node is apart.
//   - All members that enter the epoch tell the new lives. The chair may have ended.
//
// # What is assumed
//
//   - A node stops for good, or works as it should. A process that is started again has a later
//     life. It knocks when the life before has ended.
//   - Messages from one node to another arrive once, in any order, until the receiver has lost the
//     sender. From then on nothing of that life arrives.
//   - A loss for silence may be wrong: the process may run. An end, or a leave, is true. A node is sure
//     that another one had not lost it, before it ended, only if that is so, or if they never were in touch.
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
