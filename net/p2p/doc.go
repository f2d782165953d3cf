// Package p2p moves bytes between the nodes of a run, over libp2p. It is the only
// importer of it.
//
// A node is one process. [Join] makes it one of a run of fixed size: it listens, finds
// the others through node 0, and returns when all are there. From then on
//
//   - [Node.Send] takes a parcel to another node, and [Node.Receive] says who takes
//     those that come: exactly once, and in order, as long as both nodes are there;
//   - [Node.Gather] gives everybody something of everybody, which is also a barrier;
//   - [Node.OnLoss] tells of nodes that have died, or left, and [Node.OnSuspect] of
//     those that this node has lost touch with, and that are about to give it up.
//
// # Lanes
//
// Between two nodes are two lanes, each an [engine.Link] over one stream of one
// connection, which is opened when it is first needed:
//
//	control   small frames, heartbeats        default yamux windows and frames
//	data      parcels with more than 8 KiB    large windows and frames
//
// so that a large block does not stand before a small frame. A stream that breaks is
// opened again, and goes on where it was: nobody above notices. A lane has a goroutine
// that writes, which joins what several others have appended, and one that reads, on
// which receivers are called.
//
// # Nodes of one machine
//
// Nodes find out that they share a machine, and a kernel that lets them read each
// other's memory, by trying. Then
//
//   - bulk of more than 8 KiB does not travel: its sender lends it, where it lies in
//     its [Memory], or as a copy there, and the other node reads it in its own mapping
//     of that memory (lend.go, borrow.go, internal/loan). Loans go by the
//     control lane;
//   - if all nodes of a run are on one machine, [Node.Fabric] is in memory that all
//     share, and no frames are sent for it (machine.go);
//   - if one launcher has started all nodes, a silent one whose process runs is slow and
//     not lost (tenure.go).
//
// Where that cannot be, frames are sent, and nobody notices but by the time it takes.
// [Options.Remote] has it so everywhere.
//
// # Who is let in
//
// Each node's identity is made from the cluster key and its number, so all know all
// identities, and nobody else has any. Connections of others are closed before there
// is a stream. Beyond the loopback interface a key is required.
//
// # Locks
//
// Each is held for a moment, and by nobody who sends, receives or calls back:
//
//	Node.mu   who is there, what is gathered
//	peer.mu   what is known of a node
//	lane.seat a stream is taking another's place (held while the old one ends)
//	lane.mu   the lane's link and stream
//	arena.mu  which memory is in use, and lent
//
// in this order; and mapping.mu, to read, while what is lent is taken. Receivers and
// observers are called with none of them held. Beside them, lane.handing is held while a
// receiver is called, for whoever waits until it has returned.
package p2p
