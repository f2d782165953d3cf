// Package window is the windows of a run: one fabric over all its nodes.
//
// [Meet] makes a node's part of it. If all nodes are on one machine, the fabric is in
// memory that all share (machine.go), and no frame is sent for it. Otherwise it is a
// [Fabric]: a rank reaches the memory of its own node directly, and memory of other nodes by
// frames, which an agent executes there (agent.go). A [Window] is one rank's view.
//
// A fabric calls its node by the interface [Node]. A frame travels by a lane of
// package lane; the package knows no stream, no peer and no membership.
//
// # Locks
//
// Fabric.mu holds the first failure, awaits.mu the Awaits that are under way. Each is held
// for a moment, and no call is made with one held.
package window
