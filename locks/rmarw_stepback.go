package locks

import (
	"context"

	"github.com/orwl/go-orwl/net/rma"
)

// stepBack is Options.StepBack of RMA-RW: where ranks outnumber processors, ranks that wait
// sleep. A lock that is handed to a sleeper is held by no rank until the sleeper runs.
// Meanwhile the ranks that run come for the lock and fall asleep behind it, and from then on
// every turn costs a sleep. So a writer barges: before it queues up it takes the lock, if it
// can have it at once.
//
//	writers   ─▶ bar every counter ─▶ hold
//	          ─▶ else: tree of queues ─▶ root ─▶ announces itself ─▶ bars ─▶ holds
//
// A barger keeps running. The head of the queues, once it runs, stops bargers: see counter.
// A writer that holds the lock as the head lets go of it before it wakes its successor, and
// passes nothing on. A reader that is kept out steps back once.
//
// Neither T_L nor T_W matters then. The writer whose turn it is at the root is overtaken by
// readers as before, and from when it has announced itself at all counters by no writer but
// the one that is inside. Each queue keeps its order, but until its first has announced
// itself any number of bargers may come. A reader that has stepped back is overtaken by any
// number of writers until it comes again, and then by two: the one that is inside and the
// one that has announced itself.
//
// A barger waits for no rank while it has barred a counter: if it cannot have one it lets go
// of those that it has.
type stepBack struct {
	allowed bool   // Options.StepBack
	barged  bool   // the rank holds the lock, and has barged
	met     uint64 // the counter that it could not bar when it tried last
}

// How long a barger that could not have the lock waits before it tries again.
const (
	// At the only counter it stays away for a while, and tries once more: as long as two
	// ranks go for one line of memory neither comes far, and a rank that has it to itself
	// does a hundred sections in that time. These are several pauses, since one long pause
	// gives away the processor.
	bargePauses = 4
	bargePause  = 64

	// Where each rank has a counter of its own it tries again at once, if it has met a
	// reader: that is one rank, and soon gone, and a writer that queues up instead keeps out
	// all readers until it has had its turn. With other counters writers are few, and a
	// barger that meets a reader queues up.
	bargeTries  = 3
	bargeMoment = 8
)

// barge takes the lock past the queues if it is free now, or in a moment, and reports
// whether it did.
func (l *rmaRW) barge() bool {
	if !l.allowed {
		return false
	}
	if l.tryBarge() {
		return true
	}
	only := len(l.dc) == 1
	tries, pauses, pause := 0, 1, bargeMoment
	switch {
	case only:
		tries, pauses, pause = 1, bargePauses, bargePause
	case l.o.TDC == 1:
		tries = bargeTries
	}
	for ; tries > 0 && (only || l.met&(wanted|barred) == 0); tries-- {
		for range pauses {
			l.w.Pause(pause)
		}
		if l.tryBarge() {
			l.counts.waited.Inc()
			return true
		}
	}
	return false
}

// tryBarge takes the lock past the queues if it is free now, and reports whether it did.
func (l *rmaRW) tryBarge() bool {
	if !l.tryBar() {
		return false
	}
	l.barged = true
	l.came(writing, entry{upper: len(l.levels) > 1})
	return true
}

// tryBar bars all counters, or none: it takes the lock if no rank has it and the head has
// not announced itself.
func (l *rmaRW) tryBar() bool { return l.tryBarFrom(l.dc[0].Load()) }

// tryBarFrom is tryBar for a rank that has found the first counter as v.
func (l *rmaRW) tryBarFrom(v uint64) bool {
	for i := range l.dc {
		if i > 0 {
			v = l.dc[i].Load()
		}
		if !vacant(v) || l.broken() || !l.dc[i].CompareAndSwap(v, shut(v)) {
			l.met = v
			l.letGo(i)
			return false
		}
		l.barred[i] = shut(v)
	}
	return !l.broken() // if it is, the counters stay barred
}

// letGo lets go of the first n counters, which the barger has barred.
func (l *rmaRW) letGo(n int) {
	l.barged = false
	for i := range n {
		if c, v := &l.dc[i], l.barred[i]; !c.CompareAndSwap(v, v+admission(v)) {
			c.letGo(c.Load())
		}
	}
}

// vacant reports whether no reader is inside a counter, and no writer has come.
func vacant(v uint64) bool { return (v^v/departOne)&countMask == 0 && v&(wanted|barred) == 0 }

// shut is what a barger makes of a counter that is vacant. The rank that made it vacant has
// woken all readers that were away.
func shut(v uint64) uint64 { return v&^away | barred }

// letGo is admit for a barger whose counter has changed since it barred it. If the head has
// come, it gets the counter instead.
func (c *counter) letGo(v uint64) {
	for {
		next := v + admission(v)
		if v&wanted != 0 {
			next = v &^ (wanted | away)
		}
		if c.CompareAndSwap(v, next) || c.m.broken() {
			break
		}
		v = c.Load()
	}
	c.wake()
}

// inherit is bar for a counter that a barger had barred when the head came.
func (c *counter) inherit(ctx context.Context, v uint64) (uint64, error) {
	now, err := c.await(ctx, rma.Is(0).Masked(wanted))
	if err != nil {
		return v, err
	}
	return now, nil
}

// stepBack takes back a reader that was kept out when it found that, leaving mark, and
// reports whether it did. If not, the reader is in by now, or the window has failed.
func (c *counter) stepBack(found, mark uint64) bool {
	for {
		v := c.Load()
		if (v^found)&epoch != 0 || c.m.broken() {
			return false
		}
		if c.CompareAndSwap(v, (v-arriveOne)|mark) {
			return true
		}
	}
}

// change waits until it may pay to come again, for a reader that has stepped back and left
// away.
func (c *counter) change(ctx context.Context, found uint64) error {
	const all = epoch | wanted | barred | away
	_, err := c.await(ctx, rma.IsNot(found&all|away).Masked(all))
	return err
}
