package sim

import (
	"context"
	"fmt"
	"time"

	"github.com/orwl/go-orwl/net/rma"
)

// Prediction is a run in virtual time.
type Prediction struct {
	Machine string
	// Time is when the last rank ended.
	Time time.Duration
	// Ended is when each rank ended.
	Ended []time.Duration
	// Operations counts what the ranks asked for, remote what went to another
	// rank's memory.
	Operations, Remote int
	// Failure is a broken promise, or nil.
	Failure *Failure
}

// Predict runs the system once in virtual time on a machine. Seed staggers the
// ranks' beginnings a little, and says whom the faults hit and when.
func (s System) Predict(machine rma.Model, seed uint64) Prediction {
	s = s.withDefaults()
	err := s.validate()
	if err == nil {
		err = machine.Validate()
	}
	if err != nil {
		return Prediction{Failure: &Failure{Err: err}}
	}
	p, err := predict(s, machine, seed)
	result := Prediction{Machine: machine.Name, Operations: p.operations, Remote: p.remote}
	for _, r := range p.ranks {
		result.Ended = append(result.Ended, time.Duration(r.now))
		result.Time = max(result.Time, time.Duration(r.now))
	}
	if err != nil {
		result.Failure = &Failure{Err: err, Seed: seed, Command: s.Command + " -seed " + formatSeed(seed)}
	}
	return result
}

// predictor drives a fabric through virtual time. A request travels half of its
// operation's latency to the target, waits its turn there, takes effect, and
// travels back. Effects happen in the order of their time, so that every rank
// sees one history.
type predictor struct {
	*Fabric
	machine rma.Model
	costs   []price // by topology.Tree.Common
	agenda  agenda
	port    int     // level with a port, 0 if none
	busy    []int64 // until when each rank's memory serves somebody
	gate    []int64 // until when each port is in use
	watch   []map[rma.Disp][]*rank
	spare   *courier // free list
	faults  []timedFault
	lost    []rma.Rank

	operations, remote int
}

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

func fareOf(c rma.Cost) fare { return fare{c.Alpha / 2, c.Beta, c.Busy} }

// courier carries an operation that nobody waits for.
type courier struct {
	request
	origin *rank
	next   *courier
}

func predict(s System, machine rma.Model, seed uint64) (*predictor, error) {
	p := &predictor{Fabric: newFabric(s), machine: machine}
	p.driver, p.memory.track = p, false
	defer p.end()
	ranks := len(p.ranks)
	p.busy, p.watch = make([]int64, ranks), make([]map[rma.Disp][]*rank, ranks)
	for _, c := range machine.Costs(s.Topology) {
		p.costs = append(p.costs, price{fareOf(c.Put), fareOf(c.Get), fareOf(c.Atomic), c.Coherent})
	}
	for level := 1; level <= s.Topology.Levels(); level++ {
		if s.Topology.LevelName(level) == machine.Port {
			p.port, p.gate = level, make([]int64, s.Topology.Elements(level))
		}
	}
	if s.Faults.Cancels > 0 {
		for _, r := range p.ranks {
			r.ctx, r.cancel = context.WithCancel(context.Background())
		}
	}
	program, err := p.begin(s)
	if err != nil {
		return p, err
	}
	p.plan(s.Faults, seed)
	for _, r := range p.ranks {
		r.now = int64(mix(seed^uint64(r.id)) % 1000)
		p.agenda.push(event{at: r.now, kind: eventResume, rank: r})
	}
	if err := p.loop(s.MaxSteps); err != nil {
		return p, err
	}
	if program.Check != nil && len(p.lost) == 0 {
		return p, program.Check()
	}
	return p, nil
}

// maxEvents is how many events a prediction may take for each step allowed when
// exploring: predictions are long by design.
const maxEvents = 1 << 12

func (p *predictor) loop(steps int) error {
	for len(p.agenda.events) > 0 {
		if p.steps++; p.steps > steps*maxEvents {
			return fmt.Errorf("%w after %d events", ErrEndless, p.steps)
		}
		e := p.agenda.pop()
		if e.rank != nil && e.rank.phase != blocked {
			continue
		}
		switch e.kind {
		case eventResume:
			p.goOn(e.rank, e.at)
		case eventArrival:
			p.serve(e.rank, e.at)
		case eventLook:
			p.look(e.rank, e.at)
		case eventLanding:
			p.land(e.fly, e.at)
		case eventFault:
			p.strike(e.at)
		}
		if e.rank != nil {
			if err := e.rank.violation(); err != nil {
				return err
			}
		}
	}
	for _, r := range p.ranks {
		if r.phase == blocked {
			x := explorer{Fabric: p.Fabric}
			return fmt.Errorf("%w: %s", ErrDeadlock, x.whoWaits())
		}
	}
	return nil
}

// goOn lets a rank run from a time on, or later if it is paused.
func (p *predictor) goOn(r *rank, at int64) {
	if until := p.heldUntil(r, pause, at); until > at {
		p.agenda.push(event{at: until, kind: eventResume, rank: r})
		return
	}
	r.now = at
	r.run()
}

// ask implements driver. Whatever is certain to come before every other event
// is done at once, without a switch to the scheduler.
func (p *predictor) ask(r *rank) bool {
	q := &r.request
	p.operations++
	switch {
	case q.buffered():
		p.remoteness(r, q)
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
	p.remoteness(r, q)
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

func (p *predictor) remoteness(r *rank, q *request) {
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
	case opGet, opGetBytes, opAwait:
		return &price.get
	}
	return &price.atomic
}

// effect applies an operation that arrived, when its turn comes, and returns
// when its origin knows. The value is in r.result.
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

// turn waits until the target's memory, and the port in front of it, are free,
// and occupies them. It returns when the operation takes effect.
func (p *predictor) turn(r *rank, q *request, fare *fare, at int64) int64 {
	bytes := 8
	if q.kind == opPutBytes || q.kind == opGetBytes {
		bytes = 8*len(q.words) + len(q.bytes)
	}
	service := int64(fare.busy + fare.beta*float64(bytes))
	if p.port > 0 && p.topology.Common(r.id, q.target) < p.port {
		gate := &p.gate[p.topology.Element(q.target, p.port)]
		at = max(at, *gate)
		*gate = at + service
	}
	at = max(at, p.busy[q.target])
	p.busy[q.target] = at + service
	return at + int64(fare.beta*float64(bytes))
}

// serve is the arrival of a request that its rank waits for.
func (p *predictor) serve(r *rank, at int64) {
	p.agenda.push(event{at: p.effect(r, &r.request, at), kind: eventResume, rank: r})
}

// dispatch sends an operation off without waiting for it.
func (p *predictor) dispatch(r *rank) {
	c := p.spare
	if c == nil {
		c = new(courier)
	} else {
		p.spare = c.next
	}
	c.request, c.origin = r.request, r
	r.now += int64(p.machine.Issue)
	arrival := r.now + int64(p.fare(r, &c.request).half)
	arrival = p.heldUntil(r, delay, arrival)
	r.fly(c.target, len(p.ranks))
	p.agenda.push(event{at: arrival, kind: eventLanding, fly: c})
}

// land is the arrival of an operation that nobody waits for.
func (p *predictor) land(c *courier, at int64) {
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

// flush waits for the answers to what r has sent.
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
func (p *predictor) spend(r *rank, d int64) { r.now += d }
