// Package trace records what the tasks of a program do: as events for whoever looks on
// while it runs, and as a recording that is written when it has ended, for Perfetto, for
// chrome://tracing, and for orwl trace report.
//
//	rec, err := trace.NewRecorder(trace.Options{})
//	rt, err := orwl.New(orwl.Options{Observers: []orwl.Observer{rec}})
//	...
//	err = rt.Run(ctx)
//	recorded, err := rec.Gather(ctx, nodes) // everybody calls it, node 0 gets it
//	err = recorded.WriteChrome(file)
//
// # What is seen
//
// A task is in one slice at any time: it waits for an access, it releases one, or it
// does what [Recording.Region] says, which is to compute unless it says otherwise. So the
// slices of a task add up to its life. An unnamed slice of less than a microsecond
// between two steps is taken for what it takes to handle the accesses, and left out.
//
//	rec.Recording(task).Region("import", rec.Now())
//
// Each access of a task has a track of its own below the task's, with its turns: from the
// request until the bytes have come from another node (request), from then until it is
// acquired (prefetch: what has come before it was needed), and until it is released
// (hold). An arrow leads from each hold to the next one of the same resource. Who comes
// after whom is told by the fence: a writer has one more than those before it, readers
// have that of the writer before them.
//
// # Clocks
//
// Nodes of one machine have a monotonic clock in common, and their times are exact.
// Otherwise the times of a node are moved by an offset that a few gatherings at the end
// bound from both sides: what a node has given before node 0 had it, and the other way
// round. The middle is taken, and half the width is the greatest error that there can be,
// but for what the clocks have drifted apart during the run; [Clock] says both.
//
// # What it costs
//
// Who records reads a clock up to four times in each turn of an access, and keeps about
// 100 bytes. Room is bounded: each task keeps its first slices and turns, and of the rest
// the sums ([Rest]). A [Stream] has a ring for each task; who reads too slowly loses
// events, and is told how many. Nothing is recorded while nobody has subscribed.
//
// Neither takes a lock in a task's way: an event belongs to the goroutine of its task.
//
// # Lock order
//
// Stream.mu is taken by readers only, and before nothing. Recorder.mu is taken when a
// task or an access is first seen.
package trace
