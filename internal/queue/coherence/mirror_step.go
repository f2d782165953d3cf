package coherence

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/orwl/go-orwl/internal/invariant"
)

// A mirror hears from its home of grants, bytes, refusals, and the end of its life.

// Step takes a message of the home. An error is one of ErrReplayed, ErrOtherLife, ErrGap
// and ErrMalformed. Each says what to do. Any other error is the reason why this life is
// over now: call Rejoin.
func (r *Mirror) Step(m *Message, w *Work) error {
	if m.Resource != r.o.Resource || m.Node != r.o.Node {
		return r.malformed(m, "it is another mirror's")
	}
	if r.over != nil || m.Incarnation != r.o.Incarnation {
		return fmt.Errorf("%w: %v is of life %d, this is life %d", ErrOtherLife, m, m.Incarnation, r.o.Incarnation)
	}
	if m.Kind == RefusedMessage && m.Seq == 0 {
		return r.ended(m, w)
	}
	if err := m.number(r.got); err != nil {
		return err
	}
	var err error
	switch m.Kind {
	case GrantMessage:
		err = r.granted(m, w)
	case RefusedMessage:
		err = r.refused(m, w)
	case ConfirmedMessage:
		invariant.Sometimes(m.Fence < r.wrote, "the answer to a question comes after another write")
		if m.Fence == r.wrote { // it may be late, after a grant and another write
			r.wrote = 0
		}
	default:
		err = r.malformed(m, "a mirror does not take it")
	}
	if err == nil {
		r.got = m.Seq
	}
	return err
}

// malformed is what is wrong with a message.
func (r *Mirror) malformed(m *Message, why string) error {
	return fmt.Errorf("%w: %v to node %d: %s", ErrMalformed, m, r.o.Node, why)
}

// granted takes the grant of some requests. It releases those that were cancelled too late.
// A grant confirms the last write: the home grants nothing to this mirror between the grant
// of a writer and its release.
func (r *Mirror) granted(m *Message, w *Work) error {
	for _, id := range m.IDs {
		if _, p := r.requests.find(id); p == nil || p.stage == holding || p.mode != m.Mode {
			return r.malformed(m, "it grants a request that does not wait")
		}
	}
	if err := r.take(m, w); err != nil {
		return err
	}
	r.wrote = 0
	for _, id := range m.IDs {
		_, p := r.requests.find(id)
		if p.stage == leaving {
			invariant.Sometimes(true, "a cancel crosses the grant")
			r.requests.remove(id)
			msg := r.to(ReleaseMessage, w)
			msg.ID, msg.Fence = id, m.Fence
			continue
		}
		p.stage, p.fence = holding, m.Fence
		r.holders++
		w.Events = append(w.Events, Event{Kind: RequestGranted, ID: id, Tag: p.tag, Stamp: m.Stamp})
	}
	return nil
}

// take makes what a message brings the mirror's bytes. Bytes from the home confirm the
// last write, as a grant does.
func (r *Mirror) take(m *Message, w *Work) error {
	if !m.Whole {
		if r.known != m.Version+1 {
			return r.malformed(m, "the version that it grants is not here")
		}
		return nil
	}
	if r.holders > 0 {
		return r.malformed(m, "it brings bytes while others are in use")
	}
	if err := m.checkContents(r.o.Limit); err != nil {
		return fmt.Errorf("%w: %v to node %d: %w", ErrMalformed, m, r.o.Node, err)
	}
	if err := r.buffer.take(m); err != nil {
		w.Fault = err
	}
	if !m.intact() {
		invariant.Sometimes(true, "a message is spoilt")
		r.known = 0
		return spoilt(m)
	}
	r.known, r.wrote, r.size = m.Version+1, 0, m.Size
	return nil
}

// refused ends a request.
func (r *Mirror) refused(m *Message, w *Work) error {
	_, p := r.requests.find(m.ID)
	switch {
	case m.Reason == Stale:
		// The two halves disagree about what is granted: nothing can be relied on.
		return r.ended(m, w)
	case p == nil || p.stage == holding, m.Reason == Cancelled && p.stage != leaving:
		return r.malformed(m, "it refuses a request that does not wait")
	case m.Reason != Cancelled:
		return r.malformed(m, "it gives no reason")
	}
	r.requests.remove(m.ID)
	return nil
}

// ended takes the home's word that this life of the mirror is over.
func (r *Mirror) ended(m *Message, w *Work) error {
	why := ErrEnded
	switch m.Reason {
	case Stale:
		why = ErrStale
	case Broken:
		why = fmt.Errorf("%w at its home", ErrBroken)
	}
	r.Lost(why, w)
	return r.over
}

// Lost says that the home is lost, or the link to it. Every request is over, and a write
// that the home has not confirmed may be lost. The mirror takes no request until Rejoin.
func (r *Mirror) Lost(err error, w *Work) {
	if err == nil {
		err = ErrLost
	}
	if r.over != nil {
		return
	}
	r.over = err
	// A write that perhaps did not arrive, and bytes that a writer was changing, are no
	// version of the home's.
	spoilt := r.wrote != 0
	if spoilt {
		w.Events = append(w.Events, Event{Kind: WriteLost, Stamp: Stamp{Fence: r.wrote}, Err: err})
	}
	slices.SortFunc(r.requests.all, func(a, b entry[request]) int { return cmp.Compare(a.id, b.id) })
	for _, e := range r.requests.all {
		id, p := e.id, e.value
		spoilt = spoilt || p.stage == holding && p.mode == Write
		if p.stage != leaving {
			w.Events = append(w.Events, Event{
				Kind: RequestEnded, ID: id, Tag: p.tag, Stamp: Stamp{Fence: p.fence}, Held: p.stage == holding, Err: err,
			})
		}
	}
	if spoilt {
		r.known = 0
	}
	r.requests.clear()
	r.holders = 0
	r.wrote = 0
}

// Forget says that the home has begun anew, so that the buffer has no version of its bytes.
func (r *Mirror) Forget() { r.known = 0 }

// Rejoin begins a new life, with a greater incarnation. The bytes are still good, unless Forget
// has said that they are not.
func (r *Mirror) Rejoin(incarnation uint64) error {
	if r.over == nil {
		return fmt.Errorf("resource: node %d rejoins resource %d, which is not lost", r.o.Node, r.o.Resource)
	}
	if incarnation <= r.o.Incarnation {
		return fmt.Errorf("%w: node %d rejoins resource %d as life %d after life %d",
			ErrOtherLife, r.o.Node, r.o.Resource, incarnation, r.o.Incarnation)
	}
	r.o.Incarnation = incarnation
	r.got, r.sent, r.over = 0, 0, nil
	return nil
}

// Join tells the home that this life has begun, and the one before is over.
func (r *Mirror) Join(w *Work) { r.to(JoinMessage, w).Known = r.known }

// Suspect ends this life and begins a new one, since the home may have given up this node.
// A mirror without requests holds nothing of the home, so its life goes on, and what it has
// released still arrives. It reports whether it has begun a new life.
func (r *Mirror) Suspect(why error, incarnation uint64, w *Work) bool {
	if len(r.requests.all) == 0 {
		return false
	}
	if r.wrote != 0 {
		r.buffer.Lend() // the bytes of the last release may still be under way
	}
	r.Lost(why, w)
	if r.Rejoin(incarnation) == nil {
		r.Join(w)
	}
	return true
}

// Over is why the mirror takes no request until Rejoin, or nil.
func (r *Mirror) Over() error { return r.over }
