package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/orwl/go-orwl/net/rma"
)

// Faults is how many faults of each kind happen in a run. In a seeded run, the seed
// draws their times and ranks. An exhaustive search tries crashes and cancellations
// at every point. It needs no pauses and delays, because it tries every order of
// steps anyway.
type Faults struct {
	// Crashes stop a rank for ever. Its operations in flight may still arrive.
	// The windows of the other ranks fail with an *rma.PeerLostError, each at a
	// time that the schedule chooses. With System.Survive their epochs end instead. Once a
	// rank knows of a loss, no operation of the lost rank arrives any more.
	Crashes int
	// Cancels end the context of a rank's body.
	Cancels int
	// Pauses keep a rank from taking steps for a long while.
	Pauses int
	// Delays keep everything that a rank has in flight from arriving for a
	// long while.
	Delays int
}

func (f Faults) validate() error {
	for _, n := range []int{f.Crashes, f.Cancels, f.Pauses, f.Delays} {
		if n < 0 {
			return fmt.Errorf("sim: System.Faults has a negative number: %+v", f)
		}
	}
	return nil
}

// fault is one fault of a seeded run.
type fault struct {
	kind     faultKind
	rank     rma.Rank
	from, to int // steps
}

type faultKind uint8

const (
	crash faultKind = iota
	cancel
	pause
	delay
)

// faultPlan holds a run's faults. Drawn faults happen at given steps. The policy
// chooses the others, as often as crashes and abort allow.
type faultPlan struct {
	drawn          []fault
	crashes, abort int
}

// drawFaults draws a step and a rank for each fault.
func drawFaults(f Faults, ranks int, rng *rand.Rand) faultPlan {
	var plan faultPlan
	horizon := 1 << (3 + rng.IntN(10))
	for kind, n := range []int{crash: f.Crashes, cancel: f.Cancels, pause: f.Pauses, delay: f.Delays} {
		for range n {
			from := rng.IntN(horizon)
			plan.drawn = append(plan.drawn, fault{faultKind(kind), rma.Rank(rng.IntN(ranks)), from, from + 1 + rng.IntN(horizon)})
		}
	}
	return plan
}

// choosableFaults is a plan whose faults the policy chooses.
func choosableFaults(f Faults) faultPlan { return faultPlan{crashes: f.Crashes, abort: f.Cancels} }

// cancels reports whether any rank's context may end.
func (p *faultPlan) cancels() bool {
	for _, f := range p.drawn {
		if f.kind == cancel {
			return true
		}
	}
	return p.abort > 0
}

// inject carries out the drawn crashes and cancellations whose step has come.
func (p *faultPlan) inject(x *explorer) {
	for i := 0; i < len(p.drawn); i++ {
		f := p.drawn[i]
		if f.kind > cancel || f.from > x.steps {
			continue
		}
		p.drawn = append(p.drawn[:i], p.drawn[i+1:]...)
		i--
		if f.kind == crash {
			x.crash(x.ranks[f.rank])
		} else {
			x.abort(x.ranks[f.rank])
		}
	}
}

// offer adds to x.choices the faults that the policy may choose, and the notices of
// lost peers.
func (p *faultPlan) offer(x *explorer) {
	for _, r := range x.ranks {
		if r.phase != blocked {
			continue
		}
		x.offerNotices(r)
		if p.crashes > 0 {
			x.choices = append(x.choices, choice{kind: chooseCrash, rank: r})
		}
		if p.abort > 0 && r.ctx.Err() == nil {
			x.choices = append(x.choices, choice{kind: chooseCancel, rank: r})
		}
	}
}

func (p *faultPlan) active(x *explorer, kind faultKind, r *rank) bool {
	for _, f := range p.drawn {
		if f.kind == kind && f.rank == r.id && f.from <= x.steps && x.steps < f.to {
			return true
		}
	}
	return false
}

// paused reports whether a fault keeps r from stepping now.
func (p *faultPlan) paused(x *explorer, r *rank) bool { return p.active(x, pause, r) }

// delayed reports whether a fault keeps f from arriving now.
func (p *faultPlan) delayed(x *explorer, f *flight) bool { return p.active(x, delay, f.origin) }

// lift ends every pause and delay. The explorer calls it when nothing else can happen.
func (p *faultPlan) lift() {
	kept := p.drawn[:0]
	for _, f := range p.drawn {
		if f.kind <= cancel {
			kept = append(kept, f)
		}
	}
	p.drawn = kept
}

// crash stops r for ever.
func (x *explorer) crash(r *rank) {
	if r.phase != blocked {
		return
	}
	x.faults.crashes--
	x.tracer.note(r, "crashes", "")
	r.window.fail(errHalted)
	r.halt(x.crew)
	r.phase = crashed
	x.lost = append(x.lost, r.id)
}

// offerNotices offers to tell r of each loss that it does not know, or of the first loss, if
// r's window fails by it.
func (x *explorer) offerNotices(r *rank) {
	for _, lost := range x.lost {
		if r.window.err == nil && !r.window.epoch.Lost(lost) {
			x.choices = append(x.choices, choice{kind: chooseNotice, rank: r, lost: lost})
		}
		if !x.survive {
			return
		}
	}
}

// notice tells r that a peer is lost. The notice interrupts an operation. It does not
// interrupt an instruction. A window that survives goes on with its operation.
func (x *explorer) notice(r *rank, lost rma.Rank) {
	r.window.lose(&rma.PeerLostError{Rank: lost, Why: "the simulator crashed it"})
	x.tracer.note(r, "notices", fmt.Sprintf("rank %d is lost", lost))
	if x.survive {
		x.flights = slices.DeleteFunc(x.flights, func(f *flight) bool { return f.origin.id == lost })
		r.remember(^uint64(lost)) // the fingerprint says between which steps it has noticed
		return
	}
	if !r.request.direct() {
		r.run()
		x.tracer.ended(r)
	}
}

// abort ends the context of r's body.
func (x *explorer) abort(r *rank) {
	x.faults.abort--
	x.tracer.note(r, "cancelled", "")
	r.cancel()
}
