package metrics

import (
	"context"
	"errors"

	"github.com/orwl/go-orwl/internal/tally"
	"github.com/orwl/go-orwl/resource"
)

// watch looks at one place. What it counts is the own of the goroutine that uses
// the place; who scrapes adds up all of them. So nobody meets anybody in memory, but
// for what is timed.
//
// Of an access that is not timed it is told twice: if it waits, and when it releases.
type watch struct {
	// What is needed each time, in a cache line of its own.
	released, waited tally.Count
	stood            tally.Count // 1 from when it waits until it releases
	on               *record
	waits, accesses  pace
	closely          bool // each wait is to be looked at

	timed bool // all of the present access is
	lost  bool // the request has failed, and is counted
	asks  bool // it wants to know when whoever is before it lets go
	mode  resource.Mode

	m     *Metrics
	task  *task
	place *resource.Place

	resource *resource.Resource
	told     marks
	held     int64 // since when it holds

	cancelled, failed tally.Count
	slept             tally.Count // nanoseconds, by what was timed
	since             tally.Count // when it began to wait, if that is timed, else 0

	far    *journey        // nil unless the resource's home is on another node
	labels context.Context // for profiles, nil if nobody wants them
	seen   uint64          // nanoseconds that it was seen to wait, without being timed
}

// marks are how many accesses, waits and hand-overs those stand for that were timed.
type marks struct{ accesses, waits, handed uint64 }

// always is what a watch is told of in any case.
func (w *watch) always() resource.Events {
	e := resource.Waits
	if w.far != nil {
		e |= resource.Requests | resource.Acquisitions
	}
	if w.labels != nil {
		e |= resource.Releases
	}
	return e
}

// counted is how many accesses there were, with the present one, and how many waits: of
// one moment, unless the place never stands still. Waits are looked at first, so that they
// are not more than the accesses.
func (w *watch) counted() (got, waited uint64) {
	for range 3 {
		waited, got = w.waited.Load(), w.released.Load()
		if w.place.Held() {
			got++
		}
		if w.waited.Load() == waited {
			break
		}
	}
	return got, waited
}

// Requested implements resource.Observer.
func (w *watch) Requested(*resource.Place) {
	if w.far != nil {
		w.far.announced = w.m.now()
	}
}

// Waiting implements resource.Observer.
func (w *watch) Waiting(p *resource.Place) {
	w.waited.Inc()
	if w.waits.due() || w.closely {
		w.begins(p)
	}
	// After since, so that a glance does not take a timed wait for one that is not. This
	// order is not certain; a wrong glance adds at most the time since the last one.
	w.stood.Set(1)
}

// begins is the beginning of a wait that is timed.
func (w *watch) begins(p *resource.Place) {
	if w.labels != nil {
		w.task.label(w.labels)
	}
	if w.far != nil {
		w.far.asks(p)
	} else if w.timed {
		w.asks = w.on.ask()
	}
	if !w.timed {
		p.Hear(w, w.always()|resource.Acquisitions)
	}
	w.since.Set(uint64(w.m.now()))
}

// Acquired implements resource.Observer.
func (w *watch) Acquired(p *resource.Place) {
	if w.far != nil {
		w.far.ends(w, p)
	}
	now := int64(0)
	if w.since.Own() != 0 {
		now = w.woken(p)
	}
	if !w.timed {
		p.Hear(w, w.always())
		return
	}
	if now == 0 {
		now = w.m.now()
	}
	w.held = now
	if w.far == nil {
		w.m.queued.observe(int64(p.Resource().Tally().Queued()), w.released.Own()+1-w.told.accesses)
	}
}

// woken ends a wait that is timed, which stands for all since the last one, and
// returns when.
func (w *watch) woken(p *resource.Place) (now int64) {
	now = w.m.now()
	since := int64(w.since.Own())
	took := now - since
	all := w.waited.Own()
	weight := all - w.told.waits
	w.told.waits = all
	w.since.Set(0)
	w.waits.next(now, weight, spendingOnWaits*w.m.places.Load(), w.m.sample)
	w.m.ordered[w.mode].wait.observe(took, weight)
	w.slept.Add(uint64(took))
	if w.asks {
		w.asks = false
		// What was left before the wait began was not waited for.
		if left := w.on.answer(p.Resource(), w.mode); left >= since {
			w.m.local.observe(now-left, all-w.told.handed)
			w.told.handed = all
		}
	}
	return now
}

// Releasing implements resource.Releaser.
func (w *watch) Releasing(p *resource.Place) {
	w.released.Inc()
	w.stood.Set(0)
	if w.accesses.due() || w.on.wants.Load() != 0 {
		w.lets(p)
	}
}

// lets is a release of which there is more to do than to count it.
func (w *watch) lets(p *resource.Place) {
	if w.on.wants.Load() != 0 {
		w.on.tell(w, p)
	}
	if w.accesses.left <= 0 {
		w.times(p)
	}
}

// times ends an access that was timed, or has the next one timed.
func (w *watch) times(p *resource.Place) {
	if !w.timed {
		w.timed, w.closely = true, true
		p.Hear(w, w.always()|resource.Acquisitions)
		return
	}
	now, all := w.m.now(), w.released.Own()
	stands := all - w.told.accesses
	w.told.accesses = all
	w.m.ordered[w.mode].hold.observe(now-w.held, stands)
	if w.mode == resource.Write && w.far == nil {
		w.on.group(p.Resource(), stands)
	}
	w.accesses.next(now, stands, spendingOnAccesses*w.m.places.Load(), w.m.sample)
	w.accesses.left-- // the one before it has it timed
	w.timed = w.accesses.left <= 0
	w.closely = w.timed || w.far != nil || w.labels != nil
	if w.timed {
		p.Hear(w, w.always()|resource.Acquisitions)
	} else {
		p.Hear(w, w.always())
	}
}

// Released implements resource.Observer.
func (w *watch) Released(*resource.Place) {
	if w.labels != nil {
		w.task.label(w.task.labels)
	}
}

// Cancelled implements resource.Observer.
func (w *watch) Cancelled(*resource.Place) {
	w.gives()
	if w.lost {
		w.lost = false
	} else {
		w.cancelled.Inc()
	}
}

// Failed implements resource.Failer. Of a release that has failed there is nothing
// to count: the access is.
func (w *watch) Failed(_ *resource.Place, err error) {
	var e *resource.PlaceError
	if errors.As(err, &e) && e.Op == "acquire" && !w.lost {
		w.gives()
		w.lost = true
		w.failed.Inc()
	}
}

// gives ends a wait that was in vain.
func (w *watch) gives() {
	w.stood.Set(0)
	if since := w.since.Own(); since != 0 {
		w.since.Set(0)
		w.told.waits = w.waited.Own()
		w.slept.Add(uint64(w.m.now()) - since)
	}
	if w.asks {
		w.asks = false
		w.on.wants.And(^uint32(wantsLeft))
	}
}
