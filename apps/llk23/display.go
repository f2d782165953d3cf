package main

import (
	"sync/atomic"
	"time"
)

// display is what a stopwatch shows to others while it runs. The watch belongs to its task; a
// reader reads again until all words are of one moment.
//
//	at      0: it is being changed; otherwise when the phase began, and which it is
type display struct {
	at    atomic.Int64
	spent [phases]atomic.Int64
}

const (
	phaseBits = 3
	ended     = phases // no phase: the watch has stopped
)

// show is called by the watch's task, when a phase has begun.
func (d *display) show(s *stopwatch, p phase) {
	d.at.Store(0)
	for phase, spent := range s.spent {
		d.spent[phase].Store(int64(spent))
	}
	d.at.Store((int64(s.since)+1)<<phaseBits | int64(p))
}

// read returns how long the task was in each phase so far, the present one included. A phase
// that is not shown yet may have ended a moment before now, so that the next reading may be
// that much less.
func (d *display) read(now func() time.Duration) (spent [phases]time.Duration) {
	for {
		at := d.at.Load()
		for p := range spent {
			spent[p] = time.Duration(d.spent[p].Load())
		}
		if d.at.Load() != at || at == 0 {
			continue // the task is just about to show the next one
		}
		if p := phase(at & (1<<phaseBits - 1)); p != ended {
			spent[p] += max(0, now()-time.Duration(at>>phaseBits-1))
		}
		return spent
	}
}
