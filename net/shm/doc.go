// Package shm is the window of ranks that live in several processes of one
// Linux machine.
//
// One process creates a fabric and hands its file to the others, for instance to
// its children. Each process opens the file, and claims its ranks by asking for their
// windows:
//
//	fabric, err := shm.Create(shm.Options{Topology: topology.Flat(2)})
//	child := exec.Command(program)
//	child.ExtraFiles = []*os.File{fabric.File()} // descriptor 3 of the child
//	err = child.Start()
//	w, err := fabric.Window(0)
//
//	// and in the child
//	fabric, err := shm.Open(os.NewFile(3, "fabric"), shm.Options{Topology: topology.Flat(2)})
//	w, err := fabric.Window(1)
//
// All processes must be of one user, and trust each other: they share memory.
// A rank belongs to the process that asked for its window first, and its window
// is used by one goroutine at a time. A process may have several ranks.
//
// # Memory
//
// The memory of all ranks is one file in no directory (memfd_create), so nothing is
// left to clean up, whatever happens. It is sparse: untouched memory takes no space.
// See the picture in layout.go. An operation is one atomic instruction on it, by
// package net/internal/direct. A rank that waits looks for a moment and then sleeps in
// the kernel (futex). Ranks that share a process sleep as goroutines, and one of its
// threads sleeps for them all. A hand-over inside the process then needs no system
// call. A hand-over from another process wakes one thread more.
//
// # How it ends
//
//   - A process that closes the fabric leaves it. The others notice nothing; the
//     memory of its ranks stays. A rank that waits for it waits for ever.
//   - A process that ends in any other way is lost, and so is the fabric: within
//     two periods of the watch (200 ms), every window of every process fails
//     with a *rma.PeerLostError that names the same rank. With Options.Survive
//     only the epochs of windows end, and the fabric goes on (rma.Survivor).
//   - A process that is stopped (SIGSTOP) is neither: the others wait for it.
//   - A process that ends before it has claimed a rank is no peer yet. The process
//     that started it has to notice.
//
// A process claims a rank once. After it has left or was lost, no other process can
// have the rank, since it is unknown what the rank was doing.
//
// # Locks
//
// A fabric, its heap and each rank's pool have a mutex each. No code holds two
// of them, and none waits for another process while it holds one.
//
// The race detector does not see the memory that processes share. If only window
// operations order two ranks' accesses to ordinary memory of one process, it reports
// false races.
package shm
