// Package rma is the contract between every algorithm of this module and the
// worlds that it runs in: one process, several processes of one machine, several
// machines, or a simulator.
//
// # Memory
//
// A [Fabric] is all ranks of a run. Every rank owns a segment of 64-bit words.
// Every rank reads and writes every segment through its [Window]. A rank and a
// [Disp], the displacement, name a word. Four kinds of memory can be behind a
// displacement. The same operations work on all of them:
//
//   - allocated: [Fabric.Alloc] gives the same displacement on every rank. A data
//     structure that spreads over all ranks costs one number.
//   - dynamic: [Window.Attach] adds memory to one rank, [Window.Detach] removes
//     it. The owner tells its displacement to other ranks.
//   - traditional: [Exposer] shows a slice that the caller owns. lab/epoch
//     shows one slice for each rank.
//   - shared: [Shared] gives direct loads and stores where ranks share memory.
//
// All memory is zero at first.
//
// # Completion and order
//
// Get, GetBytes, FetchOp and CAS are complete when they return.
//
// Put, PutBytes and Accumulate are only locally complete when they return: the
// caller may reuse the operand and the buffer. They are remotely complete, which
// means visible to every rank, after a later [Window.Flush] of the target or
// [Window.FlushAll]. Without a flush they may arrive late, or never.
//
// Nothing else orders operations. Two unflushed operations on one target may
// take effect in any order, even if both change one word, and even in the rank's
// own segment. Operations that return values overtake operations that do not.
// Shared memory completes every operation at once. The simulator delays and
// reorders everything that the contract allows, so that a missing Flush shows.
//
// # Waiting
//
// [Window.Await] is the only way to wait. An algorithm that spins on its own
// burns a core when ranks outnumber cores, and hides the wait from the simulator.
//
// # Failure
//
// Two kinds of things go wrong.
//
// A mistake of the caller panics with an [*AddressError]: a rank or a
// displacement out of range, or a bulk transfer that is not whole words.
//
// A failure of the environment is sticky on the window: a peer is lost, the
// fabric is closed, or the context of the run is done. From then on operations
// do nothing and return zero, Await returns at once, and [Window.Err] says why.
// An algorithm looks at the error only where it decides something, not after
// each operation.
//
// A window that is a [Survivor] goes on after a peer is lost. The algorithms that know of
// losses look at its [Epoch], and the others run in windows that fail: see [During].
package rma
