// Package resource is a lock and the bytes that it protects: the thing that an ORWL program's tasks share.
//
// A resource grants requests in FIFO order, by groups: one writer, or adjacent readers together. Package handle
// makes such requests, and package orwl makes them for the tasks of a program:
//
//	r, err := resource.New("account", 8)
//	if err != nil {
//		return err
//	}
//	var h handle.Handle
//	if err := h.Request(r, resource.Write); err != nil { // announce: never waits
//		return err
//	}
//	fmt.Println("something else, while others finish")
//	if err := h.Acquire(ctx); err != nil { // wait
//		return err
//	}
//	defer h.Release()
//	account, err := handle.Write[uint64](&h)
//	if err != nil {
//		return err
//	}
//	account[0]++
//	fmt.Println(account)
//	// Output:
//	// something else, while others finish
//	// [1]
//
// # Relaxed access
//
// A resource with a guard also allows access without an order: see [Resource.Relaxed]. The guard
// keeps it apart from ordered access: the queue holds a reader-writer lock for all ordered accesses together, and gives
// it up if a relaxed access waits.
//
// This package is what users see. Package internal/queue has the queue, the guard, and what nodes say to each other.
package resource
