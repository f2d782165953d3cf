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
// [Vector]. [Section] encloses the use of one.
//
// [Read] and [Write] give typed views without copying. A type must have a fixed
// size and no pointers; [Check] says what is wrong with one.
//
// Who wants to know what an announcement brought asks [Handle.Announce] and
// [Handle.Prefetch]; who waits for several things at once selects on
// [Handle.Ready].
//
// # Mistakes
//
// What is done in an order that makes no sense returns a [*resource.PlaceError]
// that matches a reason (ErrNotHeld, ErrReadOnly, ...) and changes nothing.
package handle
