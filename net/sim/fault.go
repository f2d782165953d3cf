package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/orwl/go-orwl/net/rma"
)

// Faults is how many faults of each kind happen in a run. In a seeded run, the seed
// draws their times and ranks. An exhaustive search tries crashes, cancellations and splits
// at every point. It needs no pauses, delays and cuts, because it tries every order of
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
	// Cuts cut a rank off from all others for a long while: nothing passes between its
	// memory and theirs.
	Cuts int
	// Splits cut a rank off from all others for ever. Each window fails with an
	// *rma.PeerLostError, on both sides, at a time that the schedule chooses.
	Splits int
}

func (f Faults) validate() error {
	for _, n := range []int{f.Crashes, f.Cancels, f.Pauses, f.Delays, f.Cuts, f.Splits} {
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
	from, to int  // steps
	begun    bool // a cut has been noted
}

type faultKind uint8

const (
	crash faultKind = iota
	cancel
	split
	pause
	delay
	cut
)

// faultPlan holds a run's faults. Drawn faults happen at given steps. The policy
// chooses the others, as often as crashes and abort allow.
type faultPlan struct {
	drawn                  []fault
	crashes, abort, splits int
	alone                  []rma.Rank // split off, for ever
}

// drawFaults draws a step and a rank for each fault.
func drawFaults(f Faults, ranks int, rng *rand.Rand) faultPlan {
	var plan faultPlan
	horizon := 1 << (3 + rng.IntN(10))
	for kind, n := range []int{crash: f.Crashes, cancel: f.Cancels, split: f.Splits, pause: f.Pauses, delay: f.Delays, cut: f.Cuts} {
		for range n {
			from := rng.IntN(horizon)
			plan.drawn = append(plan.drawn, fault{faultKind(kind), rma.Rank(rng.IntN(ranks)), from, from + 1 + rng.IntN(horizon), false})
		}
	}
	return plan
}

// choosableFaults is a plan whose faults the policy chooses. It has no pauses, delays and cuts: among all schedules are those
// in which a rank or an arrival is late.
func choosableFaults(f Faults) faultPlan {
	return faultPlan{crashes: f.Crashes, abort: f.Cancels, splits: f.Splits}
}

// cancels reports whether any rank's context may end.
func (p *faultPlan) cancels() bool {
	for _, f := range p.drawn {
		if f.kind == cancel {
			return true
		}
	}
	return p.abort > 0
}

// inject carries out the drawn faults whose step has come, and notes where cuts begin and end.
func (p *faultPlan) inject(x *explorer) {
	kept := p.drawn[:0]
	for _, f := range p.drawn {
		r, due := x.ranks[f.rank], f.from <= x.steps
		switch {
		case due && f.kind == crash:
			x.crash(r)
		case due && f.kind == cancel:
			x.abort(r)
		case due && f.kind == split:
			x.split(r)
		case f.kind == cut && f.to <= x.steps:
			x.tracer.note(r, "is back", "")
		default:
			if due && f.kind == cut && !f.begun {
				f.begun = true
				x.tracer.note(r, "is cut off", "")
			}
			kept = append(kept, f)
		}
	}
	p.drawn = kept
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
		if p.splits > 0 {
			x.choices = append(x.choices, choice{kind: chooseSplit, rank: r})
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

// unreachable reports whether a cut keeps one rank's operations from another one's memory now.
func (p *faultPlan) unreachable(x *explorer, from, to rma.Rank) bool {
	if from == to || len(p.drawn) == 0 && len(p.alone) == 0 {
		return false
	}
	return p.split(from, to) || p.active(x, cut, x.ranks[from]) || p.active(x, cut, x.ranks[to])
}

// split reports whether two ranks cannot reach each other any more.
func (p *faultPlan) split(a, b rma.Rank) bool {
	return a != b && (slices.Contains(p.alone, a) || slices.Contains(p.alone, b))
}

// lift ends every pause, delay and cut. The explorer calls it when nothing else can happen.
func (p *faultPlan) lift(x *explorer) {
	kept := p.drawn[:0]
	for _, f := range p.drawn {
		if f.kind <= split {
			kept = append(kept, f)
		} else if f.begun {
			x.tracer.note(x.ranks[f.rank], "is back", "")
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

// split cuts r off from all others for ever.
func (x *explorer) split(r *rank) {
	if slices.Contains(x.faults.alone, r.id) {
		return
	}
	x.faults.splits--
	x.faults.alone = append(x.faults.alone, r.id)
	x.tracer.note(r, "is cut off", "for ever")
}

// offerNotices offers to tell r of each loss that it does not know, or of one loss, if r's window fails by it.
func (x *explorer) offerNotices(r *rank) {
	switch {
	case r.window.err != nil:
	case !x.survive && len(x.lost)+len(x.faults.alone) > 0:
		x.choices = append(x.choices, choice{kind: chooseNotice, rank: r, lost: x.firstLost(r)})
	case x.survive:
		for _, lost := range x.lost {
			if !r.window.epoch.Lost(lost) {
				x.choices = append(x.choices, choice{kind: chooseNotice, rank: r, lost: lost})
			}
		}
	}
}

// firstLost is the peer that r learns to be lost.
func (x *explorer) firstLost(r *rank) rma.Rank {
	if len(x.lost) > 0 {
		return x.lost[0]
	}
	if other := x.faults.alone[0]; other != r.id {
		return other
	}
	return (r.id + 1) % rma.Rank(len(x.ranks)) // all others are lost for it
}

// notice tells r that a peer is lost. The notice interrupts an operation. It does not
// interrupt an instruction. A window that survives goes on with its operation.
func (x *explorer) notice(r *rank, lost rma.Rank) {
	why := "the simulator cut the network"
	if slices.Contains(x.lost, lost) {
		why = "the simulator crashed it"
	}
	r.window.lose(&rma.PeerLostError{Rank: lost, Why: why})
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

// Faults in virtual time begin within the first virtual second. Half of them begin
// within the first few milliseconds, so that short runs meet some, too.

// timedFault is a fault between two times.
type timedFault struct {
	kind     faultKind
	rank     rma.Rank
	from, to int64
	done     bool
}

const (
	faultHorizon  = 1e12 // picoseconds
	faultLongest  = 1e10
	noticeLatency = 1e9 // how long after a crash the other ranks notice it
)

// plan draws the faults and puts them on the agenda.
func (p *predictor) plan(f Faults, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 1))
	for kind, n := range []int{crash: f.Crashes, cancel: f.Cancels, pause: f.Pauses, delay: f.Delays} {
		for range n {
			from := int64(faultHorizon * rng.Float64() * rng.Float64() * rng.Float64() * rng.Float64())
			p.faults = append(p.faults, timedFault{faultKind(kind), rma.Rank(rng.IntN(len(p.ranks))), from,
				from + 1 + rng.Int64N(faultLongest), false})
			if faultKind(kind) <= cancel {
				p.agenda.push(event{at: from, kind: eventFault})
			}
		}
	}
}

// heldUntil is the end of a fault of this kind that r has at the time at, or at.
func (p *predictor) heldUntil(r *rank, kind faultKind, at int64) int64 {
	for _, f := range p.faults {
		if f.kind == kind && f.rank == r.id && f.from <= at && at < f.to {
			return f.to
		}
	}
	return at
}

// strike carries out the crashes and cancellations that are due. It also tells the
// ranks of earlier crashes.
func (p *predictor) strike(now int64) {
	for i := range p.faults {
		f := &p.faults[i]
		if f.done || f.kind > cancel || f.from > now {
			continue
		}
		f.done = true
		r := p.ranks[f.rank]
		switch {
		case r.phase != blocked:
		case f.kind == crash:
			r.window.fail(errHalted)
			r.halt(p.crew)
			r.phase, r.now = crashed, now
			p.ended(r)
			p.lost = append(p.lost, r.id)
			p.agenda.push(event{at: now + noticeLatency, kind: eventFault})
		default:
			r.cancel()
			p.recheck(r, now)
		}
	}
	p.spreadNews(now)
}

// spreadNews tells the windows of the other ranks of each loss, noticeLatency after a crash.
func (p *predictor) spreadNews(now int64) {
	for _, lost := range p.lost {
		if p.ranks[lost].now+noticeLatency > now {
			continue
		}
		for _, r := range p.ranks {
			if r.phase == blocked && r.window.err == nil && !r.window.epoch.Lost(lost) {
				r.window.lose(&rma.PeerLostError{Rank: lost, Why: fmt.Sprintf("crashed at %d ns", p.ranks[lost].now/picoseconds)})
				p.recheck(r, now)
			}
		}
	}
}

// recheck lets a waiting rank look at its context and its window again.
func (p *predictor) recheck(r *rank, now int64) {
	q := &r.request
	switch {
	case q.kind == opAwait && r.listed && p.processors != nil:
		p.unlist(r)
		r.slept = r.cpu == nowhere
		r.failure = q.ended()
		p.agenda.push(event{at: now, kind: eventResume, rank: r})
	case q.kind == opAwait && r.listed:
		p.unlist(r)
		p.agenda.push(event{at: now, kind: eventLook, rank: r})
	case r.flushing && r.window.err != nil:
		r.flushing = false
		p.agenda.push(event{at: now, kind: eventResume, rank: r})
	}
}
