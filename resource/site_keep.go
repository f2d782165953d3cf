package resource

import "sync"

// keepers are the mirrors that have kept a release not long ago: see Mirror.Release.
// Whoever comes again and again takes it along with the next request; what nothing has
// taken along between two sweeps is sent by the second.
type keepers struct {
	mu  sync.Mutex
	all []*mirrored
}

// keep notes that a mirror, whose mutex is held, has kept a release.
func (s *Site) keep(f *mirrored) {
	f.fresh = true
	if !f.keeper {
		f.keeper = true
		s.watch(f)
	}
}

// watch has mirrors looked at later.
func (s *Site) watch(more ...*mirrored) {
	k := &s.keepers
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.all) == 0 {
		s.o.Later(s.sweep)
	}
	k.all = append(k.all, more...)
}

// sweep sends what was kept for so long that nothing seems to come any more.
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
	var stay []*mirrored
	for _, f := range looked {
		if f.settle(all) {
			stay = append(stay, f)
		}
	}
	if len(stay) > 0 {
		s.watch(stay...)
	}
}

// settle sends what is kept if it is not fresh, or all is to be sent, and reports
// whether there may be something to send later.
func (f *mirrored) settle(all bool) bool {
	f.mu.Lock()
	defer f.unlock()
	if f.fresh && !all {
		f.fresh = false
		return true
	}
	f.fresh, f.keeper = false, false
	s := f.site.scratch()
	defer f.site.spare(s)
	s.out = f.mirror.Settle(s.out)
	f.send(s)
	return false
}
