// Package shm is the window of ranks that live in several processes of one
// Linux machine.
//
// One process creates a fabric and hands its file to the others, for instance
// to the children it starts; each opens it and claims the ranks that it is to
// be by asking for their windows:
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
// The memory of all ranks is one file that is in no directory (memfd_create),
// so there is nothing to clean up, whatever happens. It is sparse: what is not
// touched takes no space. See the picture in layout.go. An operation is one
// atomic instruction on it, by package net/internal/direct; a rank that waits
// looks for a moment and then sleeps in the kernel (futex). Ranks that share a
// process sleep as goroutines, and one of its threads sleeps for them all: a
// hand-over inside the process then needs no system call, and one from another
// process needs one more thread to wake than if the rank were alone.
//
// # How it ends
//
//   - A process that closes the fabric leaves it. The others notice nothing; the
//     memory of its ranks stays. What it was still to do for them, nobody does.
//   - A process that ends in any other way is lost, and so is the fabric: within
//     two periods of the watch (200 ms), every window of every process fails
//     with a *rma.PeerLostError that names the same rank.
//   - A process that is stopped (SIGSTOP) is neither: the others wait for it.
//   - A process that ends before it has claimed a rank is nobody's peer yet.
//     Whoever started it has to notice.
//
// A rank is claimed once. After its process has left or was lost, nobody else
// can have it: what it was doing is not known.
//
// # Locks
//
// A fabric, its heap and each rank's pool have a mutex each. No code holds two
// of them, and none waits for another process while it holds one.
//
// The race detector does not see the memory that processes share. If two ranks
// of one process order their accesses to ordinary memory by window operations
// only, it reports races that are none.
package shm
