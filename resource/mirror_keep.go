package resource

// keep keeps the end of an access, if it may, for the next request: it is all that this
// node has, has written nothing, and nobody else wants it.
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
