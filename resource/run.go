package resource

import (
	"context"
	"errors"
)

// A run whose order is known needs no queue: package orwl/internal/plan says when each access of it
// is granted. Such a run has its resources for itself, from its start to its end. In the queue of each
// it is one writer. Its own places do not stand in the queue:
//
//	            ┌────────── GrantAll ─────────┐
//	Join ──▶ requested                       held ──▶ EndAll, the last time ──▶ idle
//	            └────── EndAll: committed ────┘
//
// A place of a run does with the bytes what any place does. A call that goes through the queue is refused.

// Hold is a resource that a run has for itself.
type Hold struct {
	place  Place
	run    any    // the same for all resources of the run
	places uint32 // of the run
}

// The errors of a run that has resources for itself.
var (
	// ErrPlanned is a request, an acquire or a release of an access whose run does that by itself.
	ErrPlanned = errors.New("its run grants and releases it, in each round: a body of Each holds it from its beginning to its end")
	// ErrRunHas is an access from outside to a resource that a run has for itself, which cannot wait for
	// the end of the run.
	ErrRunHas = errors.New("a run has it for itself until its end")
)

// NewHold puts a run into the queue of r, as a writer.
func NewHold(r *Resource, run any) (*Hold, error) {
	h := &Hold{run: run}
	return h, h.place.Request(r, Write)
}

// Take waits until the run has the resource.
func (h *Hold) Take(ctx context.Context) error {
	err := h.place.Acquire(ctx)
	if err == nil {
		h.place.r.run.Store(h)
	}
	return err
}

// Give ends the run's access, or its request. All places that have joined are idle. The next one in the
// queue is told if the last writer of the run has failed.
func (h *Hold) Give() {
	p, s := &h.place, h.place.state.Load()
	p.r.run.Store(nil)
	if s&heldBit == 0 {
		_ = p.Cancel() // fails if it does not wait either
		return
	}
	p.state.Set(s & writeBit)
	p.r.end(s, nil)
}

// Join makes an idle place one of the run. The places of a resource join in their start order.
func (p *Place) Join(h *Hold, m Mode) error {
	if p.state.Load()&phaseBits != 0 {
		return p.error("join", ErrRequested)
	}
	p.r, p.planned = h.place.r, true
	p.state.Set(uint64(h.places)*oneReader | modeBit(m) | requestedBit)
	h.places++
	p.tell(Requested)
	return nil
}

// TellWaiting tells the observers that a place of a run waits. Others hear of it by Acquire.
func (p *Place) TellWaiting() { p.tell(Waiting) }

// GrantAll has places of a run hold. It returns an error, and the places from there on are not held, if a
// resource is broken.
func GrantAll(places []*Place) error {
	for _, p := range places {
		s, r := p.state.Load(), p.r
		if r.completed.Load()&broken != 0 {
			return p.failed("acquire", r.brokenError())
		}
		if s&writeBit != 0 {
			r.ledger.Raise()
		}
		p.state.Set(s ^ phaseBits)
		if p.x != nil {
			p.tell(Acquired)
		}
	}
	return nil
}

// EndAll ends what GrantAll has begun, and announces the next round unless it is the last one.
func EndAll(places []*Place, last bool) {
	how := renews
	if last {
		how = releases
	}
	for _, p := range places {
		s := p.state.Load()
		if p.x != nil {
			p.tell(Releasing)
		}
		p.commit(s)
		p.turn(s, last)
		if p.x != nil {
			p.ended(how)
		}
	}
}

// turn goes on to the next round, or is idle.
func (p *Place) turn(s uint64, last bool) {
	if last {
		p.planned = false
		p.state.Set(s & writeBit)
		return
	}
	rounds := (s + oneWriter) & (oneReader - 1) // without what it carries
	p.state.Set(s&^(oneReader-1) | rounds&^(heldBit|requestedBit) | requestedBit)
}

// quit ends a place of a run whose task has ended. reason is nil, or why the task has failed: then nothing
// is committed.
func (p *Place) quit(s uint64, reason error) {
	switch {
	case s&heldBit == 0:
		p.turn(s, true)
		p.tell(Withdrawn)
		return
	case reason == nil || !p.wrote:
		EndAll([]*Place{p}, true)
		return
	}
	p.tell(Releasing)
	p.discard(reason)
	p.turn(s, true)
	p.ended(abandons)
}

// InspectRun is Inspect of a place of a run. The run knows which of them are granted: Granted is Held.
func (p *Place) InspectRun(r *Resource) PlaceState {
	s := p.state.Load()
	l := PlaceState{Mode: modeOf(s), Requested: s&requestedBit != 0, Held: s&heldBit != 0, Granted: s&heldBit != 0, Stamp: s}
	if h := r.run.Load(); h != nil { // each round has the number that it would have in the queue
		l.Ticket = uint32(s/oneWriter)&writersMask*h.places + uint32(s/oneReader)
	}
	return l
}

// within reports whether the task is one of a run. Its loop allocates.
func (h *Holder) within(run any) bool {
	for p := range h.places {
		if r := p.r; r != nil {
			if hold := r.run.Load(); hold != nil && hold.run == run {
				return true
			}
		}
	}
	return false
}
