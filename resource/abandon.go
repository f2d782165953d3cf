package resource

import (
	"fmt"

	"github.com/orwl/go-orwl/resource/internal/coherence"
)

// Abandon ends what the place does because its task has failed, for example by an error
// or a panic. reason is that failure. Abandon never waits, and commits nothing.
//
// It cancels a request. It releases an access that changed nothing: one for reading, or
// one for writing that called none of Writable, Resize and Dirty. Otherwise the
// resource's [Policy] applies. It says what happens to the bytes, and what
// [Place.Prior] tells the next holders.
func (p *Place) Abandon(reason error) error {
	s := p.state.Load()
	switch {
	case s&requestedBit != 0:
		return p.Cancel()
	case s&heldBit == 0:
		return p.error("abandon", ErrNotHeld)
	case !p.wrote:
		return p.Release()
	}
	if elsewhere, err := p.leaveRemote(s, abandons); elsewhere {
		return err
	}
	r := p.r
	p.endUse()
	r.failed(reason)
	if r.ledger.Aborted() {
		r.Break(fmt.Errorf("%w: %w", ErrAborted, reason))
	}
	p.state.Set(s & writeBit)
	r.end(s, nil)
	p.ended(abandons)
	return nil
}

// recovery is what a resource keeps at its home in case a writer fails. Without
// Options.Undo it is nil until a writer fails for the first time.
type recovery struct {
	undo    bool   // Options.Undo
	reason  error  // of the last failure
	version uint64 // that this failure left
}

// keepCopies begins Options.Undo. Since there is a copy, the buffer is not plain.
func (r *Resource) keepCopies() {
	r.recovery = &recovery{undo: true}
	r.buffer.Save()
}

// save copies the bytes before they change, if the resource has Options.Undo.
func (r *Resource) save() {
	if c := r.recovery; c != nil && c.undo {
		r.buffer.Save()
	}
}

// restore takes back all changes since save, and reports whether it could. It needs
// Options.Undo, and memory if the size has changed. No view is open.
func (r *Resource) restore() bool {
	c := r.recovery
	if c == nil || !c.undo {
		return false
	}
	return r.buffer.Restore()
}

// failed notes that a writer at the home has failed after it may have changed the bytes.
// It takes the changes back, if it can. Otherwise the half-written bytes stay, as a
// version of their own, and the resource is poisoned.
func (r *Resource) failed(reason error) {
	restored := r.restore()
	r.ledger.Lose(Write)
	if !restored {
		r.ledger.Poison() // without a note of its changes, so that all bytes count as changed
	}
	if r.recovery == nil {
		r.recovery = new(recovery)
	}
	r.recovery.reason, r.recovery.version = reason, r.ledger.Version()
}

// poisoned returns why the bytes are poisoned, as far as this node knows. A commit
// makes another version, and poison from another node has no reason.
func (r *Resource) poisoned() error {
	c := r.recovery
	if c == nil || r.ledger.Prior() != coherence.PriorPoisoned || c.version != r.ledger.Version() {
		return nil
	}
	return c.reason
}
