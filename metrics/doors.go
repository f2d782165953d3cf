package metrics

import (
	"sync/atomic"

	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/resource"
)

// door counts who goes through the relaxed doors with one kind of lock.
type door struct {
	m     *Metrics
	guard string
	every uint32 // visit that is timed
	modes [2]struct {
		times
		acquired, waited, cancelled, failed atomic.Uint64

		knocks  atomic.Uint32
		untimed visit // of all that are not timed
	}
}

// doorSample is of how many visits one is timed, at most, and stands for the others.
const doorSample = 16

var _ orwl.DoorObserver = (*Metrics)(nil)

// Door implements orwl.DoorObserver.
func (m *Metrics) Door(guard string) resource.DoorObserver {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, d := range m.doors {
		if d.guard == guard {
			return d
		}
	}
	d := &door{m: m, guard: guard, every: uint32(min(m.sample, doorSample))}
	in := seconds()
	for i := range d.modes {
		d.modes[i].times = times{in.new(), in.new()}
		d.modes[i].untimed = visit{door: d, mode: resource.Mode(i), untimed: true}
	}
	m.doors = append(m.doors, d)
	return d
}

// visit is one way through a door.
type visit struct {
	door    *door
	mode    resource.Mode
	since   int64 // it waits, or holds
	waiting bool
	untimed bool // it only counts, and is many visits at a time
}

// Knocked implements resource.DoorObserver.
func (d *door) Knocked(mode resource.Mode) resource.Visit {
	of := &d.modes[mode]
	if of.knocks.Add(1)%d.every != 0 {
		return &of.untimed
	}
	return &visit{door: d, mode: mode}
}

// Waiting implements resource.Visit.
func (v *visit) Waiting() {
	v.door.modes[v.mode].waited.Add(1)
	if !v.untimed {
		v.waiting, v.since = true, v.door.m.now()
	}
}

// Entered implements resource.Visit.
func (v *visit) Entered(err error) {
	d := &v.door.modes[v.mode]
	now := int64(0)
	if !v.untimed {
		now = v.door.m.now()
		defer func() { v.since = now }()
	}
	switch {
	case err != nil && ended(err):
		d.cancelled.Add(1)
	case err != nil:
		d.failed.Add(1)
	case v.waiting:
		d.acquired.Add(1)
		d.wait.observe(now-v.since, uint64(v.door.every))
	default:
		d.acquired.Add(1)
	}
}

// Left implements resource.Visit.
func (v *visit) Left() {
	if !v.untimed {
		v.door.modes[v.mode].hold.observe(v.door.m.now()-v.since, uint64(v.door.every))
	}
}

func (m *Metrics) collectDoors(s sink) {
	var of [len(modes)]sums
	for _, d := range m.doors {
		for _, mode := range modes {
			c := &d.modes[mode]
			waited, got := c.waited.Load(), c.acquired.Load()
			t := &of[mode]
			t.acquired += got
			t.waited += waited
			t.cancelled += c.cancelled.Load()
			t.failed += c.failed.Load()
			s.histogram("orwl_acquire_wait_seconds", c.wait, got-min(got, waited), mode.String(), relaxed, d.guard)
			s.histogram("orwl_hold_seconds", c.hold, 0, mode.String(), relaxed, d.guard)
		}
	}
	for _, mode := range modes {
		t, name := of[mode], mode.String()
		s.count("orwl_accesses_total", t.acquired, name, relaxed, acquired)
		s.count("orwl_accesses_total", t.cancelled, name, relaxed, cancelled)
		s.count("orwl_accesses_total", t.failed, name, relaxed, failed)
		s.count("orwl_waits_total", t.waited, name, relaxed)
	}
}
