package resource

// keep keeps the release of an access for the next request, and reports whether it does.
// It does so if this node has no other request, the access wrote nothing, and no other
// node wants it.
func (r *Mirror) keep(a Access) bool {
	if !r.o.Keep || !r.alone || len(r.requests) > 1 || a.Wrote || a.Abandoned {
		return false
	}
	delete(r.requests, a.ID)
	r.holders--
	r.keeps, r.kept = true, a
	return true
}

// Settle sends the release that is kept, if there is one.
func (r *Mirror) Settle(out []Message) []Message {
	if !r.keeps {
		return out
	}
	r.keeps = false
	out, msg := r.to(ReleaseMessage, out)
	msg.ID, msg.Fence = r.kept.ID, r.kept.Fence
	return out
}

// Keeps reports whether there is a release for Settle to send.
func (r *Mirror) Keeps() bool { return r.keeps }
