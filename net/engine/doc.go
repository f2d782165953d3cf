// Package engine is what two nodes need to use each other's memory, without the
// sockets: state machines that take frames and return frames.
//
// A [Link] is one end of a lane. It numbers the frames that go out, keeps them until the other
// end has acknowledged them, and takes those that come in exactly once and in order, whatever
// becomes of the streams that carry them. An operation that had to be written again, because
// its stream broke before the answer came, thus runs once. This holds for one life of each of
// the two nodes. The first frames of a stream must tell its life. Call Restart when a new life
// begins.
//
// An [Agent] executes the operations of other nodes' ranks on the memory of this one.
// [Calls] are the operations of this node's ranks that wait for an answer.
//
//	rank ─▶ window ─▶ Link ─ ─ stream ─ ─▶ Link ─▶ Agent ─▶ memory
//	rank ◀─ Calls ◀── Link ◀─ ─ stream ─ ─ Link ◀───┘
//
// Package p2p moves their bytes and wakes the goroutines that they name. Nothing here starts a
// goroutine or reads a clock.
package engine
