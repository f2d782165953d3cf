package resource

import "sync"

// keepers are the mirrors that have retained a release, or released a write, not long ago. A
// node that comes again and again sends a retained release with its next request, and the
// grant of that confirms the write. If nothing comes between two sweeps, the second sends
// the release, and asks whether the write is committed.
type keepers struct {
	mu  sync.Mutex
	all []*mirror
}

// keep has a mirror looked at by the second sweep from now. The mirror's mutex is held.
func (s *Site) keep(f *mirror) {
	if s.o.Later == nil {
		return
	}
	f.fresh = true
	if !f.keeper {
		f.keeper = true
		s.watch(f)
	}
}

// watch has mirrors looked at later.
func (s *Site) watch(more ...*mirror) {
	k := &s.keepers
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.all) == 0 {
		s.o.Later(s.sweep)
	}
	k.all = append(k.all, more...)
}

// sweep looks at the mirrors for which nothing has come for some time.
func (s *Site) sweep() { s.look(false) }

// Settle sends all releases that are kept. It is for a node that is about to leave,
// so that the others do not take it for one that still holds something.
func (s *Site) Settle() { s.look(true) }

// look looks at all mirrors that may keep something.
func (s *Site) look(all bool) {
	k := &s.keepers
	k.mu.Lock()
	looked := k.all
	k.all = nil
	k.mu.Unlock()
	var stay []*mirror
	for _, f := range looked {
		if f.settle(all) {
			stay = append(stay, f)
		}
	}
	if len(stay) > 0 {
		s.watch(stay...)
	}
}

// settle sends a kept release, and asks for a write that is not confirmed. If that is
// fresh, it does so only if all is set. It reports whether a later sweep must look again.
func (f *mirror) settle(all bool) bool {
	f.mu.Lock()
	defer f.unlock()
	if f.fresh && !all {
		f.fresh = false
		return true
	}
	f.fresh, f.keeper = false, false
	s := f.site.scratch()
	defer f.site.spare(s)
	f.half.Settle(&s.work)
	f.half.Confirm(&s.work)
	f.do(s)
	return false
}
