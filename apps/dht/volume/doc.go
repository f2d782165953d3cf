// Package volume is the part of a distributed hash table that one rank keeps and
// all ranks use: 64-bit keys and values in a table of fixed size with an overflow
// heap, as in "High-Performance Distributed RMA Locks" (HPDC'16, §5.3).
//
// # A volume
//
// Every process makes the same [New], and every rank gets its [Side] of it from its
// window. The owner's memory holds the elements; a rank that cannot reach it by
// loads and stores uses operations of the window:
//
//	v, err := volume.New(fabric, volume.Options{Layout: volume.Layout{Buckets: 1 << 16, Heap: 1 << 16}})
//	s, err := v.At(ctx, window) // the owner's rank, then the others
//	_, err = s.Set(ctx, 7, 49)
//	value, found, err := s.Get(ctx, 7)
//
// [Layout] draws what lies where. Every key and every value is allowed.
//
// # Disciplines
//
// How ranks are kept from disturbing each other is an option, on the same layout:
//
//   - the name of a reader-writer lock, RMA-RW by default: plain reads and writes
//     under it (locked);
//   - foMPI-A: no lock, CAS and FetchOp (atomics), and foMPI-A-Get, which reads
//     by Get.
//
// Beyond the paper's insert and look-up both update, delete, add, compare and set,
// go through the elements and execute batches; under a lock there are also
// snapshots of one moment, a batch that others see as a whole, cells of the heap
// that are used again for any key, and Resize.
//
// # In memory of one's own
//
// [Open] is the table alone, over a slice, for callers that have a lock already.
//
// # Contract
//
// Operations of a [Side] are linearizable. When there is no room for an element the
// error is a [*FullError] and nothing has changed. When the owner or another rank is
// lost every operation fails; none gives a wrong answer. With the discipline R-RMA-RW, on a
// fabric whose windows survive, the other ranks go on: see repair.go.
//
// Lock order: the volume's lock is a leaf. Nothing else is taken under it, but what
// a caller takes in the function given to Each.
package volume
