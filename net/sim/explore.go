package sim

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/orwl/go-orwl/net/rma"
)

// flight is an operation that was issued and has not arrived.
type flight struct {
	request
	origin   *rank
	priority uint64 // drawn by the priority policy
}

// choice is something that can happen next.
type choice struct {
	kind   choiceKind
	rank   *rank   // who steps, notices, crashes or is cancelled; the origin of a flight
	flight *flight // what arrives
}

type choiceKind uint8

const (
	chooseStep choiceKind = iota
	chooseArrival
	chooseNotice // a rank learns that a peer is lost
	chooseCrash
	chooseCancel
)

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
	schedule []uint16 // what was chosen wherever there was a choice
	lost     []rma.Rank
	idle     bool // a fault keeps something from happening now

	// How often pausing ranks were all that could go on, since the version of
	// memory that they look at.
	vain      int
	vainSince uint64
}

// vainTries is how often each rank may look in vain, when all that is left is
// ranks that pause, before the run is called endless.
const vainTries = 64

// explore runs the system once. It returns why the run broke a promise, or nil.
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

// The ways in which a run breaks its promise beside a rank's own error.
var (
	// ErrDeadlock is a run in which nobody can move.
	ErrDeadlock = errors.New("sim: nobody can move")
	// ErrEndless is a run that took more than System.MaxSteps.
	ErrEndless = errors.New("sim: no end in sight")
)

func (x *explorer) loop() error {
	for {
		if err := x.violated(); err != nil {
			return err
		}
		x.faults.strike(x)
		choices := x.enabled()
		if len(choices) == 0 {
			return x.conclude()
		}
		if x.stranded(choices) {
			return fmt.Errorf("%w unless something arrives that nobody flushes: %s", ErrDeadlock, x.whoWaits())
		}
		at := 0
		if len(choices) > 1 {
			if at = x.policy.choose(x, choices); at < 0 {
				return nil
			}
			x.schedule = append(x.schedule, uint16(at))
		}
		if x.steps++; x.steps > x.system.MaxSteps {
			return fmt.Errorf("%w after %d steps: %s", ErrEndless, x.system.MaxSteps, x.whoWaits())
		}
		if x.vain > vainTries*len(x.ranks) {
			return fmt.Errorf("%w: they look again and again at words that nobody changes: %s", ErrEndless, x.whoWaits())
		}
		x.perform(choices[at])
	}
}

// violated is the first rank's broken promise, or nil.
func (x *explorer) violated() error {
	for _, r := range x.ranks {
		if err := r.violation(); err != nil {
			return err
		}
	}
	return nil
}

// stranded reports whether all that can happen is that operations arrive which
// nobody is flushing. The contract does not promise that they ever do, so ranks
// that still wait may wait for ever.
func (x *explorer) stranded(choices []choice) bool {
	for _, c := range choices {
		if c.kind != chooseArrival || c.rank.flushes(c.flight.target) {
			return false
		}
	}
	for _, r := range x.ranks {
		if r.phase == blocked {
			return !x.idle
		}
	}
	return false
}

// conclude judges a run in which nothing can happen any more.
func (x *explorer) conclude() error {
	for _, r := range x.ranks {
		if r.phase == blocked {
			return fmt.Errorf("%w: %s", ErrDeadlock, x.whoWaits())
		}
	}
	if x.program.Check != nil && len(x.lost) == 0 {
		return x.program.Check()
	}
	return nil
}

// whoWaits tells what each blocked rank is blocked in.
func (x *explorer) whoWaits() string {
	text := ""
	for _, r := range x.ranks {
		if r.phase == blocked {
			if text != "" {
				text += "; "
			}
			text += fmt.Sprintf("rank %d in %s", r.id, x.describe(&r.request))
		}
	}
	return text
}

func (x *explorer) describe(q *request) string {
	switch q.kind {
	case opAwait:
		return fmt.Sprintf("Await(rank %d %s %s), which is %s", q.target, x.labels.name(q.disp), q.until,
			word(x.memory.load(q.target, q.disp)))
	case opFlush:
		return fmt.Sprintf("Flush(rank %d)", q.target)
	case opFlushAll, opPause:
		return q.kind.String()
	}
	return fmt.Sprintf("%s(rank %d %s)", q.kind, q.target, x.labels.name(q.disp))
}

// enabled lists what can happen now. The order is the same in every run.
func (x *explorer) enabled() []choice {
	x.choices = x.choices[:0]
	x.idle = false
	for _, r := range x.ranks {
		if r.phase != blocked {
			continue
		}
		switch {
		case x.faults.paused(x, r):
			x.idle = true
		case x.ready(r):
			x.choices = append(x.choices, choice{kind: chooseStep, rank: r})
		}
	}
	for _, f := range x.flights {
		if x.faults.delayed(x, f) {
			x.idle = true
			continue
		}
		x.choices = append(x.choices, choice{kind: chooseArrival, rank: f.origin, flight: f})
	}
	x.faults.offer(x)
	if len(x.choices) == 0 {
		return x.stir()
	}
	return x.choices
}

// stir finds something to do when nothing is enabled: a fault that lasts is
// over, or a rank that pauses looks again although nothing has changed.
func (x *explorer) stir() []choice {
	if x.idle {
		x.faults.lift()
		return x.enabled()
	}
	if x.vain++; x.memory.version != x.vainSince {
		x.vain, x.vainSince = 0, x.memory.version
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
		return q.ctx.Err() != nil || q.until.Holds(x.memory.load(q.target, q.disp))
	case q.kind == opPause:
		return r.seen != x.memory.version
	case q.kind == opFlush || q.kind == opFlushAll:
		return false // the last arrival lets it go on
	}
	return true
}

// perform lets a choice happen.
func (x *explorer) perform(c choice) {
	switch c.kind {
	case chooseStep:
		x.step(c.rank)
	case chooseArrival:
		x.arrive(c.flight)
	case chooseNotice:
		x.notice(c.rank)
	case chooseCrash:
		x.crash(c.rank)
	case chooseCancel:
		x.abort(c.rank)
	}
}

// step answers a rank's request and lets the rank go on.
func (x *explorer) step(r *rank) {
	q := &r.request
	if r.window.err == nil {
		r.result = q.apply(&x.memory)
		switch q.kind {
		case opAwait:
			if !q.until.Holds(r.result) {
				r.failure = q.ctx.Err()
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
	x.flights = slices.Delete(x.flights, slices.Index(x.flights, f), slices.Index(x.flights, f)+1)
	f.apply(&x.memory)
	x.tracer.operation(f.origin, "  arrives", &f.request, 0)
	r := f.origin
	r.land(f.target)
	if q := &r.request; r.phase == blocked && (q.kind == opFlush || q.kind == opFlushAll) && r.airborne(q) == 0 {
		x.tracer.operation(r, q.kind.String(), q, 0)
		r.run()
		x.tracer.ended(r)
	}
}

// ask implements driver. What nobody else can see happens at once.
func (x *explorer) ask(r *rank) bool {
	q := &r.request
	switch {
	case q.buffered():
		x.flights = append(x.flights, &flight{request: *q, origin: r, priority: x.drawn()})
		r.fly(q.target, len(x.ranks))
		x.tracer.operation(r, q.kind.String()+" ...", q, 0)
		return true
	case q.kind == opFlush || q.kind == opFlushAll:
		return r.airborne(q) == 0
	}
	return false
}

// drawn is a new priority, where the policy has priorities.
func (x *explorer) drawn() uint64 {
	if p, ok := x.policy.(*priorities); ok {
		return p.draw()
	}
	return 0
}

// time implements driver.
func (x *explorer) time(*rank) int64 { return int64(x.steps) }

// spend implements driver: when exploring, computing takes no time, because any
// rank may be slow anyway.
func (x *explorer) spend(*rank, int64) {}

// state names the state that the run is in.
func (x *explorer) state() uint64 {
	print := x.memory.fingerprint()
	for _, f := range x.flights {
		print += f.fingerprint(f.origin.id)
	}
	for _, r := range x.ranks {
		own := mix(r.history ^ uint64(r.id)<<32 ^ uint64(r.phase)<<8)
		if r.phase == blocked && r.request.kind == opPause && r.seen != x.memory.version {
			own++
		}
		if r.window.err != nil {
			own = mix(own + 2)
		}
		if r.ctx.Err() != nil {
			own = mix(own + 3)
		}
		print += mix(own)
	}
	if x.program.State != nil {
		print = mix(print ^ x.program.State())
	}
	return print
}
