// Package processor tells which processor runs the calling goroutine.
//
// The answer is a hint: Go moves goroutines between processors at any time. Use it to
// choose between things that are all correct, such as copies of a counter. Never
// conclude from it that another goroutine is or is not there.
//
// # Where the number comes from
//
// On Linux with the instruction RDPID, it is the number of the CPU, as the operating
// system and [topology.Tree.CPU] count. Everywhere else it is a small number for each
// processor of the Go scheduler (P), which a sync.Pool keeps there. Two Ps have different
// numbers, but the number does not tell on which CPU the P is.
//
// RDPID takes 1 ns on an AMD EPYC. sync.Pool takes 8 ns, LSL 13 ns, RDTSCP 16 ns, and the
// system call getcpu 84 ns. runtime.procPin takes 2 ns, but it needs a linkname, and the
// number of the P says nothing about caches and sockets.
//
// [topology.Tree.CPU]: https://pkg.go.dev/github.com/orwl/go-orwl/net/topology#Tree.CPU
package processor
