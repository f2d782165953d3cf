// Package handle is the user's side of a resource: announce an access, do something
// else, wait for it, look at the bytes as what they are, let go.
//
//	var h handle.Handle
//	h.Request(r, resource.Read)
//	...
//	h.Acquire(ctx)
//	cells, err := handle.Read[float64](&h)
//	...
//	h.Release()
//
// An access that recurs is a [Pair], whose Release announces the next one before it
// lets go: programs of pairs whose first requests are in a good order go round for
// ever (package orwl sees to the order). Several that are used together are a
// [Vector]. [Section] encloses the use of one. [Update] and [ReadOnce] are an access in
// one call:
//
//	err := handle.Update(ctx, r, func(cells []float64) error {
//		cells[0]++
//		return nil
//	})
//
// [Read] and [Write] give typed views without copying. A type must have a fixed
// size and no pointers; [Check] says what is wrong with one.
//
// [Handle.Announce] and [Handle.Prefetch] tell what an announcement brought. To wait
// for several things at once, select on [Handle.Ready].
//
// # When a body fails
//
// A writer that fails never commits. Section, Update and the tasks of package orwl
// abandon the access of a body that returns an error, panics or calls runtime.Goexit;
// other users call [Handle.Abandon]. [resource.Policy] says what the next ones find, and
// [Handle.Prior] tells them. A Section or an Update whose context ends while it waits
// takes its request back, so that the queue goes on.
//
// # Mistakes
//
// A call in an order that makes no sense returns a [*resource.PlaceError] that matches
// a reason (ErrNotHeld, ErrReadOnly, ...). It changes nothing.
package handle
