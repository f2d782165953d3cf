package sim

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/orwl/go-orwl/internal/invariant"
	"github.com/orwl/go-orwl/net/internal/considerate"
	"github.com/orwl/go-orwl/net/internal/patience"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/rma/model"
)

// Prediction is a run in virtual time.
type Prediction struct {
	Machine string
	// Time is the time when the last rank ended.
	Time time.Duration
	// Ended is the time when each rank ended.
	Ended []time.Duration
	// Operations counts all operations of the ranks. Remote counts the operations
	// on another rank's memory.
	Operations, Remote int
	// Failure is a broken promise, or nil.
	Failure *Failure
}

// Predict runs the system once in virtual time on a machine. The seed draws the
// start of each rank within the first microsecond, and the ranks and times of the
// faults.
func (s System) Predict(machine model.Model, seed uint64) Prediction {
	s = s.withDefaults()
	err := s.validate()
	if err == nil {
		err = machine.Validate()
	}
	if s.Faults.Cuts+s.Faults.Splits > 0 && err == nil {
		err = errors.New("sim: a prediction has no cut networks: want Faults.Cuts and Splits of 0")
	}
	if err != nil {
		return Prediction{Failure: &Failure{Err: err}}
	}
	p, err := predict(s, machine, seed)
	result := Prediction{Machine: machine.Name, Operations: p.operations, Remote: p.remote}
	for _, r := range p.ranks {
		result.Ended = append(result.Ended, p.time(r))
		result.Time = max(result.Time, p.time(r))
	}
	if err != nil {
		result.Failure = &Failure{Err: err, Seed: seed, Command: s.Command + " -seed " + formatSeed(seed)}
	}
	return result
}

// predictor drives a fabric through virtual time. Operations take effect in the
// order of their times, so that every rank sees one history. See effect and turn
// for the way of one operation.
type predictor struct {
	*Fabric
	machine     model.Model
	costs       []price // by topology.Tree.Common
	direct      *directPrices
	own         own
	wakeUp      int64 // model.Model.Wake
	between     int64 // half of model.Model.Between
	inject      int64
	nodesApart  bool    // ranks share memory only where their level is coherent
	anyCoherent bool    // some ranks share memory, or one has a cache
	uncalled    []price // of instructions, where operations are calls
	lines       lines
	processors  *processors // nil: each rank has its own
	agenda      agenda
	port        int     // level with a port, 0 if none
	busy        []int64 // until when each rank's memory serves an operation
	portIn      []int64 // until when operations enter each port, and leave it
	portOut     []int64
	units       []int64 // until when the unit for atomics behind each port serves one
	watch       []map[rma.Disp][]*rank
	abort       []*rank      // listed ranks whose context another rank may end
	spare       *timedFlight // free list
	faults      []timedFault
	lost        []rma.Rank
	last        int64 // time of the last event, for an assert

	operations, remote int
}

// newPredictor is a fabric on a machine.
func newPredictor(s System, machine model.Model) *predictor {
	apart := !s.Shared // then only ranks whose level is coherent share memory
	s.Shared = s.Shared || machine.Direct != nil
	p := &predictor{Fabric: newFabric(s), machine: machine, nodesApart: apart, direct: directOf(machine.Direct), own: ownOf(machine.Own),
		wakeUp: ps(machine.Wake), between: ps(machine.Between / 2), inject: ps(machine.Inject)}
	p.driver, p.memory.track = p, false
	ranks := len(p.ranks)
	p.busy, p.watch = make([]int64, ranks), make([]map[rma.Disp][]*rank, ranks)
	p.costs = pricesOf(machine.Costs(s.Topology))
	p.uncalled = withoutCall(machine.Costs(s.Topology), machine.Direct)
	if p.uncalled != nil {
		for _, r := range p.ranks {
			r.mapped = make(map[address]bool)
		}
	}
	for _, c := range p.costs {
		p.anyCoherent = p.anyCoherent || c.coherent
	}
	if p.anyCoherent {
		p.lines = newLines(ranks, s.Words)
	}
	for level := 1; level <= s.Topology.Levels(); level++ {
		if s.Topology.LevelName(level) == machine.Port {
			n := s.Topology.Elements(level)
			p.port, p.portIn, p.portOut, p.units = level, make([]int64, n), make([]int64, n), make([]int64, n)
		}
	}
	if p.port == 0 {
		p.inject = 0
	}
	p.processors = newProcessors(machine.Scheduler, p.ranks)
	return p
}

func predict(s System, machine model.Model, seed uint64) (*predictor, error) {
	p := newPredictor(s, machine)
	defer p.end()
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
		r.now = int64(mix(seed^uint64(r.id))%1000) * picoseconds
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

// maxEvents is how many events a prediction may take for each step of
// System.MaxSteps. Predictions are long by design.
const maxEvents = 1 << 12

func (p *predictor) loop(steps int) error {
	for len(p.agenda.events) > 0 {
		if p.steps++; p.steps > steps*maxEvents {
			return fmt.Errorf("%w within %d events", ErrEndless, p.steps)
		}
		e := p.agenda.pop()
		if invariant.Enabled {
			invariant.Check(e.at >= p.last, "time goes back from %d to %d ps", p.last, e.at)
			p.last = e.at
		}
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
			p.land(e.flight, e.at)
		case eventFault:
			p.strike(e.at)
		case eventDeparture:
			p.departs(e.rank, e.at)
		case eventTakeoff:
			p.takeOff(e.flight, e.at)
		case eventDoze:
			p.doze(e.rank, e.wait, e.at)
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

// goOn lets a rank run from a time on. If a fault pauses the rank, it runs later.
func (p *predictor) goOn(r *rank, at int64) {
	if until := p.heldUntil(r, pause, at); until > at {
		p.agenda.push(event{at: until, kind: eventResume, rank: r})
		return
	}
	if !p.runsOn(r, at) {
		return
	}
	r.now = at
	r.run()
	p.ended(r)
	p.wakeCancelled(r)
}

// Ranks may share processors (model.Scheduler). A rank runs on a processor. A rank that
// waits looks at its word for a while, and then sleeps and leaves its processor to a rank
// that is ready. The lock keeps out of convoys by the rule of package considerate, as on a
// real machine: the window answers with virtual time.

// nowhere is the processor of a rank that has none.
const nowhere = -1

// processors are those that ranks share. Times are picoseconds.
type processors struct {
	slice, change, wake, startle, slack int64

	look  int64 // the time of a look at a word
	spins patience.Limits
	first bool       // a rank that was woken is the first of those that are ready
	idle  []idleness // the processors that no rank has
	ready []*rank    // the ranks that wait for a processor
	crowd *considerate.Crowd
}

// idleness is a processor without a rank, and since when.
type idleness struct {
	cpu   int
	since int64
}

func newProcessors(s *model.Scheduler, ranks []*rank) *processors {
	if s == nil {
		return nil
	}
	p := &processors{slice: ps(s.Slice), change: ps(s.Change), wake: ps(s.Wake), startle: ps(s.Startle), slack: ps(s.Slack),
		look: max(ps(s.Look), picoseconds)}
	look := time.Duration(p.look / picoseconds)
	for cpu := range s.Processors {
		p.idle = append(p.idle, idleness{cpu: cpu})
	}
	if s.Ranks == model.Goroutines {
		p.first, p.crowd, p.spins = true, considerate.Goroutines(len(ranks), s.Processors), patience.Goroutines(len(ranks), s.Processors, look)
	} else {
		p.crowd, p.spins = considerate.Processes(len(ranks), s.Processors), patience.Processes(len(ranks), s.Processors, look)
	}
	for _, r := range ranks {
		r.cpu, r.turns, r.spin = nowhere, p.crowd.Rank(), p.spins.Rank(s.Processors)
	}
	return p
}

// runsOn reports whether r may run at a time. If not, it is ready, and runs later.
func (p *predictor) runsOn(r *rank, at int64) bool {
	switch {
	case p.processors == nil:
		return true
	case r.cpu == nowhere:
		p.becomeReady(r, at, p.processors.first && r.slept)
		return false
	case p.mustYield(r, at):
		p.becomeReady(r, at, false)
		p.depart(r, at)
		return false
	}
	return true
}

// mustYield reports whether r's slice has ended and another rank is ready.
func (p *predictor) mustYield(r *rank, at int64) bool {
	return p.processors != nil && at >= r.slice && len(p.processors.ready) > 0
}

// becomeReady gives r a processor that is idle, or a place in the queue.
func (p *predictor) becomeReady(r *rank, at int64, first bool) {
	s := p.processors
	switch n := len(s.idle); {
	case n > 0:
		free := s.idle[n-1]
		s.idle = s.idle[:n-1]
		p.arrive(r, free.cpu, max(at, free.since)+s.startle)
	case first:
		s.ready = append([]*rank{r}, s.ready...)
	default:
		s.ready = append(s.ready, r)
	}
}

// arrive lets r run on a processor from a time on.
func (p *predictor) arrive(r *rank, cpu int, at int64) {
	r.cpu, r.slice = cpu, at+p.processors.slice
	p.agenda.push(event{at: at, kind: eventResume, rank: r})
}

// depart takes r from its processor.
func (p *predictor) depart(r *rank, at int64) {
	s, cpu := p.processors, r.cpu
	r.cpu = nowhere
	if len(s.ready) == 0 {
		s.idle = append(s.idle, idleness{cpu, at})
		return
	}
	next := s.ready[0]
	s.ready = s.ready[1:]
	p.arrive(next, cpu, at+s.change)
}

// beginToLook lets r look at its word for as long as that has paid lately, if it shares processors.
func (p *predictor) beginToLook(r *rank, at int64) {
	if p.processors == nil {
		return
	}
	r.waits++
	if looks := int64(r.spin.Begin()); looks > 0 {
		p.agenda.push(event{at: at + looks*p.processors.look, kind: eventDoze, rank: r, wait: r.waits})
		return
	}
	p.depart(r, at)
}

// doze lets r sleep if it still looks.
func (p *predictor) doze(r *rank, wait uint, at int64) {
	if r.listed && r.waits == wait && r.cpu != nowhere {
		r.spin.Wasted()
		p.depart(r, at)
	}
}

// ended takes the processor from a rank whose body has ended.
func (p *predictor) ended(r *rank) {
	if p.processors != nil && r.phase != blocked && r.cpu != nowhere {
		p.depart(r, r.now)
	}
}

// yield lets a rank run that is ready, if there is one. It reports whether r goes on.
func (p *predictor) yield(r *rank) bool {
	if len(p.processors.ready) == 0 {
		r.now += p.processors.change
		if r.now <= p.agenda.next() {
			return true
		}
		p.agenda.push(event{at: r.now, kind: eventResume, rank: r})
		return false
	}
	r.slept = false
	p.processors.ready = append(p.processors.ready, r)
	p.depart(r, r.now)
	return false
}

// sleep takes r from its processor for a while.
func (p *predictor) sleep(r *rank, long int64) {
	at := r.now
	p.depart(r, at)
	p.agenda.push(event{at: at + long + p.processors.slack, kind: eventResume, rank: r})
}

// handedOver implements driver.
func (p *predictor) handedOver(r *rank) {
	if p.processors != nil {
		r.turns.HandedOver(p.clock(r))
	}
}

// clock is r's time for its turns, and never 0. To read it takes time.
func (p *predictor) clock(r *rank) time.Duration {
	r.now += p.own.clock
	return p.time(r) + 1
}

// returns implements driver. It does what package considerate says.
func (p *predictor) returns(r *rank, turns int) (again int) {
	if p.processors == nil {
		return 0
	}
	act := r.turns.Returns(turns, r.slept, p.clock(r))
	for ; act.Do != considerate.GoOn; act = r.turns.Next(p.clock(r)) {
		switch act.Do {
		case considerate.Spin:
			r.now += max(p.own.pause, picoseconds) // time passes, also on a machine that does not say how much
		case considerate.Offer:
			r.window.ask(request{kind: opYield})
		case considerate.Sleep:
			r.window.ask(request{kind: opSleep, operand: uint64(act.For) * picoseconds})
		}
	}
	if act.Look {
		r.spin.Look()
		r.slept = false
	}
	return r.turns.Again()
}
