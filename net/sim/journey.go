package sim

import "github.com/orwl/go-orwl/net/rma/model"

// In virtual time, an operation travels to the target in half of its latency. There
// it waits for its turn at the port and at the memory. Then it takes effect and
// travels back in the other half.

// price is a level's costs in whole nanoseconds.
type price struct {
	put, get, atomic fare
	coherent         bool
}

type fare struct {
	half float64 // one way
	beta float64
	busy float64
}

func fareOf(c model.Cost) fare { return fare{c.Alpha / 2, c.Beta, c.Busy} }

// timedFlight is an operation in flight that its rank does not wait for.
type timedFlight struct {
	request
	origin *rank
	next   *timedFlight
}

// ask implements driver. If a request is certain to come before every other event,
// ask performs it at once and saves the switch to the scheduler.
func (p *predictor) ask(r *rank) bool {
	q := &r.request
	p.wakeCancelled(r)
	p.operations++
	switch {
	case q.buffered():
		p.countRemote(r, q)
		p.dispatch(r)
		return true
	case q.kind == opPause:
		r.now += int64(float64(q.operand) * 2 * p.costs[len(p.costs)-1].get.half)
		return true
	case q.kind == opFlush || q.kind == opFlushAll:
		return p.flush(r)
	case q.kind == opAwait:
		return p.await(r)
	}
	p.countRemote(r, q)
	arrival := r.now + int64(p.fare(r, q).half)
	if arrival > p.agenda.next() {
		p.agenda.push(event{at: arrival, kind: eventArrival, rank: r})
		return false
	}
	back := p.effect(r, q, arrival)
	if back > p.agenda.next() || len(p.faults) > 0 {
		p.agenda.push(event{at: back, kind: eventResume, rank: r})
		return false
	}
	r.now = back
	return true
}

func (p *predictor) countRemote(r *rank, q *request) {
	if q.target != r.id {
		p.remote++
	}
}

// fare is the price of an operation.
func (p *predictor) fare(r *rank, q *request) *fare {
	price := &p.costs[p.topology.Common(r.id, q.target)]
	switch q.kind {
	case opPut, opPutBytes:
		return &price.put
	case opGet, opGetBytes, opAwait, opLoad, opNotify:
		return &price.get
	}
	return &price.atomic
}

// effect applies an operation that has arrived, when its turn comes. It returns the
// time when the origin knows. The value is in r.result.
func (p *predictor) effect(r *rank, q *request, arrival int64) (back int64) {
	fare := p.fare(r, q)
	at := p.turn(r, q, fare, arrival)
	before := uint64(0)
	watched := p.watch[q.target] != nil && q.kind != opGet && q.kind != opGetBytes
	if watched {
		before = p.memory.load(q.target, q.disp)
	}
	value := q.apply(&p.memory)
	if !q.buffered() {
		r.result = value
	}
	if watched && p.memory.load(q.target, q.disp) != before {
		p.changed(q.target, q.disp, at)
	}
	return at + int64(fare.half)
}

// turn waits until the port and the target's memory behind it are free, and
// occupies both. It returns the time when the operation takes effect.
func (p *predictor) turn(r *rank, q *request, fare *fare, at int64) int64 {
	bytes := 8
	if q.kind == opPutBytes || q.kind == opGetBytes {
		bytes = 8*len(q.words) + len(q.bytes)
	}
	service := int64(fare.busy + fare.beta*float64(bytes))
	if p.port > 0 && p.topology.Common(r.id, q.target) < p.port {
		free := &p.portBusy[p.topology.Element(q.target, p.port)]
		at = max(at, *free)
		*free = at + service
	}
	at = max(at, p.busy[q.target])
	p.busy[q.target] = at + service
	return at + int64(fare.beta*float64(bytes))
}

// serve handles the arrival of a request that its rank waits for.
func (p *predictor) serve(r *rank, at int64) {
	p.agenda.push(event{at: p.effect(r, &r.request, at), kind: eventResume, rank: r})
}

// dispatch issues an operation without waiting for it.
func (p *predictor) dispatch(r *rank) {
	c := p.spare
	if c == nil {
		c = new(timedFlight)
	} else {
		p.spare = c.next
	}
	c.request, c.origin = r.request, r
	r.now += int64(p.machine.Issue)
	arrival := r.now + int64(p.fare(r, &c.request).half)
	arrival = p.heldUntil(r, delay, arrival)
	r.fly(c.target, len(p.ranks))
	p.agenda.push(event{at: arrival, kind: eventLanding, flight: c})
}

// land handles the arrival of an operation that its rank does not wait for.
func (p *predictor) land(c *timedFlight, at int64) {
	r := c.origin
	back := p.effect(r, &c.request, at)
	r.land(c.target)
	r.home = max(r.home, back)
	c.words, c.next = nil, p.spare
	p.spare = c
	if q := &r.request; r.phase == blocked && r.flushing && r.airborne(q) == 0 {
		r.flushing = false
		p.agenda.push(event{at: max(r.now, r.home), kind: eventResume, rank: r})
	}
}

// flush waits for the acknowledgements of the operations that r has issued.
func (p *predictor) flush(r *rank) bool {
	if r.airborne(&r.request) > 0 {
		r.flushing = true
		return false
	}
	if r.home <= r.now {
		return true
	}
	if r.home > p.agenda.next() {
		p.agenda.push(event{at: r.home, kind: eventResume, rank: r})
		return false
	}
	r.now = r.home
	return true
}

// time implements driver.
func (p *predictor) time(r *rank) int64 { return r.now }

// spend implements driver.
func (p *predictor) spend(r *rank, d int64) {
	p.wakeCancelled(r)
	r.now += d
}
