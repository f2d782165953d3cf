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
// for each number. Chairs do not compete, except among lives that are parked: a node answers only to its own chair, and
// its chair changes only when that one is lost. So a ballot is the number of the chair, and then of its try.
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
// A node that has ended, or left, comes back as a new life, which asks all members to let it in. Its seat says
// since which epoch it is in. So a chair stays the chair until it is lost.
//
//   - The chair lets a new life in when all members hear it. A life that one of them cannot reach would be lost again.
//   - An epoch lets new lives in when all members have accepted it that have not ended. A quorum
//     would not do: it may end, and with it what the rule of quorums holds on to, but not the new life.
//   - A life that was lost, and may run, may think that it is the only one left: it does not know the
//     new life. So the chair waits until such a life, by its lease with the chair, is sure of the chair
//     no more ([Member.Quiet]). If it learns later that the chair has ended, this does not count for its
//     quorum. A life that has had no contact with the chair is unsure of it from the start. The chair need not wait for that one.
//   - A chair that finds new lives in what another chair has offered lets them in if all members have
//     accepted that. If one that it hears has not, it lets no new life in. If all that it hears
//     have, and another member is silent, it cannot know, and is apart.
//   - All members that enter the epoch tell the new lives. The chair may have ended.
//
// # Two members that are cut off from each other
//
// Both may hear the chair. Each member tells its chair which members it has lost by silence (Miss). The caller hands that on when a lease is over:
// a member that has stopped is lost by the chair then, too. If the chair still hears both, it loses the
// junior one of them, if it has a quorum without it. The junior one is apart. It comes again, asks, and is let in
// when the other one hears it.
//
// # Lives that are apart
//
// A life that is apart stays apart. It does nothing any more, and its process goes on as another life, which is parked: a
// [Parked] has what the life before knew ([Past]). If a quorum goes on, it lets the parked life in as any new life. If none does,
// such as when three nodes were all cut off from each other, the parked lives form the next epoch. Each votes in the place of
// the life before, by the same rule of quorums. They ask first what a life before has accepted, and finish that. These are the reasons:
//
//   - A life that is apart lets go of all others, and waits for a lease before it looks as if it had ended. So no node is ever
//     sure of it, or counts it as one that has ended. The rule of quorums takes it for silent, and the next life has its vote.
//   - So a quorum of parked lives and one of members, of the same epoch, share a node. If the members have decided, this node
//     accepted that before it was apart, and says so. If it had accepted nothing, it accepts nothing of the members any more.
//   - Two parked chairs compete, as in Paxos. A ballot has a round, and no life takes an earlier one than it has promised.
//   - A life learned before it was apart which nodes had ended for certain. A node that ends later counts as silent. It is enough
//     if one of the parked lives was sure: the node that has ended had not lost that life, and had let in no new life without it.
//   - The epoch that is formed has only new lives. The others of the epoch before have lost all of these for a lease. So the chair
//     need not wait for them before it lets a new life in.
//   - A process that was started again knows nothing, and does not vote. It comes in later, as any new life.
//
// If a parked life has ended, too, and too few are left for the rule of quorums, the others stay outside, and give up in the end.
//
// # What is assumed
//
//   - A process stops for good, or works as it should. A process that is started again has a later
//     life. It asks when the life before has ended, or has let go.
//   - Messages from one node to another arrive once, in any order, until the receiver has lost the
//     sender. From then on nothing of that life arrives. Of parked lives nothing is assumed: questions and answers may be lost.
//   - A loss for silence may be wrong: the process may run. An end, or a leave, is true. A node may be
//     sure that another one had not lost it before that one ended. Then this is so. Where the kernel or a launcher has seen
//     a process end, or its machine refuses connections, it has ended, or it has let go for a lease.
//   - A node that leaves says so to the nodes that it has not lost.
//
// # What holds
//
// No two nodes that live are ever in epochs with the same number and other members. This is the
// reason: two quorums of one epoch share a node, or all of the first have ended before the
// second was formed. In the first case the node tells the second chair what it has accepted. In the
// second case, all that have not ended answer to the second chair. It tells them first which
// members have ended, and they do not listen to those any more.
//
// A node that has ended may have been in another epoch with that number. Nothing that it did there
// lives. A parked life that was told of such an epoch believes those that let it in.
//
// # Homes
//
// A resource has its home on one node, and no epoch gives it another one. When the home is lost, what
// it kept is lost. To let the state outlive it, another member may become the home when it enters
// an epoch without the first, and not before. The fences of the new home must begin above all that the
// first has given: a node that is apart may use these until its lease is over.
package membership
