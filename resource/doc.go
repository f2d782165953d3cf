// Package resource is a lock and the bytes that it protects: the thing that an
// ORWL program's tasks share. Most programs use it through package handle or orwl;
// who has nothing but a mutex problem needs no more than this:
//
//	r, err := resource.New("account", 8)
//
//	var p resource.Place
//	p.Request(r, resource.Write) // announce: never waits
//	...
//	p.Acquire(ctx) // wait
//	b, err := p.Writable()
//	...
//	p.Release()
//
// # The order
//
// Requests are granted in FIFO order, by groups: a writer alone, or readers that
// follow one another together. [FIFO] says it as a step function, which the liveness
// check plays and tests compare with. A [Resource] has the same as a queue of two
// counting words (queue.go), which takes no mutex: a request and a release are an
// atomic instruction each, and a look. Only who has to wait appears in a list
// (slots.go), sleeps (waiter.go), and is woken by whoever completes what it waits
// for.
//
// # The bytes
//
// A resource has some, a multiple of 8, zero at first. A place maps them while it
// holds; what it may not do is a typed error, and with [Guards] a view that is used
// too late faults and is found. A version counts the writes, a fence the writers
// that were granted. Writers may name what they changed ([Place.Dirty]), and
// readers ask what has changed since a version that they know.
//
// # Nodes
//
// A resource has one home. [Home] and [Mirror] are the two halves of the protocol
// by which other nodes take part, as step functions: messages in, messages and
// grants out. A [Site] is a node's share in the resources of a run: it joins the
// halves to resources and places, which work then as ever, wherever the home is.
//
//	s, err := resource.NewSite(resource.SiteOptions{Node: 1, Nodes: 4, Transport: t})
//	err = s.Mirror(r, 0) // on node 0: s.Home(r, resource.HomeAt{})
//	...
//	s.Deliver(from, header, bulk) // what the transport brings
//
// A mirror that comes again and again, and finds nobody else there, keeps the release of
// what it has not written and says it with its next request, one message for both. Who
// comes to wait at the home has it asked for, a way there and back; so a home is alone
// with a mirror only after two accesses of it in a row.
//
// Nothing in this package starts a goroutine, reads a clock or draws a
// random number; the simulator gets between any two steps of the queue.
//
// # What a nil of Release says
//
// At the home, a write is committed when Release returns nil. On another node, the bytes
// are handed to the transport then. The home commits them when they arrive, unless it has
// lost the node before.
//
//	err := p.Release()   // nil: the access is over
//	err = p.Flush(ctx)   // nil: the home has committed the write
//
// A write that may be lost is reported in any case, as a [LostWriteError]: by the next
// request or acquire of the place that wrote, and by [Site.Flush]. With Options.Confirm,
// Release itself waits for the home.
//
// The mirror learns most of it without a message of its own: the next grant confirms the
// write before. Only Flush, Confirm and an idle mirror ask (mirror_confirm.go).
//
// # What orders what
//
// All that was done before a Release, a Renew or a Cancel is seen by whoever is
// granted because of it. Looking at a place from outside orders nothing. The
// queue's words are never locked; [Guards] and [Place.OnLoss] have a mutex each,
// and call nothing while they hold it. A home with mirrors, and a mirror, have one
// each; see [Site].
package resource
