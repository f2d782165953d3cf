package sim

import (
	"fmt"
	"math/rand/v2"

	"github.com/orwl/go-orwl/net/rma"
)

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
