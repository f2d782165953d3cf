package locks

import (
	"context"

	"github.com/orwl/go-orwl/net/rma"
)

// With Options.StepBack a writer of RMA-RW barges: before it queues up it takes
// the lock, if it can have it at once.
//
//	writers   ─▶ bar every counter ─▶ hold
//	          ─▶ else: tree of queues ─▶ root ─▶ announces itself ─▶ bars ─▶ holds
//
// Where ranks outnumber processors those who wait sleep. A lock that is handed to
// a sleeper is held by nobody until the sleeper runs; meanwhile whoever runs comes
// for the lock and falls asleep behind it, and from then on every turn costs a
// sleep. A barger keeps running instead, and the head of the queues, once it
// runs, stops bargers: see readers. A writer that holds the lock as the head lets
// go of it before it wakes its successor, and passes nothing on.
//
// A barger waits for nobody while it has barred a counter: if it cannot have one
// it lets go of those that it has.

// A barger that finds a reader inside, where each rank has a counter of its own, tries
// again at once: that is one rank, and soon gone, and who queues up instead keeps out
// all readers until it has had its turn. One that finds another writer does not.
//
// A barger that fails at the only counter stays away from it for a while, and
// tries once more: as long as two ranks go for one line of memory neither comes
// far, and one that has it to itself does a hundred sections in that time. It is
// several pauses, since a long one would give away the processor, and come back
// too soon where nobody else wants that. With more counters writers are few, and
// what keeps one out is a reader that is soon gone.
const (
	bargePauses = 4
	bargePause  = 64

	bargeTries  = 3
	bargeMoment = 8
)

// bargeLater is tryBar for who could not have the lock at once, if that comes about soon.
func (l *rmaRW) bargeLater() bool {
	if len(l.dc) > 1 {
		return l.o.TDC == 1 && l.direct && l.bargeAgain()
	}
	pauses := 1 // an operation takes longer than all of them
	if l.direct {
		pauses = bargePauses
	}
	for range pauses {
		l.w.Pause(bargePause)
	}
	if !l.tryBar() {
		return false
	}
	count(&l.counts.Waited)
	return true
}

// bargeAgain is for a barger that has not come past a reader.
func (l *rmaRW) bargeAgain() bool {
	for range bargeTries {
		if l.met&(wanted|barred) != 0 {
			return false
		}
		l.w.Pause(bargeMoment)
		if l.tryBar() {
			count(&l.counts.Waited)
			return true
		}
	}
	return false
}

// barged is acquired for a barger, which went past all levels of the queues.
func (l *rmaRW) barged() {
	if len(l.t.levels) > 1 {
		count(&l.counts.Upper)
	}
	l.acquired(alone)
}

// tryBar bars all counters, or none: it takes the lock if nobody has it and the head has not
// announced itself.
func (l *rmaRW) tryBar() bool {
	for i := range l.dc {
		v := l.dc[i].load()
		if !vacant(v) || l.memory.broken() || !l.dc[i].cas(v, shut(v)) {
			l.lost(i, v)
			return false
		}
		l.state[i] = shut(v)
	}
	return true
}

// lost is for a barger that found that i-th counter was v, and could not have it.
func (l *rmaRW) lost(i int, v uint64) {
	l.met = v
	l.letGo(i)
}

// letGo lets go of the first n counters, which the barger has barred.
func (l *rmaRW) letGo(n int) {
	for i := range n {
		if c, v := &l.dc[i], l.state[i]; !c.cas(v, v+admission(v)) {
			c.letGo(c.load())
		}
	}
}

// vacant reports whether nobody is inside a counter, and no writer has come.
func vacant(v uint64) bool { return (v^v/departOne)&countMask == 0 && v&(wanted|barred) == 0 }

// shut is what a barger makes of a counter that is vacant. All who were away have been
// woken by whoever made it so.
func shut(v uint64) uint64 { return v&^away | barred }

// letGo is admit for a barger that finds the counter other than it has left it. If the
// head has come, it gets the counter instead.
func (c *readers) letGo(v uint64) {
	for {
		next := v + admission(v)
		if v&wanted != 0 {
			next = v &^ (wanted | away)
		}
		if c.cas(v, next) || c.m.broken() {
			break
		}
		v = c.load()
	}
	c.wake()
}

// inherit is bar for a counter that a barger had barred when the head came.
func (c *readers) inherit(ctx context.Context, v uint64) (uint64, error) {
	now, err := c.await(ctx, rma.Is(0).Masked(wanted))
	if err != nil {
		return v, err
	}
	return now, nil
}
