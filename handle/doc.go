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
