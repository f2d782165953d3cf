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

// change waits until it may pay to come again, for a reader that has stepped back and left
// away.
func (c *counter) change(ctx context.Context, found uint64) error {
	const all = epoch | wanted | barred | away
	_, err := c.await(ctx, rma.IsNot(found&all|away).Masked(all))
	return err
}
