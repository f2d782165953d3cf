package handle

// Pair is an access that recurs: two handles that alternate. One serves this turn, and the
// other is in the queue for the next one. Next announces the next access before it
// releases this one, so all pairs of a resource get it in turn, for ever:
//
//	p.Request(r, resource.Write)
//	for !done {
//		p.Acquire(ctx)
//		...
//		p.Next()
//	}
//	p.Cancel()
//
// # The last turn
//
// After Next the pair has a request in the resource. When its turn comes, the queue waits for
// it, however long that takes. So a pair that stops after Next must Cancel. If the last
// turn is known, end it by Release instead: it announces nothing. A loop that can be left
// early takes care of both by
//
//	defer p.Abandon(reason)
//
// which takes a request back, abandons an access that is held, and changes nothing if the
// pair is idle.
//
// If a pair is dropped with a request, the requests behind it wait for ever. In a run of
// package orwl on one node, the report of a stall shows this: a task waits behind "a handle
// of no task".
// The accesses of a task cannot be dropped, because the runtime takes them back when the
// task ends.
//
// # Both handles in one
//
// One request in the queue is enough for both handles, because only the queue can see the moment at which both are in it.
type Pair struct{ Handle }

// Next announces the next access and releases this one. No request that comes later gets
// ahead of the next access.
func (p *Pair) Next() error {
	if err := p.place.Renew(); err != nil {
		return err
	}
	return p.renewNews()
}
