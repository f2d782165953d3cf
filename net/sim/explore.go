package sim

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/orwl/go-orwl/net/rma"
)

// flight is an operation that has been issued and has not arrived.
type flight struct {
	request
	origin   *rank
	priority uint64 // drawn by the priority policy
}

// policy decides what happens next.
type policy interface {
	// choose picks one of at least two choices, or stops the run with -1.
	choose(x *explorer, choices []choice) int
}

// explorer runs a system once under a policy.
type explorer struct {
	*Fabric
	system   System
	program  Program
	policy   policy
	flights  []*flight
	choices  []choice
	faults   faultPlan
	tracer   *tracer
	schedule []uint16 // the index of each choice, where there were two or more
	lost     []rma.Rank
	held     bool // a fault holds something back now

	// rechecks counts how often only pausing ranks could go on while memory was at
	// recheckVersion.
	rechecks       int
	recheckVersion uint64
}

// maxRechecks is how often each rank may look again at unchanged memory while only
// pausing ranks can go on. After that, the run counts as endless.
const maxRechecks = 64

// explore runs the system once. It returns the promise that the run broke, or nil.
func explore(s System, p policy, faults faultPlan, traced bool) (*explorer, error) {
	x := &explorer{Fabric: newFabric(s), system: s, policy: p, faults: faults}
	if traced {
		x.tracer = &tracer{fabric: x.Fabric}
	}
	x.driver = x
	defer x.end()
	if faults.cancels() {
		for _, r := range x.ranks {
			r.ctx, r.cancel = context.WithCancel(context.Background())
		}
	}
	var err error
	if x.program, err = x.begin(s); err != nil {
		return x, err
	}
	for _, r := range x.ranks {
		r.run()
	}
	return x, x.loop()
}

func (x *explorer) loop() error {
	for {
		if err := x.violated(); err != nil {
			return err
		}
		x.faults.inject(x)
		choices := x.enabled()
		if len(choices) == 0 {
			return x.conclude()
		}
		if x.stranded(choices) {
			return fmt.Errorf("%w, unless an unflushed operation arrives or a waiter goes on without a wake-up: %s", ErrDeadlock, x.whoWaits())
		}
		at := 0
		if len(choices) > 1 {
			if at = x.policy.choose(x, choices); at < 0 {
				return nil
			}
			x.schedule = append(x.schedule, uint16(at))
		}
		if x.steps++; x.steps > x.system.MaxSteps {
			return fmt.Errorf("%w within %d steps: %s", ErrEndless, x.system.MaxSteps, x.whoWaits())
		}
		if x.rechecks > maxRechecks*len(x.ranks) {
			return fmt.Errorf("%w: pausing ranks look again and again at words that no rank changes: %s", ErrEndless, x.whoWaits())
		}
		x.perform(choices[at])
	}
}

// perform carries out a choice.
func (x *explorer) perform(c choice) {
	switch c.kind {
	case chooseStep:
		x.step(c.rank)
	case chooseArrival:
		x.arrive(c.flight)
	case chooseNotice:
		x.notice(c.rank, c.lost)
	case chooseCrash:
		x.crash(c.rank)
	case chooseCancel:
		x.abort(c.rank)
	case chooseSplit:
		x.split(c.rank)
	}
}

// step answers a rank's request and lets the rank go on.
func (x *explorer) step(r *rank) {
	q := &r.request
	if r.window.err == nil || q.direct() {
		r.result = q.apply(&x.memory)
		x.wake(q, r.result)
		switch q.kind {
		case opAwait:
			if q.epoch != nil && q.epoch.Err() != nil || !q.until.Holds(r.result) {
				r.failure = q.ended()
				r.remember(^uint64(0))
			}
			x.tracer.operation(r, "Await", q, r.result)
		case opPause:
		default:
			x.tracer.operation(r, q.kind.String(), q, r.result)
		}
		if q.kind != opPause {
			r.remember(r.result)
		}
	}
	r.seen = x.memory.version
	r.run()
	x.tracer.ended(r)
}

// arrive applies an operation in flight.
func (x *explorer) arrive(f *flight) {
	at := slices.Index(x.flights, f)
	x.flights = slices.Delete(x.flights, at, at+1)
	x.wake(&f.request, f.apply(&x.memory))
	x.tracer.operation(f.origin, "  arrives", &f.request, 0)
	r := f.origin
	r.land(f.target)
	if q := &r.request; r.phase == blocked && (q.kind == opFlush || q.kind == opFlushAll) && r.airborne(q) == 0 {
		x.tracer.operation(r, q.kind.String(), q, 0)
		r.run()
		x.tracer.ended(r)
	}
}

// ask implements driver. Events that no other rank can see happen at once.
func (x *explorer) ask(r *rank) bool {
	q := &r.request
	switch {
	case q.buffered():
		x.flights = append(x.flights, &flight{request: *q, origin: r, priority: x.drawn()})
		r.fly(q.target)
		x.tracer.operation(r, q.kind.String()+" ...", q, 0)
		return true
	case q.kind == opFlush || q.kind == opFlushAll:
		return r.airborne(q) == 0
	case q.kind == opAwait:
		x.await(r)
	}
	return false
}

// drawn is a new priority if the policy has priorities, and otherwise zero.
func (x *explorer) drawn() uint64 {
	if p, ok := x.policy.(*priorities); ok {
		return p.draw()
	}
	return 0
}

// time implements driver.
func (x *explorer) time(*rank) time.Duration { return time.Duration(x.steps) }

// spend implements driver. In exploration, computing takes no time: any rank may be
// slow anyway.
func (x *explorer) spend(*rank, time.Duration) {}

// sharesMemory implements driver.
func (x *explorer) sharesMemory(*rank, rma.Rank) bool { return true }

// handedOver and returns implement driver. In exploration a rank lets others run at any time
// anyway.
func (x *explorer) handedOver(*rank)       {}
func (x *explorer) returns(*rank, int) int { return 0 }

// choice is an event that can happen next.
type choice struct {
	kind   choiceKind
	rank   *rank    // the rank that steps, notices, crashes, is cancelled or cut off; the origin of a flight
	flight *flight  // the operation that arrives
	lost   rma.Rank // the rank that is lost, in a notice
}

type choiceKind uint8

const (
	chooseStep choiceKind = iota
	chooseArrival
	chooseNotice // a rank learns that a peer is lost
	chooseCrash
	chooseCancel
	chooseSplit
)

// enabled lists what can happen now. The order is the same in every run.
func (x *explorer) enabled() []choice {
	x.choices = x.choices[:0]
	x.held = false
	for _, r := range x.ranks {
		if r.phase != blocked {
			continue
		}
		switch {
		case x.faults.paused(x, r):
			x.held = true
		case r.window.err == nil && r.request.remote() && x.faults.unreachable(x, r.id, r.request.target):
			x.held = x.held || !x.faults.split(r.id, r.request.target)
		case x.ready(r):
			x.choices = append(x.choices, choice{kind: chooseStep, rank: r})
		}
	}
	for _, f := range x.flights {
		if x.faults.delayed(x, f) {
			x.held = true
			continue
		}
		if x.faults.unreachable(x, f.origin.id, f.target) {
			x.held = x.held || !x.faults.split(f.origin.id, f.target)
			continue
		}
		x.choices = append(x.choices, choice{kind: chooseArrival, rank: f.origin, flight: f})
	}
	x.faults.offer(x)
	if len(x.choices) == 0 {
		return x.fallback()
	}
	return x.choices
}

// fallback finds choices when nothing is enabled. It ends the faults that hold
// something back, or lets a pausing rank look again although nothing has changed.
func (x *explorer) fallback() []choice {
	if x.held {
		x.faults.lift(x)
		return x.enabled()
	}
	if x.rechecks++; x.memory.version != x.recheckVersion {
		x.rechecks, x.recheckVersion = 0, x.memory.version
	}
	for _, r := range x.ranks {
		if r.phase == blocked && r.request.kind == opPause {
			x.choices = append(x.choices, choice{kind: chooseStep, rank: r})
		}
	}
	return x.choices
}

// ready reports whether a blocked rank can take a step.
func (x *explorer) ready(r *rank) bool {
	q := &r.request
	switch {
	case r.window.err != nil:
		return true
	case q.kind == opAwait:
		return q.ended() != nil || q.until.Holds(x.memory.load(q.target, q.disp))
	case q.kind == opPause:
		return r.seen != x.memory.version
	case q.kind == opFlush || q.kind == opFlushAll:
		return false // arrive resumes the rank after its last arrival
	}
	return true
}

// stranded reports whether the contract promises none of the choices. Two kinds of
// choice come without a promise: an operation may arrive although no rank flushes
// it, and a rank may go on although no rank woke it. If only such choices are left,
// ranks that wait may wait for ever.
func (x *explorer) stranded(choices []choice) bool {
	for _, c := range choices {
		unflushed := c.kind == chooseArrival && !c.rank.flushes(c.flight.target)
		if !unflushed && !(c.kind == chooseStep && x.unwoken(c.rank)) {
			return false
		}
	}
	for _, r := range x.ranks {
		if r.phase == blocked {
			return !x.held
		}
	}
	return false
}

// event is something that happens at a point in virtual time.
type event struct {
	at     int64
	seq    uint64 // breaks ties: the event that was pushed first comes first
	kind   eventKind
	rank   *rank
	flight *timedFlight
	wait   uint // of eventDoze
}

type eventKind uint8

const (
	eventArrival   eventKind = iota // a rank's request reaches its target
	eventResume                     // a rank goes on with its answer
	eventLook                       // a rank looks at the word that it awaits
	eventLanding                    // an operation arrives that its rank does not wait for
	eventFault                      // a fault begins
	eventDoze                       // a rank has looked at its word for long enough
	eventDeparture                  // a rank's request is at the port of its node
	eventTakeoff                    // an operation is there that its rank does not wait for
)

// agenda holds the events to come. It is a heap with four children per node,
// because events are small and most of them are pushed near the bottom.
type agenda struct {
	events []event
	pushed uint64
}

func (a *agenda) before(e, f *event) bool {
	return e.at < f.at || e.at == f.at && e.seq < f.seq
}

func (a *agenda) push(e event) {
	a.pushed++
	e.seq = a.pushed
	a.events = append(a.events, e)
	i := len(a.events) - 1
	for i > 0 {
		parent := (i - 1) / 4
		if !a.before(&e, &a.events[parent]) {
			break
		}
		a.events[i] = a.events[parent]
		i = parent
	}
	a.events[i] = e
}

func (a *agenda) pop() event {
	first := a.events[0]
	last := len(a.events) - 1
	e := a.events[last]
	a.events[last] = event{}
	a.events = a.events[:last]
	if last > 0 {
		a.sink(e)
	}
	return first
}

// sink puts e at the root and moves it down to its place.
func (a *agenda) sink(e event) {
	n, i := len(a.events), 0
	for {
		first := 4*i + 1
		if first >= n {
			break
		}
		child := first
		for other := first + 1; other < min(first+4, n); other++ {
			if a.before(&a.events[other], &a.events[child]) {
				child = other
			}
		}
		if !a.before(&a.events[child], &e) {
			break
		}
		a.events[i] = a.events[child]
		i = child
	}
	a.events[i] = e
}

// next is the time of the next event, or the largest time if there is none.
func (a *agenda) next() int64 {
	if len(a.events) == 0 {
		return 1<<63 - 1
	}
	return a.events[0].at
}
