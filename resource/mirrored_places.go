package resource

// What the mirror asks of its node: places to be told, and memory.

// Granted has the place of a request woken.
func (f *mirrored) Granted(id ID, s Stamp) {
	// Whoever reads beside it has the same, and looks at it at any time.
	if l := &f.r.ledger; l.version.Own() != s.Version || l.prior != s.Prior {
		l.version.Set(s.Version)
		l.prior = s.Prior
	}
	f.r.ledger.fence.Set(s.Fence) // for Inspect
	r := f.mirror.requests[id]
	r.came = f.came - r.came
	if r.by != nil && r.came > 0 {
		r.by.arrived(int(r.came))
	}
	if r.w != nil && r.stage != leaving && r.by.hears(GrantedFar) {
		r.by.tell(GrantedFar)
	}
	f.rouse(id, &r)
	f.mirror.requests[id] = r
}

// pushed tells the waiting places that the bytes have come ahead of the grant.
func (f *mirrored) pushed(bytes int) {
	for _, r := range f.mirror.requests {
		if r.stage == asked && r.by != nil {
			r.by.arrived(bytes)
		}
	}
}

// Ended has the place of a request woken, or told that it has lost what it holds.
func (f *mirrored) Ended(id ID, err error) {
	if f.ends == nil {
		f.ends = make(map[ID]error)
	}
	f.ends[id] = err
	r := f.mirror.requests[id]
	if r.stage == holding {
		f.site.counts.revoked.Add(1)
		f.site.ended(Ending{Resource: f.r, Node: f.site.o.Node, Grants: 1, Fence: r.fence, Why: err})
	}
	if !r.in {
		f.rouse(id, &r)
		return
	}
	f.uses++
	if l := f.r.losses.Load(); l != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		if tell := l.calls[r.by]; tell != nil {
			delete(l.calls, r.by)
			f.calls = append(f.calls, call{tell, err})
		}
	}
}

// watched is called when a place that holds has asked to be told of its loss, which
// may have come before.
func (f *mirrored) watched(p *Place) {
	f.mu.Lock()
	defer f.unlock()
	id := idOf(p.state.Load())
	if _, held := f.mirror.requests[id]; held {
		return
	}
	l := f.r.losses.Load()
	l.mu.Lock()
	defer l.mu.Unlock()
	if tell := l.calls[p]; tell != nil {
		delete(l.calls, p)
		f.calls = append(f.calls, call{tell, f.end(id)})
	}
}

// Bytes are the node's one copy.
func (f *mirrored) Bytes() []byte { return f.r.bytes }

// swap may take the home's bytes as they are, if no access uses the old bytes.
func (f *mirrored) swap(m *Message) bool { return f.uses == 0 && f.r.swap(m) }

// Resize changes the size of the copy. Memory that cannot be had breaks the
// resource here.
func (f *mirrored) Resize(n int) {
	if err := f.r.resize(n); err != nil {
		f.fault = err
	}
}

// holds reports whether a request is granted.
func (f *mirrored) holds(id ID) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.mirror.requests[id].stage == holding
}

// size is the size of the bytes once a request is granted, 0 before.
func (f *mirrored) size(id ID) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.mirror.requests[id].stage != holding || f.isBroken() {
		return 0
	}
	return len(f.r.bytes)
}

// fence is the fence of a place's grant.
func (f *mirrored) fence(p *Place) uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.mirror.requests[idOf(p.state.Load())].fence
}

// ended is why an access is over, or nil.
func (f *mirrored) ended(id ID) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, queued := f.mirror.requests[id]; queued {
		return nil
	}
	return f.end(id)
}

// here is how many bytes are here that need not travel any more for a request, and
// how many have come since it was announced.
func (f *mirrored) here(id ID) (here, came int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r, queued := f.mirror.requests[id]
	switch {
	case !queued:
		return 0, 0
	case r.stage == holding:
		return len(f.r.bytes), int(r.came)
	}
	if f.mirror.ahead || f.mirror.holders > 0 {
		here = len(f.r.bytes)
	}
	return here, int(f.came - r.came)
}
