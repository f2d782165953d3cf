// Package orwl runs programs whose tasks share data in a fixed, repeating order:
// stencils, pipelines, iterative solvers.
//
//	rt, err := orwl.New(orwl.Options{})
//	if err != nil {
//		return err
//	}
//	x, y := rt.Resource("x", 8), rt.Resource("y", 8)
//	if err := orwl.Fill(ctx, x, func(v []float64) { v[0] = 1 }); err != nil {
//		return err
//	}
//	double := rt.Task("double")
//	in, out := double.Read(x), double.Write(y)
//	double.Do(func(t *orwl.Task) error {
//		for range t.Rounds(3) {
//			orwl.Write[float64](out)[0] = 2 * orwl.Read[float64](in).At(0)
//		}
//		return nil
//	})
//	add := rt.Task("add")
//	from, to := add.Read(y), add.Write(x)
//	add.Do(func(t *orwl.Task) error {
//		for range t.Rounds(3) {
//			orwl.Write[float64](to)[0] = orwl.Read[float64](from).At(0) + 1
//		}
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
// A [Task] declares what it reads and writes in each round. [Runtime.Run] makes all
// first requests in the canonical order (task, then position in the task) before
// any task runs. So the program computes, bit for bit, what running the tasks one
// after another, round by round, would compute. It cannot deadlock. There is no barrier:
// a task is at most one round ahead of those that it shares data with. [Fill] sets what
// resources hold before the run, and [Values] copies what they hold after it.
//
// [Task.Each] makes a task without a goroutine: a worker calls its function in each round.
// [Reads] and [Writes] declare accesses with the type of their elements. A program in stages declares other tasks after a [Runtime.Run], and runs again.
//
// # Sums, and an end
//
// Tasks put values into a [Reduction] in each round, such as [NewSum], and others read what comes of all. A sum has the same bits
// on any number of tasks and nodes. [Reduction.Until] ends all tasks after the same round.
//
// # Other orders
//
// [Access.Priority] asks for another start order. Before the program starts, package
// liveness plays one round of it on the pure FIFO (as `orwl vet` does). This proves that
// the program never deadlocks, or finds the cycle: then [Runtime.Run] refuses to start,
// with a *liveness.DeadlockError that names the tasks.
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
// package orwl/watch shows what it returns, live. [Runtime.Inspect] returns
// the program at a moment, as text and as JSON: nodes, tasks, the queues, the wait-for
// graph, and how long nothing has moved. [Options.Observers] hear what the tasks do while
// they do it. Package trace has some that record it, or pass it on as a stream.
// [Runtime.Placement] tells which task runs on which node and worker, which resource is
// kept where, and why.
//
// A run has its resources for itself, so a handle from outside waits for its end. [Runtime.Snapshots] and [Snapshot] look in
// meanwhile.
//
// # Past the queue
//
// A resource for which no task declares an access may have relaxed access, which has no order: see [Runtime.Relaxed].
// A task that holds an access must not use it. With [Task.Context] that is an error instead of a hang.
//
// # Without tasks
//
// If you need only a lock, and no program of tasks, package handle is enough.
// [NewLocker] puts a lock of package locks where a sync.Mutex was.
package orwl
