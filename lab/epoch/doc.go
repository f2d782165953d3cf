// Package epoch is MPI-3's synchronisation on any fabric, as in foMPI: fences,
// post/start/complete/wait, locks, and traditional windows (Gerstenberger, Besta,
// Hoefler, "Enabling Highly Scalable Remote Memory Access Programming with MPI-3
// One Sided", §2). Flush is the window's own.
//
// An epoch is a time in which a rank accesses the memory of others (access epoch)
// or in which others access its memory (exposure epoch). There are three ways to
// begin and end one:
//
//   - [Sync.Fence]: all ranks end one epoch and begin the next.
//   - [Sync.Post] and [Sync.Wait] expose a rank's memory to a group of ranks.
//     [Sync.Start] and [Sync.Complete] enclose their accesses. Only ranks that
//     name each other synchronise.
//   - [Sync.Lock] and [Sync.Unlock], or [Sync.LockAll] and [Sync.UnlockAll],
//     enclose accesses to a rank that does not take part.
//
// [Exposure] makes windows on memory that the caller owns.
//
// Each process calls [New] once, as one of its allocations. Each rank uses its own
// part of the [Set], which [Set.At] returns:
//
//	epochs, err := epoch.New(fabric, epoch.Options{})
//	...
//	e := epochs.At(w)
//	w.Put(target, disp, 42)
//	err = e.Fence(ctx) // now every rank sees every Put
//
// # Contract
//
// A rank has at most one exposure epoch open. It has at most one kind of access
// epoch open: Start to Complete, or any number of Locks of different ranks, or
// LockAll. The two are independent of each other. A Fence needs a rank that has no
// epoch open. A breach of these rules is an [*Error] and changes nothing.
//
// A method whose context is done before it begins does nothing. Each method says
// what happens if the context ends while it waits. If the window has failed, a
// method returns an [*Error] that wraps the window's error. The epoch is over and
// the rank holds nothing.
//
// # Memory and cost
//
// In every rank's segment lie O(log P + k) words, where k is Options.Neighbours.
// No rank keeps a list of all ranks, except for an Exposure.
//
//	  fence             post, start, complete, wait   lock, lock_all
//	┌─────────────────┬──────┬──────┬───────────────┬────────┬───────┐
//	│ signals [log P] │ tail │ done │ posts [k]     │ global │ local │
//	└─────────────────┴──────┴──────┴───────────────┴────────┴───────┘
//
// The costs are operations on the memory of other ranks. The flushes that complete
// the caller's own operations are not counted:
//
//	Fence      ⌈log₂ P⌉ puts and flushes; waits for own words
//	Post       2 atomics for each rank of the group; waits only for room
//	Start      none; waits for own words
//	Complete   1 accumulate and 1 flush for each rank of the group
//	Wait       none; waits for an own word
//	Lock       1 atomic if shared, 2 if exclusive (1 if the rank holds another exclusive lock)
//	Unlock     1 accumulate and 1 flush if shared, 2 and 2 if exclusive
//	LockAll    1 atomic
//	UnlockAll  1 accumulate and 1 flush
//
// Contention costs one wait for each time that another rank is faster, and one more
// atomic if the lock is exclusive. LockAll then costs two atomics and a flush more.
package epoch
