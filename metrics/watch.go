package metrics

import (
	"context"
	"errors"

	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/internal/tally"
)

// watch observes one place. Only the goroutine that uses the place writes its counts; a
// scrape adds up the counts of all watches. So goroutines share memory only for timed
// accesses.
//
// The place tells the watch twice of an access without times: when it begins to wait,
// and when it releases.
type watch struct {
	// The fields that each access needs, in one cache line.
	released, waited tally.Count
	stood            tally.Count // 1 from the beginning of a wait to the release, else 0
	on               *record
	waits, accesses  pace
	closely          bool // time each wait

	timed bool // the whole present access is timed
	lost  bool // the request has failed and is counted
	asks  bool // it asked the predecessor for the time of its release
	mode  queue.Mode

	m     *Metrics
	task  *task
	place *queue.Place

	resource *queue.Resource
	told     marks
	held     int64 // when it acquired

	cancelled, failed tally.Count
	slept             tally.Count // nanoseconds, in timed waits
	since             tally.Count // when a timed wait began, else 0

	far    *journey        // nil if the resource's home is on this node
	labels context.Context // for profiles; nil without Options.Profile
	seen   uint64          // nanoseconds of waits without times, by glances
}

// marks are the counts of accesses, waits and hand-overs at the last timed one. The next
// timed one stands for all since then.
type marks struct{ accesses, waits, handed uint64 }

// always returns the events that a watch hears of during every access.
func (w *watch) always() queue.Kinds {
	kinds := queue.Waiting | queue.Releasing | queue.Withdrawn | queue.Failed
	if w.far != nil {
		kinds |= queue.Requested | queue.Acquired | queue.GrantedFar
	}
	if w.labels != nil {
		kinds |= queue.Released
	}
	return kinds
}

// Observe implements queue.Observer.
func (w *watch) Observe(e queue.Event) {
	switch e.Kind {
	case queue.Releasing:
		w.releasing(e.Place)
	case queue.Waiting:
		w.waiting(e.Place)
	case queue.Acquired:
		w.acquired(e.Place)
	case queue.Requested:
		w.far.announced = w.m.now()
	case queue.GrantedFar:
		w.far.granted.Store(w.m.now())
	case queue.Released:
		w.task.label(w.task.labels)
	case queue.Withdrawn:
		w.withdrawn()
	case queue.Failed:
		w.fails(e.Err)
	}
}

// counted returns the number of accesses, the present one included, and of waits. Both
// are of one moment, unless the place is too busy for three tries. Waits come first, so
// that they do not exceed the accesses.
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

// waiting counts a wait, and times some.
func (w *watch) waiting(p *queue.Place) {
	w.waited.Inc()
	if w.waits.due() || w.closely {
		w.begins(p)
	}
	// After since, so that a glance does not take a timed wait for one that is not. This
	// order is not certain; a wrong glance adds at most the time since the last one.
	w.stood.Set(1)
}

// begins starts a timed wait.
func (w *watch) begins(p *queue.Place) {
	if w.labels != nil {
		w.task.label(w.labels)
	}
	if w.far != nil {
		w.far.asks(p)
	} else if w.timed {
		w.asks = w.on.ask()
	}
	if !w.timed {
		p.Observe(w, w.always()|queue.Acquired)
	}
	w.since.Set(uint64(w.m.now()))
}

// acquired ends a timed wait, and begins a timed access.
func (w *watch) acquired(p *queue.Place) {
	if w.far != nil {
		w.far.ends(w, p)
	}
	now := int64(0)
	if w.since.Own() != 0 {
		now = w.woken(p)
	}
	if !w.timed {
		p.Observe(w, w.always())
		return
	}
	if now == 0 {
		now = w.m.now()
	}
	w.held = now
	if w.far == nil {
		w.m.queued.observe(int64(w.resource.Inspect().Queued()), w.released.Own()+1-w.told.accesses)
	}
}

// woken ends a timed wait and returns the time. The wait stands for all waits since the
// last timed one.
func (w *watch) woken(p *queue.Place) (now int64) {
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
		// A release before the wait began did not end the wait.
		if left := w.on.answer(p.Resource(), w.mode); left >= since {
			w.m.local.observe(now-left, all-w.told.handed)
			w.told.handed = all
		}
	}
	return now
}

// releasing counts an access. It comes before others can acquire.
func (w *watch) releasing(p *queue.Place) {
	w.released.Inc()
	w.stood.Set(0)
	if w.accesses.due() || w.on.wants.Load() != 0 {
		w.lets(p)
	}
}

// lets does the part of a release that most releases do not need.
func (w *watch) lets(p *queue.Place) {
	if w.on.wants.Load() != 0 {
		w.on.tell(w, p)
	}
	if w.accesses.left <= 0 {
		w.times(p)
	}
}

// times ends a timed access, or arranges that the next one is timed.
func (w *watch) times(p *queue.Place) {
	if !w.timed {
		w.timed, w.closely = true, true
		p.Observe(w, w.always()|queue.Acquired)
		return
	}
	now, all := w.m.now(), w.released.Own()
	stands := all - w.told.accesses
	w.told.accesses = all
	w.m.ordered[w.mode].hold.observe(now-w.held, stands)
	if w.mode == queue.Write && w.far == nil {
		w.on.group(p.Resource(), stands)
	}
	w.accesses.next(now, stands, spendingOnAccesses*w.m.places.Load(), w.m.sample)
	w.accesses.left-- // the access before a timed one arranges it
	w.timed = w.accesses.left <= 0
	w.closely = w.timed || w.far != nil || w.labels != nil
	if w.timed {
		p.Observe(w, w.always()|queue.Acquired)
	} else {
		p.Observe(w, w.always())
	}
}

// withdrawn counts a cancelled request, unless it has failed before.
func (w *watch) withdrawn() {
	w.gives()
	if w.lost {
		w.lost = false
	} else {
		w.cancelled.Inc()
	}
}

// fails counts a failed request. It does not count a failed release: the access is counted
// already.
func (w *watch) fails(err error) {
	var e *queue.PlaceError
	if errors.As(err, &e) && e.Op == "acquire" && !w.lost {
		w.gives()
		w.lost = true
		w.failed.Inc()
	}
}

// gives ends a wait that ended without access.
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
