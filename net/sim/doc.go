// Package sim is a simulated window: a scheduler plays all ranks, one event at a
// time, from a seed. The algorithm code that runs on real memory runs here
// unchanged. The simulator decides everything that is otherwise left to chance:
// which rank takes the next step, when an unflushed operation arrives, which rank
// crashes, and what time it is.
//
// # Exploring
//
// The explorer runs a [System] again and again from the beginning, each time under
// another schedule. [System.Exhaust] visits every reachable state of a small
// system. [System.Seeds] draws schedules for a large one. A run breaks a promise if
// a body or a check returns an error, if a rank panics, if no rank can go on, or if
// the run does not end. Such a run becomes a [Failure], with a command that repeats
// it and a trace of every step.
//
// # Steps
//
// A step is an event that other ranks can see: an operation that returns a value,
// the end of an Await, or the arrival of a Put or an Accumulate. Issuing a Put is
// no step. Its arrival is a step of its own: it happens at any time until the Flush
// that waits for it, and arrivals happen in any order. A run is a deadlock if its
// ranks can go on only after an unflushed operation arrives. A rank in Pause takes
// its next step after some word has changed since its last step: before that, it
// could see nothing new.
//
// # Shared memory
//
// With System.Shared, all ranks share memory and reach words directly (rma.Shared).
// The explorer then plays the same program that runs on real shared memory. Every
// load, store, swap, add and compare-and-swap on an rma.Word is a step of its own,
// and its result is a value that the rank has seen. Such an instruction takes
// effect even on a window that has failed, and it wakes no rank. A rank that awaits
// a word is woken by an operation that writes the word (Put, Accumulate, FetchOp, a
// CAS that succeeds) or by Notify. Without System.Shared, every change wakes.
//
// A program that changes a word directly and forgets Notify leaves its waiters
// asleep. The explorer finds this as a deadlock. It does not choose whether a
// waiter spins or sleeps: the waiter may go on whenever its condition holds, as if
// it spun, but the run must not rely on that. If the only ranks that can go on are
// waiters whose condition holds and that no rank has woken, the run ends with
// ErrDeadlock. A woken rank looks at its word again. If its condition no longer
// holds, it sleeps again and needs another wake-up.
//
// # How the exhaustive search ends
//
// Two schedules lead to the same state if they differ only in the order of steps
// that do not touch each other. One of the two is enough. A rank's private state is
// a function of what its operations returned to it. So three things identify a
// state: the words in memory, the operations in flight and, for each rank, a
// fingerprint of the values that it has seen. The search stops wherever it meets a
// state again. This merges equivalent interleavings at every point where they meet.
// Issuing and flushing commute with everything, and the search never schedules
// them.
//
// # Predicting
//
// [System.Predict] runs a system once in virtual time on a machine that a model.Model
// describes. An operation costs what the model says for the distance between origin and
// target. These serve one operation after another: the port of a node for what leaves, the
// port for what enters, the unit for atomics behind it, and each cache line. A rank that has
// a line in its cache pays little, and one that fetches it from another rank pays the
// distance to that rank. A rank that awaits a remote word polls it and pays for each poll,
// unless the machine has agents.
//
// Ranks may share processors (model.Scheduler). Then a rank runs only on a processor, loses
// it after a time slice, and sleeps when it has waited for a while. The window is considerate
// (rma.Considerate) by the same rule as real windows, with virtual time.
//
// Virtual time is whole picoseconds. The same seed gives the same prediction on every host.
// In a prediction every change wakes, with System.Shared, too: only exploring finds
// forgotten wake-ups.
//
// machines.json describes some machines and says where each figure comes from.
// [MachinesHash] tells that the figures stood before a result.
package sim
