// Package volume is the part of a distributed hash table that one rank keeps and
// all ranks use, as in the benchmark of "High-Performance Distributed RMA Locks"
// (HPDC'16, §5.3): 64-bit keys and values in a table of fixed size with an overflow
// heap. Ranks look up elements and insert new ones.
//
// Every process makes the same [New], and every rank gets its [Side] of it from its
// window. The owner's memory holds the elements. A rank that cannot reach it by
// loads and stores uses operations of the window:
//
//	v, err := volume.New(fabric, volume.Options{Discipline: "RMA-RW", Layout: volume.Layout{Buckets: 1 << 16, Heap: 1 << 16}})
//	s, err := v.At(ctx, window) // the owner's rank, then the others
//	err = s.InsertNew(ctx, 7, 49)
//	value, found, err := s.Get(ctx, 7)
//
// [Layout] draws what lies where. Every key and every value is allowed.
//
// # Disciplines
//
// How ranks are kept from disturbing each other is an option, on the same layout:
//
//   - the name of a reader-writer lock: plain reads and writes under it (locked);
//   - foMPI-A: no lock, CAS and FetchOp (lockless), and foMPI-A-Get, which reads
//     by Get.
//
// # Contract
//
// Operations of a [Side] are linearizable. When there is no room for an element the
// error is [ErrFull] and nothing has changed. When the owner or another rank is
// lost every operation fails; none gives a wrong answer.
//
// Lock order: the volume's lock is a leaf. Nothing else is taken under it.
package volume
