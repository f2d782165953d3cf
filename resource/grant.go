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

// Fence is the number of the grant. It grows with every granted writer and every lost
// holder. Readers have the fence of the last writer before them. At the home it grows under
// a reader that holds when another reader of its group is lost. Zero if not held.
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
