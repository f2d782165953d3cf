// Package arena plays the cases of package lab: on goroutines (mem), on processes that share
// memory (shm), on nodes that exchange frames (p2p), and in the simulator's virtual time (sim).
//
//	samples, err := arena.Play(ctx, c, arena.Options{})
//	result, err := lab.Summarize(c, samples)
//
// # Processes
//
// On shm and p2p each rank is a process: the running program, started again. Its main calls
// [Child] first, before it looks at its arguments. A child gets its job on standard input, and
// answers with lines of JSON. It ends when its standard input ends, so no child outlives the
// process that started it.
//
// # What stops a run
//
// A broken lock ends it with a *lab.ExclusionError. If no rank ends a repeat for [lab.Case]'s
// Limit, it ends with a *lab.StallError that says what each rank does. If the context is done,
// Play returns the samples that it has, and the context's error.
//
// The package keeps no state and has no locks.
package arena
