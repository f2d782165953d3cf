package resource

import (
	"fmt"

	"github.com/orwl/go-orwl/resource/internal/coherence"
)

// Resource is the resource of the last request, or nil.
func (p *Place) Resource() *Resource { return p.r }

// Mode is the requested access mode.
func (p *Place) Mode() Mode { return modeOf(p.state.Load()) }

// Held reports whether the place holds its resource.
func (p *Place) Held() bool { return p.state.Load()&heldBit != 0 }

// Requested reports whether the place has requested and not yet acquired.
func (p *Place) Requested() bool { return p.state.Load()&requestedBit != 0 }

// Look is a place as seen from outside, at any time.
type Look struct {
	Mode      Mode
	Requested bool // and not acquired
	Granted   bool // by the queue; the guard may still be in the way
	Held      bool
	// Ticket numbers the requests of a resource in their order. It starts anywhere and
	// wraps around, so only differences count.
	Ticket uint32
	// Stamp differs after each change of the place's state.
	Stamp uint64
}

// Look looks at the place. The place is one of r's, or idle.
func (p *Place) Look(r *Resource) Look {
	s := p.state.Load()
	l := Look{Mode: modeOf(s), Requested: s&requestedBit != 0, Held: s&heldBit != 0, Stamp: s}
	if m := r.mirror; m != nil {
		l.Granted = l.Held || l.Requested && m.holds(idOf(s))
	} else {
		l.Granted = l.Held || l.Requested && due(r.completed.Load(), s&^flags, l.Mode)
	}
	l.Ticket = ticketOf(s)
	return l
}

// ticketOf is the number of requests before the one with this state.
func ticketOf(s uint64) uint32 { return uint32(s/oneWriter)&writersMask + uint32(s/oneReader) }

// Fence is the number of the grant. It grows with every granted writer, and readers
// have the fence of the last writer before them. Zero if not held.
func (p *Place) Fence() uint64 {
	if !p.Held() {
		return 0
	}
	if p.far() {
		return p.x.remote.held(p.r.mirror)
	}
	return p.r.ledger.Fence()
}

// Version counts the writes of the bytes before the grant. Zero if not held.
func (p *Place) Version() uint64 {
	if !p.Held() {
		return 0
	}
	return p.r.ledger.Version()
}

// Here tells for the place's request or grant how many of the resource's bytes need no
// transfer any more (here), and how many have arrived at this node since the request
// (came). At the resource's home nothing is transferred.
func (p *Place) Here() (here, came int) {
	if p.state.Load()&phaseBits == 0 {
		return 0, 0
	}
	if p.far() {
		return p.x.remote.here(p.r.mirror)
	}
	return p.Size(), 0
}

// Prior tells what happened to a writer before the grant: nil, or an error that matches
// [ErrPriorHolderLost] or [ErrPoisoned]. At the home, ErrPoisoned wraps the reason with
// which a writer of this node has failed. Nil if not held.
func (p *Place) Prior() error {
	if !p.Held() {
		return nil
	}
	if err := p.r.prior(); err != nil {
		return p.error("prior", err)
	}
	return nil
}

// prior tells what happened to a writer before. The caller holds the resource, in order
// or by relaxed access.
func (r *Resource) prior() error {
	err := coherence.Stamp{Prior: r.ledger.Prior()}.Err()
	if reason := r.poisoned(); reason != nil {
		err = fmt.Errorf("%w: %w", err, reason)
	}
	return err
}
