package resource

import "fmt"

// Step takes a message of the home and appends the answers to out. An error is one of
// ErrReplayed, ErrOtherLife, ErrGap and ErrMalformed. Each says what to do. Any other
// error is the reason why this life is over now: call Rejoin.
func (r *Mirror) Step(m *Message, out []Message) ([]Message, error) {
	if m.Resource != r.o.Resource || m.Node != r.o.Node {
		return out, r.malformed(m, "it is another mirror's")
	}
	// Of another epoch only the refusal that says so is for this life.
	ends := m.Kind == RefusedMessage && m.Seq == 0
	if r.over != nil || m.Incarnation != r.o.Incarnation || m.Epoch != r.o.Epoch && !(ends && m.Reason == AnotherEpoch) {
		return out, fmt.Errorf("%w: %v is of life %d in epoch %d, this is life %d in epoch %d",
			ErrOtherLife, m, m.Incarnation, m.Epoch, r.o.Incarnation, r.o.Epoch)
	}
	if ends {
		return out, r.ended(m)
	}
	if err := m.number(r.got); err != nil {
		return out, err
	}
	var err error
	switch m.Kind {
	case GrantMessage:
		out, err = r.granted(m, out)
	case PushMessage:
		err = r.pushed(m)
	case RefusedMessage:
		err = r.refused(m)
	case ConfirmedMessage:
		r.confirmed(m)
	case WantedMessage:
		r.alone = false
		if from := len(out); r.keeps {
			out = r.Settle(out)
			out[from].asked = true
		}
	default:
		err = r.malformed(m, "a mirror does not take it")
	}
	if err == nil {
		r.got = m.Seq
	}
	return out, err
}

// malformed is what is wrong with a message.
func (r *Mirror) malformed(m *Message, why string) error {
	return fmt.Errorf("%w: %v to node %d: %s", ErrMalformed, m, r.o.Node, why)
}

// granted tells the places that a message grants something to. It releases what was
// cancelled too late. A grant confirms the last write: the home grants nothing to this
// mirror between the grant of a writer and its release.
func (r *Mirror) granted(m *Message, out []Message) ([]Message, error) {
	for _, id := range m.IDs {
		if p, queued := r.requests[id]; !queued || p.stage == holding || p.mode != m.Mode {
			return out, r.malformed(m, "it grants what nobody asked for")
		}
	}
	if err := r.take(m); err != nil {
		return out, err
	}
	r.wrote, r.ahead, r.alone = 0, false, m.Alone
	for _, id := range m.IDs {
		p := r.requests[id]
		if p.stage == leaving {
			delete(r.requests, id)
			var msg *Message
			out, msg = r.to(ReleaseMessage, out)
			msg.ID, msg.Fence = id, m.Fence
			continue
		}
		p.stage, p.fence = holding, m.Fence
		r.requests[id] = p
		r.holders++
		r.places.Granted(id, m.Stamp)
	}
	return out, nil
}

// pushed takes bytes ahead of their grant.
func (r *Mirror) pushed(m *Message) error {
	if !m.Whole {
		return r.malformed(m, "it brings nothing")
	}
	if err := r.take(m); err != nil {
		return err
	}
	r.ahead = true
	return nil
}

// take makes what a message brings the mirror's bytes. Bytes from the home confirm the
// last write, as a grant does.
func (r *Mirror) take(m *Message) error {
	if !m.Whole {
		if r.known != m.Version+1 {
			return r.malformed(m, "its version is not here")
		}
		return nil
	}
	if r.holders > 0 {
		return r.malformed(m, "it brings bytes while others are in use")
	}
	if err := m.checkContents(r.o.Limit); err != nil {
		return fmt.Errorf("%w: %v to node %d: %w", ErrMalformed, m, r.o.Node, err)
	}
	if s, ok := r.memory.(swapper); !ok || !s.swap(m) {
		if len(r.memory.Bytes()) != m.Size {
			r.memory.Resize(m.Size)
		}
		copy(r.memory.Bytes(), m.Bytes)
	}
	if !m.intact() {
		r.known = 0
		return spoilt(m)
	}
	r.known, r.wrote, r.size = m.Version+1, 0, m.Size
	return nil
}

// refused ends a request.
func (r *Mirror) refused(m *Message) error {
	p, queued := r.requests[m.ID]
	switch {
	case m.Reason == Stale:
		// The books of the two halves differ: there is nothing left to rely on.
		return r.ended(m)
	case !queued || p.stage == holding, m.Reason == Cancelled && p.stage != leaving:
		return r.malformed(m, "it refuses what is not asked for")
	case m.Reason == Aborted, m.Reason == Forbidden:
		if p.stage == asked {
			why := ErrAborted
			if m.Reason == Forbidden {
				why = ErrForbidden
			}
			r.places.Ended(m.ID, why)
		}
		delete(r.requests, m.ID)
	case m.Reason == Cancelled:
		delete(r.requests, m.ID)
	default:
		return r.malformed(m, "it gives no reason")
	}
	return nil
}
