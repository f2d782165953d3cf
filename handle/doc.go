// Package handle is the user's side of a resource: announce an access, do something
// else, wait for it, look at the bytes as what they are, let go.
//
//	r, err := resource.New("cells", 8*3)
//	if err != nil {
//		return err
//	}
//	var h handle.Handle
//	if err := h.Request(r, resource.Write); err != nil {
//		return err
//	}
//	fmt.Println("something else, while others finish")
//	if err := h.Acquire(ctx); err != nil {
//		return err
//	}
//	defer h.Release()
//	cells, err := handle.Write[float64](&h)
//	if err != nil {
//		return err
//	}
//	cells[2] = 7
//	fmt.Println(cells)
//	// Output:
//	// something else, while others finish
//	// [0 0 7]
//
// An access that recurs is a [Pair], whose Release announces the next one before it
// lets go: programs of pairs whose first requests are in a good order go round for
// ever (package orwl sees to the order). Several that are used together are a
// [Vector]. [Section] encloses the use of one. [Update] and [ReadOnce] are an access in
// one call:
//
//	r, err := resource.New("cells", 8)
//	if err != nil {
//		return err
//	}
//	return handle.Update(ctx, r, func(cells []float64) error {
//		cells[0]++
//		fmt.Println(cells)
//		return nil
//	})
//	// Output:
//	// [1]
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
