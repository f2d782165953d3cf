// Package window is the windows of a run: one fabric over all its nodes.
//
// [Meet] makes a node's part of it. The nodes of one machine share memory (machine.go), and
// a rank reaches the memory of its machine directly. It reaches the memory of another machine
// by frames. One node there, the rank's agent, executes them (window.go, call.go). A [Window]
// is one rank's view.
//
//	one machine            its memory's own windows, and no frame
//	a node on each         memory of package mem, and frames
//	several nodes on some  memory of package shm on these, and frames between machines
//
// A word is only ever changed by atomic instructions of its own machine, because its own
// ranks and the agents of all others are there. So all ranks may use any word, and words keep
// the costs that they have in shared memory as long as ranks of one machine use them.
//
// A fabric calls its node by the interface [Node]. A frame travels by a lane of
// package lane; the package knows no stream, no peer and no membership.
//
// # Locks
//
// Fabric.mu holds the first failure, awaits.mu the Awaits that are under way. Each is held
// for a moment. No call leaves the package with one held, except for those that make windows
// on the machine's memory.
package window
