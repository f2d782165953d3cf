// Package orwl runs programs whose tasks share data in a fixed, repeating order: stencils, pipelines, iterative solvers.
//
//	rt, err := orwl.New(orwl.Options{})
//	if err != nil {
//		return err
//	}
//	x, y := orwl.Array[float64](rt, "x", 1), orwl.Array[float64](rt, "y", 1)
//	if err := orwl.Fill(ctx, x, func(v []float64) { v[0] = 1 }); err != nil {
//		return err
//	}
//	double := rt.Task("double")
//	in, out := orwl.Reads[float64](double, x), orwl.Writes[float64](double, y)
//	double.Each(3, func(round int) error {
//		out.Slice()[0] = 2 * in.View().At(0)
//		return nil
//	})
//	add := rt.Task("add")
//	from, to := orwl.Reads[float64](add, y), orwl.Writes[float64](add, x)
//	add.Each(3, func(round int) error {
//		to.Slice()[0] = from.View().At(0) + 1
//		return nil
//	})
//	if err := rt.Run(ctx); err != nil {
//		return err
//	}
//	v, err := orwl.Values[float64](ctx, x)
//	fmt.Println(v, err)
//	// Output:
//	// [15] <nil>
//
// An [Array] is a resource: elements that a queue protects. A [Task] declares by [Reads] and [Writes] what it does with
// resources in each round, and by [Task.Each] its body. [Runtime.Run] makes all first requests in the canonical order (task,
// then position in the task) before any task runs. So the program computes, bit for bit, what running the tasks one after
// another, round by round, would compute. It cannot deadlock. There is no barrier: a task is at most one round ahead of those
// that it shares data with. [Fill] sets what resources hold before the run, and [Values] copies what they hold after it.
//
// A program in stages declares other tasks after a Runtime.Run, and runs again. [Run] is a program on several nodes.
//
// # Sums, and an end
//
// Tasks put values into a [Reduction] in each round, such as [NewSum], and others read what comes of all. A sum has
// the same bits on any number of tasks and nodes. [Reduction.Until] ends all tasks after the same round.
//
// # When something goes wrong
//
// A task's error or panic, or the end of the context, wakes all tasks and ends the
// run; no goroutine is left. Nothing that a failed task was writing is committed.
//
// If nothing moves for a while, or on SIGQUIT, the runtime reports which task holds what
// and which waits for which ([inspect.State]).
//
// # Looking on
//
// There is one way to look at a state, and one to hear events. [Runtime.InspectAll] asks all nodes, and names the culprit of a hang;
// package orwl/watch shows what it returns, live. [Runtime.Inspect]
// returns the program at a moment, as text and as JSON: nodes, tasks, the queues, the
// wait-for graph, and how long nothing has moved. [Options.Observers] hear what the tasks do while they do it.
// Package trace has some that record it, or pass it on as a stream.
// [Runtime.Placement] tells which task runs on which node and worker, which resource is
// kept where, and why.
//
// # Past the queue
//
// A run has the resources of its tasks for itself, so a handle from outside waits for its end. A resource for which no task
// declares an access may have relaxed access on its home's node, which has no order: see [resource.Resource.Relaxed]. A body
// of [Task.Do] makes it with [Task.Context]: then a breach of its rule is an error instead of a hang.
//
// # Without tasks
//
// If you need only a lock, and no program of tasks, package handle is enough.
// [NewLocker] puts a lock of package locks where a sync.Mutex was.
package orwl
