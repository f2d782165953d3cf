// Package sim is the window of ranks that a scheduler plays, one event at a
// time, from a seed. The same algorithm code that runs on real memory runs
// here; the simulator owns everything that is otherwise left to chance: which
// rank goes next, when an operation that nobody flushed arrives, which rank
// crashes, and what time it is.
//
// # Exploring
//
// A [System] is run over and over, each time from the beginning, under another
// schedule. [System.Exhaust] visits every reachable state of a small system;
// [System.Seeds] draws schedules for a large one. A run that breaks a promise
// (a body or a check returns an error, a rank panics, nobody can move, nothing
// comes to an end) becomes a [Failure], with a command that repeats it and a
// trace of every step.
//
// What counts as a step is what other ranks can see: an operation that returns
// a value, the end of an Await, and the arrival of a Put or an Accumulate.
// Issuing a Put is no step; its arrival is one, of its own, any time until the
// Flush that waits for it, in any order; a run in which ranks can only go on if
// something arrives that nobody flushes is a deadlock. A rank in Pause goes on when some word
// has changed since its last step, because nothing it could see has changed
// before.
//
// # How the exhaustive search ends
//
// Two schedules that differ only in the order of steps which do not touch each
// other lead to the same state, and one of them is enough. A rank's private
// state is a function of what its operations returned to it, so a state is
// known by the words in memory, the operations in flight and, for each rank, a
// fingerprint of the values that it has seen. The search stops wherever it
// meets a state again. This merges equivalent interleavings at every point
// where they meet; the steps that commute with everything, issuing and
// flushing, are never scheduled at all.
//
// # Predicting
//
// [System.Predict] runs a system once in virtual time on a machine described by
// a model.Model: operations cost what the model says for the distance between
// origin and target, targets and ports serve one operation after another.
package sim
