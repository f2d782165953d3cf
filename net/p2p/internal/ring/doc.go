// Package ring carries bytes from one node to another of its machine, through memory that both have
// mapped, and says when the other node must be woken.
//
// # Bytes
//
// Each word has one writer. So each node only reads the memory of the other one:
//
//	memory of the writer   written, and the bytes
//	memory of the reader   read
//
// The writer copies bytes and then stores how many it has written since the beginning. The reader copies
// them out and then stores how many it has read. At most the size of the ring is between the two.
//
// # Attention
//
// A node looks at its rings while it has nothing better to do, and between short bodies. Nothing wakes it
// then. Its [Attention] is one word: odd if it does not look. The word changes whenever that changes, so an odd value
// stands for one time without a look. A writer that finds an odd value rings once for it:
//
//	writer                            who looked last
//	written = n                       attention = odd
//	attention odd, not rung for: ring look once more
//
// So one of the two sees the other. A goroutine that hears the bell looks, too, and ends in the same way.
package ring
