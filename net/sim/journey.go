package sim

import (
	"slices"
	"time"

	"github.com/orwl/go-orwl/net/rma"
)

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

// Waiting in virtual time. A rank that awaits a word of its own memory, or of memory
// that it can cache, is notified of a change and looks again. On a machine with an
// agent, the rank leaves a request with the agent, which notifies it. Otherwise the
// rank polls, and pays for every poll.

// await begins an Await.
func (p *predictor) await(r *rank) bool {
	q := &r.request
	p.countRemote(r, q)
	if p.early(r, q) {
		return false
	}
	arrival := p.leave(r, q, r.now) + p.fare(r, q).half
	if arrival > p.agenda.next() {
		p.agenda.push(event{at: arrival, kind: eventLook, rank: r})
		return false
	}
	p.look(r, arrival)
	return false
}

// look handles the arrival of a rank's question whether its condition holds.
func (p *predictor) look(r *rank, at int64) {
	q := &r.request
	if r.window.err != nil {
		p.agenda.push(event{at: at, kind: eventResume, rank: r})
		return
	}
	half := p.fare(r, q).half
	at = p.turn(r, q, at)
	r.result = p.memory.load(q.target, q.disp)
	back := at + half
	holds := q.until.Holds(r.result)
	if !holds {
		r.failure = q.ended()
	}
	switch {
	case holds || r.failure != nil:
		p.unlist(r)
		p.agenda.push(event{at: back, kind: eventResume, rank: r})
	case p.notified(r, q.target):
		p.list(r)
		p.beginToLook(r, back)
	default:
		p.operations++
		p.remote++
		p.agenda.push(event{at: back, kind: eventDeparture, rank: r})
	}
}

// notified reports whether r is notified of changes of target's memory.
func (p *predictor) notified(r *rank, target rma.Rank) bool {
	return target == r.id || p.machine.Agent || p.costs[p.topology.Common(r.id, target)].coherent
}

// list adds r to the watchers of the word that it awaits.
func (p *predictor) list(r *rank) {
	if r.listed {
		return
	}
	r.listed = true
	q := &r.request
	if p.watch[q.target] == nil {
		p.watch[q.target] = make(map[rma.Disp][]*rank)
	}
	p.watch[q.target][q.disp] = append(p.watch[q.target][q.disp], r)
	if q.ctx != r.ctx && q.ctx.Done() != nil && !slices.Contains(p.abort, r) { // only faults end r.ctx
		p.abort = append(p.abort, r)
	}
}

// wakeCancelled ends the waits that the rank by has cancelled while it ran until now.
// by may have ended a context or closed the fabric. Neither changes a word.
func (p *predictor) wakeCancelled(by *rank) {
	if len(p.abort) > 0 || p.closed {
		p.endWaits(by)
	}
}

func (p *predictor) endWaits(by *rank) {
	if p.closed {
		p.closed = false
		for _, r := range p.ranks {
			p.recheck(r, by.now)
		}
	}
	p.abort = slices.DeleteFunc(p.abort, func(r *rank) bool {
		if r.listed && r.request.ctx.Err() != nil {
			p.recheck(r, by.now)
		}
		return !r.listed
	})
}

// unlist removes r from the watchers.
func (p *predictor) unlist(r *rank) {
	if !r.listed {
		return
	}
	r.listed = false
	q := &r.request
	list := p.watch[q.target][q.disp]
	if i := slices.Index(list, r); i >= 0 {
		p.watch[q.target][q.disp] = slices.Delete(list, i, i+1)
	}
}

// changed notifies the watchers of a word of a change at a time. It returns what that
// takes of the rank that made the change.
func (p *predictor) changed(target rma.Rank, disp rma.Disp, at int64) (takes int64) {
	list := p.watch[target][disp]
	for i := 0; i < len(list); i++ {
		r := list[i]
		holds := r.request.until.Holds(p.memory.load(target, disp))
		switch {
		case target != r.id && !p.machine.Agent && p.processors == nil:
			// The change invalidates r's cache line. r fetches the word again when its loop comes to that.
			p.agenda.push(event{at: at + p.between + p.fare(r, &r.request).half, kind: eventLook, rank: r})
			r.listed = false
		case holds:
			r.result = p.memory.load(target, disp)
			r.listed = false
			takes += p.awaken(r, target, at)
		default:
			continue
		}
		list = slices.Delete(list, i, i+1)
		i--
	}
	p.watch[target][disp] = list
	return takes
}

// awaken lets r go on, whose condition holds since a time. It returns what that takes of
// the rank that made the change.
func (p *predictor) awaken(r *rank, target rma.Rank, at int64) (takes int64) {
	if p.processors != nil {
		if r.slept = r.cpu == nowhere; r.slept {
			p.agenda.push(event{at: at + p.processors.wake, kind: eventResume, rank: r})
			return p.processors.wake
		}
		r.spin.Paid()
	}
	wake := p.wakeUp
	if target != r.id && p.processors == nil {
		wake = p.fare(r, &r.request).half
	} else if p.machine.Refetch {
		wake += 2 * p.fare(r, &r.request).half
	}
	if target == r.id && p.processors == nil {
		wake += p.between
	}
	p.touch(r, &r.request, p.topology.Common(r.id, target))
	p.agenda.push(event{at: at + wake, kind: eventResume, rank: r})
	return 0
}
