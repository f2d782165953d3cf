// Package agreement lets the nodes of a run agree on one proposal after another. Each node
// proposes; when all have, each gets all proposals and judges them for itself. So it must
// judge by them alone. Further rounds follow, in which each node gives something and gets
// what all have given.
//
//	member   idle ──Propose──▶ open ──All, round 0──▶ agreed ──Give──▶ ... ──All, round k──▶ agreed
//	                            │  ▲
//	                   Withdraw │  └─ another proposal
//	                            ▼
//	                           idle
//
//	chair    Propose of every node ──▶ All to every node, with the number of the agreement
//	         Give of every node    ──▶ All to every node
//
// A [Chair] is on node 0, and a [Member] on every node. Both are step functions: a message
// in, messages and events out. They do not block, and know nothing of what is proposed.
//
// # Contract
//
//   - Proposals meet in the order in which each node makes them. A node has one open at a time.
//   - All nodes get the same lists, with nil for nodes that were lost before they gave.
//   - A member may withdraw an open proposal at any time. If all others have proposed before
//     the chair hears of it, the agreement takes place: the member then refuses in round 1.
//   - Each node gives in round 1 of an agreement, whatever it thinks of it. If one refuses
//     there, no round follows.
//   - A node that leaves proposes no more. No further agreement takes place, and all learn it.
//   - A lost node holds nothing up. After the loss of node 0 nothing is agreed any more.
//
// Messages between two nodes may overtake each other. Each arrives once.
package agreement
