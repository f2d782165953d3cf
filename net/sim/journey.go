package sim

import "time"

// In virtual time, an operation travels to the target in half of its latency. There
// it waits for its turn. Then it takes effect and travels back in the other half.

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
	switch q.kind {
	case opYield:
		return p.yield(r)
	case opSleep:
		p.sleep(r, int64(q.operand))
		return false
	}
	p.operations++
	r.now += p.own.of(q) + p.lists(r, q)
	switch {
	case q.buffered():
		p.countRemote(r, q)
		p.dispatch(r)
		return true
	case q.kind == opPause:
		return p.pause(r, int64(q.operand))
	case q.kind == opFlush || q.kind == opFlushAll:
		return p.flush(r)
	case q.kind == opAwait:
		return p.await(r)
	}
	p.countRemote(r, q)
	if p.early(r, q) {
		return false
	}
	arrival := p.leave(r, q, r.now) + p.fare(r, q).half
	if arrival > p.agenda.next() {
		p.agenda.push(event{at: arrival, kind: eventArrival, rank: r})
		return false
	}
	back := p.effect(r, q, arrival)
	if back > p.agenda.next() || len(p.faults) > 0 || p.mustYield(r, back) {
		p.agenda.push(event{at: back, kind: eventResume, rank: r})
		return false
	}
	r.now = back
	return true
}

// pause lets r wait for the time of n accesses of its own memory, or, if it is known, as long as this
// takes. After a long pause a goroutine lets another one have its processor, and a process does not.
func (p *predictor) pause(r *rank, n int64) (goesOn bool) {
	switch {
	case p.processors == nil || p.own.pause == 0:
		r.now += n * 2 * p.costs[len(p.costs)-1].get.half
		return p.processors == nil || p.yield(r)
	case n <= longPause:
		r.now += n * p.own.pause
		return p.passes(r)
	case p.processors.first:
		return p.yield(r)
	}
	r.now += p.own.offer
	return p.passes(r)
}

// passes reports whether r goes on at once at its time. If another event comes first, r waits for it.
func (p *predictor) passes(r *rank) (goesOn bool) {
	if r.now <= p.agenda.next() && !p.mustYield(r, r.now) {
		return true
	}
	p.agenda.push(event{at: r.now, kind: eventResume, rank: r})
	return false
}

func (p *predictor) countRemote(r *rank, q *request) {
	if q.target != r.id {
		p.remote++
	}
}

// effect applies an operation that has arrived, when its turn comes. It returns the
// time when the origin knows. The value is in r.result.
func (p *predictor) effect(r *rank, q *request, arrival int64) (back int64) {
	half := p.fare(r, q).half
	at := p.turn(r, q, arrival)
	before := uint64(0)
	watched := p.watch[q.target] != nil && q.changes()
	if watched {
		before = p.memory.load(q.target, q.disp)
	}
	value := q.apply(&p.memory)
	if !q.buffered() {
		r.result = value
	}
	if watched && p.memory.load(q.target, q.disp) != before {
		half += p.changed(q.target, q.disp, at)
	}
	return at + half
}

// crosses reports whether an operation passes the port of r's node.
func (p *predictor) crosses(r *rank, q *request) bool {
	return p.inject > 0 && p.topology.Common(r.id, q.target) < p.port
}

// leave is when an operation that r issues at a time has passed the port of r's node, if
// it passes it at all. Operations take the port in the order of these calls.
func (p *predictor) leave(r *rank, q *request, at int64) int64 {
	if !p.crosses(r, q) {
		return at
	}
	free := &p.portOut[p.topology.Element(r.id, p.port)]
	at = max(at, *free)
	*free = at + p.inject
	return at + p.inject
}

// early reports whether other operations may still take the port before r's request. The
// request then departs later.
func (p *predictor) early(r *rank, q *request) bool {
	if !p.crosses(r, q) || r.now <= p.agenda.next() {
		return false
	}
	p.agenda.push(event{at: r.now, kind: eventDeparture, rank: r})
	return true
}

// departs lets r's request pass the port.
func (p *predictor) departs(r *rank, at int64) {
	q := &r.request
	kind := eventArrival
	if q.kind == opAwait {
		kind = eventLook
	}
	p.agenda.push(event{at: p.leave(r, q, at) + p.fare(r, q).half, kind: kind, rank: r})
}

// takeOff lets an operation pass the port that its rank does not wait for.
func (p *predictor) takeOff(c *timedFlight, at int64) {
	r := c.origin
	arrival := p.leave(r, &c.request, at) + p.fare(r, &c.request).half
	p.agenda.push(event{at: p.heldUntil(r, delay, arrival), kind: eventLanding, flight: c})
}

// turn waits until what serves the operation is free, and occupies it: the port of the
// target's node and the unit for atomics behind it, or the cache line, or the target's
// memory. It returns the time when the operation takes effect.
func (p *predictor) turn(r *rank, q *request, at int64) int64 {
	if p.looksForRanks(q) {
		return at
	}
	fare := p.fare(r, q)
	bytes := int64(8)
	if q.kind == opPutBytes || q.kind == opGetBytes {
		bytes = int64(8*len(q.words) + len(q.bytes))
	}
	travel := fare.beta * bytes
	apart := p.topology.Common(r.id, q.target)
	serve := func(free *int64, busy int64) {
		at = max(at, *free)
		*free = at + busy
	}
	switch {
	case p.costs[apart].coherent:
		if line := p.lines.at(q.target, q.disp); !line.held(p.place(r), q.changes()) {
			serve(&line.free, fare.busy+travel)
		}
	case p.port > 0 && apart < p.port:
		element := p.topology.Element(q.target, p.port)
		if busy := fare.busy; p.isAtomic(q) {
			serve(&p.portIn[element], p.costs[apart].put.busy+travel)
			serve(&p.units[element], busy)
		} else {
			serve(&p.portIn[element], busy+travel)
		}
	default:
		serve(&p.busy[q.target], fare.busy+travel)
	}
	p.touch(r, q, apart)
	return at + travel
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
	r.now += p.pricesOf(r, &c.request)[p.topology.Common(r.id, c.target)].issue
	r.fly(c.target)
	if p.crosses(r, &c.request) && r.now > p.agenda.next() {
		p.agenda.push(event{at: r.now, kind: eventTakeoff, flight: c})
		return
	}
	p.takeOff(c, r.now)
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
func (p *predictor) time(r *rank) time.Duration { return time.Duration(r.now / picoseconds) }

// spend implements driver.
func (p *predictor) spend(r *rank, d time.Duration) {
	p.wakeCancelled(r)
	r.now += int64(d) * picoseconds
}
