package sim

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/orwl/go-orwl/internal/invariant"
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
		wakeUp: ps(machine.Wake), inject: ps(machine.Inject)}
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
