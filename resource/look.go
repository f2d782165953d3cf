package resource

import (
	"fmt"
	"sync/atomic"
)

// Resource is what was last requested, or nil.
func (p *Place) Resource() *Resource { return p.r }

// Mode is what for.
func (p *Place) Mode() Mode { return modeOf(p.state.Load()) }

// Held reports whether the place holds its resource.
func (p *Place) Held() bool { return p.state.Load()&heldBit != 0 }

// Requested reports whether the place has requested and not acquired.
func (p *Place) Requested() bool { return p.state.Load()&requestedBit != 0 }

// Look is a place as somebody else sees it, who may look at any time.
type Look struct {
	Mode      Mode
	Requested bool // and not acquired
	Granted   bool // but for the guard
	Held      bool
	// Ticket numbers the requests of a resource in their order, from some number
	// on and not for ever: it is their difference that counts.
	Ticket uint32
	// Stamp differs whenever the place has moved.
	Stamp uint64
}

// Look looks at the place, which is one of r's if it is not idle.
func (p *Place) Look(r *Resource) Look {
	s := p.state.Load()
	l := Look{Mode: modeOf(s), Requested: s&requestedBit != 0, Held: s&heldBit != 0, Stamp: s}
	if m := r.mirrored; m != nil {
		l.Granted = l.Held || l.Requested && m.holds(idOf(s))
	} else {
		l.Granted = l.Held || l.Requested && due(r.completed.Load(), s&^flags, l.Mode)
	}
	l.Ticket = ticketOf(s)
	return l
}

// ticketOf is how many had requested before whoever has a state.
func ticketOf(s uint64) uint32 { return uint32(s/oneWriter)&writersMask + uint32(s/oneReader) }

// Fence is the number of the grant: it grows with every writer that is granted,
// and readers have that of the last writer before them. Zero if not held.
func (p *Place) Fence() uint64 {
	if !p.Held() {
		return 0
	}
	if p.far {
		return p.r.mirrored.fence(p)
	}
	return atomic.LoadUint64(&p.r.ledger.fence)
}

// Version is how often the bytes have been written until the grant. Zero if not
// held.
func (p *Place) Version() uint64 {
	if !p.Held() {
		return 0
	}
	return p.r.ledger.version
}

// Here is how many of the resource's bytes need not travel any more for what the
// place has requested or holds, and came is how many have come to this node since
// it was requested. At the resource's home nothing travels.
func (p *Place) Here() (here, came int) {
	if p.state.Load()&phaseBits == 0 {
		return 0, 0
	}
	if p.far {
		return p.r.mirrored.here(idOf(p.state.Load()))
	}
	return p.Size(), 0
}

// Prior is what became of a writer before the grant: nil, or what matches
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

// prior is what became of a writer before, for an access that the ledger waits for.
func (r *Resource) prior() error {
	err := Stamp{Prior: r.ledger.prior}.Err()
	if reason := r.poisoned(); reason != nil {
		err = fmt.Errorf("%w: %w", err, reason)
	}
	return err
}
