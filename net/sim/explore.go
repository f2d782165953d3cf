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
