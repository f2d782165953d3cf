// Package p2p moves bytes between the nodes of a run, over libp2p. It is the only
// importer of it.
//
// A node is one process. [Join] makes it one of a run of fixed size: it listens, finds
// the others through node 0, and returns when all are there. From then on
//
//   - [Node.Send] takes a parcel to another node, and [Node.Receive] names the receiver of
//     those that come: exactly once, and in order, as long as both nodes are there;
//   - [Node.Gather] gives every node something of every node, which is also a barrier;
//   - [Node.OnLoss] tells of nodes that have died, or left, and [Node.OnSuspect] of
//     those that this node has lost touch with, and that are about to give it up;
//   - [Node.OnEpoch] tells in which set of nodes this one is, and [Node.OnApart] that it must not go on, because it has
//     lost too many: [Node.Again] then comes back as another life, in the same process;
//   - [Node.OnLate] tells of nodes that have come late ([Options].Late).
//
// # Lanes
//
// Between two nodes are two lanes. A lane is an [engine.Link] over one stream, which is
// opened when it is first needed, on a connection of its own:
//
//	control   /orwl/control/1   small frames, heartbeats       default windows of yamux
//	data      /orwl/data/1      parcels with more than 8 KiB   large windows and frames
//
// So a large block does not stand before a small frame. When a stream breaks, the node
// opens another one, and the lane goes on where it was. One goroutine
// of a lane writes, and joins what several others have appended. One reads, and calls
// receivers.
//
// The streams belong to a libp2p host. Join makes a small one, of TCP, TLS, yamux and
// identify. Package quic has another carrier for it ([Options].Carrier); only
// programs that import it link it. [Options].Host takes the user's own host instead,
// with the transports and the protocols that it has.
//
// # Rooms
//
// Imports point down this list:
//
//	p2p                 node, membership, gather, loss, heart: who is there
//	internal/gathering  what all give under a name, and all get
//	internal/membership who takes part, agreed upon in epochs
//	internal/window     one fabric over all nodes: windows, agents, shared memory
//	internal/lease      who may still keep what, when nothing is heard
//	internal/lane       frames in order, exactly once, over whatever stream there is
//	internal/loan       memory that nodes of one machine lend each other
//	internal/ring       bytes from one node to another through such memory
//	internal/transport  the host, the gater, the identities
//	quic                a carrier beside TCP with TLS
//
// # Nodes of one machine
//
// Nodes find out that they share a machine, and a kernel that lets them read each
// other's memory, by trying. Then
//
//   - bulk of more than 8 KiB does not travel. Its sender lends it: the bulk lies in the
//     sender's [Memory], or is copied there, and the other node reads it in its own
//     mapping of that memory (lend.go, borrow.go, internal/loan). Loans go by the
//     control lane;
//   - the frames of the control lane do not travel either: each node writes them to a ring in
//     its memory, and the other one reads them there (internal/ring). While a goroutine calls
//     [Node.Look], no node wakes another. Otherwise the writer rings a bell, once;
//   - the windows of [Node.Fabric] are direct between them: memory that they share, and
//     frames to other machines only (internal/window);
//   - if one launcher has started all nodes, a silent one whose process runs is slow and
//     not lost (internal/lease).
//
// Elsewhere frames are sent: the result is the same, and takes longer. [Options.Remote]
// has frames sent everywhere, and [Options.Machine] divides a machine into several.
//
// # Strangers
//
// Each node's identity is made from the cluster key and its number, so all
// nodes know all identities, and no other process has one. Connections of strangers are
// closed before there is a stream. Beyond the loopback interface a key is required.
//
// A session is a process with the key that is none of the nodes. [Node.Admit] lets it in, with
// the protocol /orwl/session/1 and an identity of its own kind.
//
// # Locks
//
// Each is held for a moment, and never while a node sends, receives or calls back:
//
//	Node.mu         who is there, epochs, what is gathered
//	peer.mu         what is known of a node
//	lane's and loan's locks, in this order: see there
//
// in this order. Receivers and observers are called with none of them held. The data lane
// holds one more lock (handing) while it calls a receiver.
package p2p
