// Package host describes the machine that this process runs on, and binds ranks
// to its CPUs.
//
// [Detect] asks the operating system for the CPUs that this process may use, and
// returns a [topology.Tree] with one leaf for each. The leaves carry CPU numbers.
// [Pin] takes such a tree and binds the calling goroutine to the CPU of a rank.
//
//	tree, err := host.Detect()
//	if err != nil {
//		return err
//	}
//	unpin, err := host.Pin(tree, p)
//	if err != nil {
//		return err
//	}
//	defer unpin()
//
// Package topology itself reads no file and makes no system call. This package
// does both.
//
// # Other systems
//
// Only Linux tells where its CPUs are. On other systems the tree has one level
// and no CPU numbers, and Pin returns an error that matches [ErrNoCPU].
//
// # Errors
//
// [DetectError] names the file that Detect could not understand. [PinError]
// names the rank, its CPU and the CPUs that the thread may use. Every text ends
// with the next step.
package host
