// Package rma is the contract between every algorithm of this module and the
// worlds it runs in: one process, several processes of one machine, several
// machines, or a simulator.
//
// # Memory
//
// A [Fabric] is all ranks of a run. Every rank owns a segment of 64-bit words,
// and every rank may read and write every segment through its [Window]. A word
// is named by the rank that owns it and a [Disp], its displacement. There are
// four kinds of memory behind a displacement, and one set of operations for all:
//
//   - allocated: [Fabric.Alloc], the same displacement on every rank, so that a
//     data structure spread over all ranks costs one number;
//   - dynamic: [Window.Attach] and [Window.Detach], memory of one rank that
//     comes and goes, whose displacement is told to others by other means;
//   - traditional: [Exposer], a slice that the caller owns; net/rma/epoch makes
//     of it one slice per rank;
//   - shared: [Shared], direct loads and stores where ranks share memory.
//
// All memory is zero at first.
//
// # Completion and order
//
// Get, GetBytes, FetchOp and CAS are complete when they return. Put, PutBytes
// and Accumulate are only locally complete when they return: the operand and
// the buffer may be reused, but the target may not have seen anything. They are
// remotely complete, visible to every rank, after a later [Window.Flush] of
// that target or [Window.FlushAll]; without one they may arrive late, or never.
//
// Nothing else orders operations. Two unflushed operations to one target, even
// to one word, even by one rank to its own segment, may be applied in any
// order, and operations that return values overtake those that do not. On
// shared memory everything happens to be immediate; the simulator delays and
// reorders whatever the contract lets it, so that a missing Flush shows.
//
// # Waiting
//
// [Window.Await] is the only way to wait. An algorithm that spins on its own
// burns a core when there are more ranks than cores, and hides the wait from
// the simulator.
//
// # Failure
//
// Two kinds of things go wrong. A caller's mistake (a rank or a displacement
// out of range, a bulk transfer that is not whole words) panics with an
// [*AddressError]. An environment failure (a peer is lost, the fabric is
// closed, the run's context is done) is sticky on the window: from then on its
// operations do nothing and return zero, Await returns at once, and
// [Window.Err] tells why. An algorithm therefore needs to look at the error
// only where it decides something, never after each operation.
package rma
