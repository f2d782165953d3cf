// Package orwl runs programs whose tasks share data in a fixed, repeating order:
// stencils, pipelines, iterative solvers.
//
//	rt, err := orwl.New(orwl.Options{})
//	for i := range n {
//		own := rt.Resource(name(i), 8*cells)
//		...
//	}
//	for i := range n {
//		t := rt.Task(name(i))
//		here, there := t.Write(rt.Lookup(name(i))), t.Read(rt.Lookup(name(i+1)))
//		t.Do(func(t *orwl.Task) error {
//			for range t.Rounds(1000) {
//				h, th := orwl.Write[float64](here), orwl.Read[float64](there)
//				for j := range h {
//					h[j] = (h[j] + th.At(j)) / 2
//				}
//			}
//			return nil
//		})
//	}
//	err = rt.Run(ctx)
//
// A [Task] declares what it reads and writes in each round. [Runtime.Run] makes all
// first requests in the canonical order (task, then position in the task) before
// any task runs. So the program computes, bit for bit, what running the tasks one
// after another, round by round, would compute; it cannot deadlock, and no
// barrier holds anybody up: a task runs ahead as far as those it shares data with
// allow, which is one round.
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
// A task's error or panic, or the end of the context, wakes everybody and ends the
// run; no goroutine is left. If nothing moves for a while, or on SIGQUIT, the runtime
// reports who holds what and who waits for whom ([Report]).
//
// # Looking on
//
// [Runtime.Snapshot] is the program at a moment, for a page or a terminal: nodes, tasks,
// the queues, and who waits for whom. [Options.Observers] are told what the tasks do as
// they do it; package trace has some that record it, or pass it on as a stream.
//
// # Without tasks
//
// Package handle is enough for who has a lock problem and no program of tasks, and
// [NewLocker] puts a lock of package locks where a sync.Mutex was.
package orwl
