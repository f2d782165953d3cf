// Package trace records what the tasks of a program do. A [Recorder] keeps a recording. When the program has ended, the
// recording is written for Perfetto, for chrome://tracing, and for orwl trace report, or as a page by [Trace.WriteHTML].
// ORWL_FLIGHT has a program that imports this package keep what its tasks did last, for the moment when something goes wrong.
//
//	rec, err := trace.NewRecorder(trace.Options{})
//	if err != nil {
//		return err
//	}
//	rt, err := orwl.New(orwl.Options{Observers: []orwl.Observer{rec}})
//	if err != nil {
//		return err
//	}
//	rt.Task("count").Each(3, func(int) error { return nil })
//	if err := rt.Run(ctx); err != nil {
//		return err
//	}
//	recorded, err := rec.Gather(ctx, rt) // all nodes call it, and node 0 gets it
//	if err != nil {
//		return err
//	}
//	var file bytes.Buffer
//	err = recorded.WriteChrome(&file)
//	fmt.Println(file.Len() > 0, err)
//	// Output:
//	// true <nil>
//
// # What is seen
//
// A task is in one slice at any time: it waits for an access, it releases one, or it is in
// the region that [Recording.Region] names. The default region is compute. So the slices of
// a task add up to its life. An unnamed slice of less than a microsecond between two steps
// counts as handling of the accesses, and is left out. A task names a region by Region("import", rec.Now())
// of its rec.Recording(task).
//
// Each access of a task has a track of its own below the task's, with its turns: from the
// request until the bytes have come from another node (request), from then until it is
// acquired (prefetch: what has come before it was needed), and until it is released
// (hold). An arrow leads from each hold to the next one of the same resource. The fence
// gives the order: a writer's fence is one more than the fence before, and readers have the
// fence of the writer before them.
//
// # Clocks
//
// Nodes of one machine have a monotonic clock in common, and their times are exact.
// Otherwise the times of a node are moved by an offset. A few gatherings at the end bound it
// from both sides: a node gives a message before node 0 has it, and the other way round. The
// offset is the middle of the bounds. Half their width is the greatest error, except for the
// drift of the clocks during the run. [Clock] has both.
//
// # What it costs
//
// A recorder reads a clock up to four times in each turn of an access, and keeps about 100
// bytes. Room is bounded: each task keeps its first slices and turns, and the sums of the
// rest ([Rest]).
//
// It takes no lock in a task's way: an event belongs to the goroutine of its task.
//
// # Lock order
//
// Recorder.mu is taken when a task or an access is first seen, and before nothing.
package trace
