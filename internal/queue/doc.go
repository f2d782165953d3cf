// Package queue is a lock and the bytes that it protects: the thing that an
// ORWL program's tasks share. Programs use it through packages resource, handle and orwl, which convert their
// [*resource.Resource] to [*Resource]. A place is a request in the queue:
//
//	r, err := queue.New("account", 8)
//	if err != nil {
//		return err
//	}
//	var p queue.Place
//	if err := p.Request(r, queue.Write); err != nil { // announce: never waits
//		return err
//	}
//	fmt.Println("something else, while others finish")
//	if err := p.Acquire(ctx); err != nil { // wait
//		return err
//	}
//	defer p.Release()
//	b, err := p.Writable()
//	if err != nil {
//		return err
//	}
//	b[0]++
//	fmt.Println(b)
//	// Output:
//	// something else, while others finish
//	// [1 0 0 0 0 0 0 0]
//
// # The order
//
// A resource grants requests in FIFO order, by groups: one writer, or adjacent readers
// together. liveness.FIFO specifies this order as a step function. The liveness check
// plays it, and tests compare the queue with it. A [Resource] keeps the same order as a
// queue of two counting words (queue.go), without a mutex: a request or a release is one
// atomic instruction and a look. Only a request that waits appears in a list
// and sleeps (waiter.go). The step that completes what it waits for wakes it.
//
// # The bytes
//
// A resource has bytes, zero at first. A place maps them while it
// holds the resource. Misuse is a typed error. With [FaultPages] a late use of a view
// faults, and the error names the view. A version counts the writes, a fence the granted
// writers. A writer that fails ends with [Place.Abandon], which commits nothing: [Place.Prior]
// tells the next ones.
//
// # Nodes
//
// A resource has one home. A [Site] is a node's share in the resources of a run, and places
// work the same wherever the home is. [Site.Home] declares a resource that this node keeps,
// and [Site.Mirror] one that another node keeps. The transport gives every message that it
// brings to [Site.Deliver]. Package internal/coherence is the protocol between a home and its
// mirrors, as two step functions; home.go and mirror.go join them to the queue and to places.
//
// Nothing in this package starts a goroutine, reads a clock or draws a
// random number; the simulator gets between any two steps of the queue.
//
// # Relaxed access
//
// A resource with [Options.Relaxed] also allows access without an order, for example
// [Resource.Snapshot] and [Resource.Relaxed]. The guard keeps it
// apart from ordered access: the queue holds a reader-writer lock for all ordered accesses
// together, and gives it up if a relaxed access waits (guard.go). It works at the home. A
// resource without relaxed access has no guard.
//
// # What a nil of Release says
//
// At the home, a write is committed when Release returns nil. On another node, the bytes
// are handed to the transport then. The home commits them when they arrive, unless it has
// lost the node before. [Site.Flush] returns nil when the home has committed the write.
//
// A write that may be lost is reported in any case, as a [LostWriteError]: by the next
// request or acquire of the place that wrote, and by [Site.Flush].
//
// The mirror learns most of it without a message of its own: the next grant confirms the
// write before. Only Flush and an idle mirror ask.
//
// # What orders what
//
// A grant sees all that was done before the Release, Renew or Cancel that caused it.
// Looking at a place from outside orders nothing. The queue's words are never locked.
// [FaultPages] have a mutex, and call nothing while they hold it. A home with mirrors has a mutex, and so has a mirror; see [Site].
//
// # The files
//
//	resource                      a resource, and the words of the package
//	place, waiter, leave          a request: announced and acquired; how it waits; how it ends
//	queue                         the order
//	data                          the bytes
//	site, deliver                 a node's part: homes and mirrors declared, messages in and out
//	home                          mirrors' requests in the queue of their home
//	mirror, flush                 requests elsewhere; what the home has not confirmed, and lost nodes
//	relaxed                       relaxed access: what allows it, and how it is used
//	guard, entry                  the lock between ordered and relaxed access, and the ways in and out
//	observe                       events, and states at one moment
package queue
