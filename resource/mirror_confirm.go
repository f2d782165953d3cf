package resource

// A release tells its writer nothing about the home: the bytes are under way. The mirror
// learns that a write is committed from what the home sends next.
//
//	mirror ──Release, wrote──▶ home        home ──Grant, or bytes──▶ mirror   confirmed
//	mirror ──Confirm─────────▶ home        home ──Confirmed────────▶ mirror   confirmed
//	                                       the life of the mirror ends        WriteLost
//
// At most one write is not confirmed at a time: the next writer on this node needs a grant,
// and the grant confirms the write before. Only a node that sends no further request, or
// waits behind others, has to ask.

// Confirm asks the home whether it has the last write. It asks nothing if that is known, or
// was asked before.
func (r *Mirror) Confirm(out []Message) []Message {
	if r.wrote == 0 || r.queried {
		return out
	}
	r.queried = true
	out, msg := r.to(ConfirmMessage, out)
	msg.Fence = r.wrote
	return out
}

// Unconfirmed is the fence of the last write that was released and that the home has not
// confirmed, 0 if there is none.
func (r *Mirror) Unconfirmed() uint64 { return r.wrote }

// confirmed takes the answer. It may be late, after a grant and another write.
func (r *Mirror) confirmed(m *Message) {
	if m.Fence == r.wrote {
		r.wrote = 0
	}
}
