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
// order: package orwl finds one, and examples/pairs makes one by hand. A [Vector] is
// several handles or pairs that are used together.
//
// [Read] and [Write] give typed views without a copy. [ReadAll] does so for a vector. A type must have a fixed size and no
// pointers: see [Read].
//
// [Handle.Test] tells whether an access would wait. [Handle.Announce] and [Handle.Prefetch]
// measure what an announcement gains. orwl.Fill and orwl.Values are an access in one call.
//
// # When work fails
//
// A writer that fails calls [Handle.Abandon] instead of Release. Then nothing of it is committed, and [Handle.Prior] tells
// the next holders. The tasks of package orwl do so if their body returns an error, panics or calls runtime.Goexit.
//
// # Mistakes
//
// A call in a wrong order returns an error that names the resource and says what to do. It changes nothing.
//
// A request that is dropped stops its queue: requests behind it wait for ever. [Pair] tells
// how a pair ends.
package handle
