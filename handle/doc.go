// Package handle is the user's side of a resource: announce an access, do other work, wait
// for the access, use the bytes as typed elements, and release.
//
//	r, err := resource.New("cells", 8*3)
//	if err != nil {
//		return err
//	}
//	var h handle.Handle
//	if err := h.Request(r, resource.Write); err != nil {
//		return err
//	}
//	fmt.Println("other work, while the access is on its way")
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
//	// other work, while the access is on its way
//	// [0 0 7]
//
// A [Pair] is an access that recurs. Its Next announces the next turn before it releases
// this one. Programs of pairs go round for ever if their first requests are in a good
// order: package orwl finds one. A [Vector] is several handles or pairs that are used
// together. [Section] encloses the use of a handle, and [Turn] the turn of a pair.
// [Update] and [ReadOnce] are an access in one call:
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
// [Read] and [Write] give typed views without a copy. [ReadAll] and [WriteAll] do so for a
// vector. A type must have a fixed size and no pointers: [Check] tells what is wrong with
// a type.
//
// [Handle.Test] tells how far an access has come. [Handle.Announce] and [Handle.Prefetch]
// measure what an announcement gains. To wait for one of several accesses, select on
// [Handle.Ready].
//
// # When a body fails
//
// A writer that fails never commits. Section, Turn, Update and the tasks of package orwl
// abandon the access of a body that returns an error, panics or calls runtime.Goexit.
// Other users call [Handle.Abandon]. [resource.Policy] tells what the next holders find,
// and [Handle.Prior] tells them. If the context ends while a Section, Turn or Update
// waits, it takes its request back, so that the queue goes on.
//
// # Mistakes
//
// A call in a wrong order returns a [*resource.PlaceError] that matches a reason
// (ErrNotHeld, ErrReadOnly, ...). It changes nothing.
//
// A request that is dropped stops its queue: requests behind it wait for ever. [Pair] tells
// how a pair ends.
package handle
