package metrics

import (
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"time"

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

	far  *journey // nil if the resource's home is on this node
	seen uint64   // nanoseconds of waits without times, by glances
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
	w.closely = w.timed || w.far != nil
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

// pace is how often something is timed. To read a clock twice and store the result takes
// about as long as half a hand-over between two goroutines that do nothing else. So each
// timing computes from the time since the last one how many to skip: slow accesses are timed
// each time, and the quicker they are, the fewer. Counts are always exact.
type pace struct {
	left  int32  // accesses until the next one that is timed
	noise uint32 // random, to stay out of step with a program that has a rhythm
	last  int64  // when the last timed access was
}

// due reports whether to time this one.
func (p *pace) due() bool {
	p.left--
	return p.left <= 0
}

// How many nanoseconds go by for each that is timed, at least, for each place of the
// process: about 2 % of them are spent on either.
const (
	spendingOnWaits    = 20_000
	spendingOnAccesses = 150_000
)

// next begins to count anew: so many have gone by since the last one, now included.
func (p *pace) next(now int64, gone uint64, spending int64, most int32) {
	each := max(1, (now-p.last)/int64(max(1, gone)))
	span := int32(min(int64(most), (spending+each-1)/each))
	p.left = span
	if p.last == 0 {
		p.left = 1 // how long it takes is not known yet
	} else if span > 2 {
		p.noise = p.noise*1664525 + 1013904223
		p.left += int32(p.noise>>16)%span - span/2
	}
	p.last = now
}

// journey follows the requests of a place whose resource has its home on another node.
// The bytes travel while the task works on something else, or waits. Every journey is
// timed: a message takes far longer than that.
//
//	announced ───────── asks ───────── granted ──▶ acquired
//	   └──── hidden ─────┘└──── waits ────┘└ remote ┘
type journey struct {
	announced int64
	granted   atomic.Int64 // set by the goroutine that receives the grant
	before    int          // bytes that were here when Acquire was called

	accesses, hits, inTime, late tally.Count
	hidden                       tally.Count // nanoseconds
}

// asks notes how many bytes are here when the place begins to wait.
func (j *journey) asks(p *queue.Place) { _, j.before = p.Here() }

// ends ends a journey: the place of w has acquired.
func (j *journey) ends(w *watch, p *queue.Place) {
	_, came := p.Here()
	granted := j.granted.Load()
	asked := granted
	j.accesses.Inc()
	if since := int64(w.since.Own()); since != 0 {
		asked = min(since, granted)
		w.m.remote.observe(w.m.now()-granted, 1)
		j.late.Add(uint64(came - j.before))
		j.inTime.Add(uint64(j.before))
	} else {
		j.hits.Inc()
		j.inTime.Add(uint64(came))
	}
	if asked > j.announced {
		j.hidden.Add(uint64(asked - j.announced))
	}
}

// record is shared by the places of a resource. Now and then one of them asks for something
// that others see. Only then do they all write here.
type record struct {
	wants  atomic.Uint32
	places atomic.Uint32
	asked  atomic.Uint32 // how often a place called ask

	// The last release since a place asked: when it was, and how many were through before.
	left    atomic.Int64
	through atomic.Uint64

	// For the writer that holds: how many were through when it asked, and for how many
	// groups that stands.
	before queue.State
	stands uint64
}

// The values of wants, added up.
const (
	wantsLeft  = 1 << iota // when the one before lets go
	wantsGroup             // how many readers come until the next writer
)

// ask has releases tell when they come, and reports whether it was possible. As each
// of them looks at a clock until there is an answer, every place asks seldom.
func (r *record) ask() bool {
	if r.asked.Add(1)%max(1, r.places.Load()) != 0 {
		return false
	}
	r.left.Store(0)
	return r.wants.Or(wantsLeft)&wantsLeft == 0
}

// answer is when the release was that has let the asker in, 0 if that is not known:
// it may have come from another node.
func (r *record) answer(of *queue.Resource, mode queue.Mode) int64 {
	left, through, now := r.left.Load(), r.through.Load(), of.Inspect()
	r.wants.And(^uint32(wantsLeft))
	if mode == queue.Read {
		// Other readers of the group may be through already.
		now.Readers.Through = uint32(through)
	}
	if both(now) != through+1<<32 && both(now) != through+1 {
		return 0
	}
	return left
}

// both are the writers and the readers that are through.
func both(t queue.State) uint64 {
	return uint64(t.Writers.Through)<<32 | uint64(t.Readers.Through)
}

// tell answers what other places want, before the place of w releases.
func (r *record) tell(w *watch, p *queue.Place) {
	wants := r.wants.Load()
	if wants&wantsLeft != 0 {
		r.through.Store(both(p.Resource().Inspect()))
		r.left.Store(w.m.now())
	}
	if wants&wantsGroup != 0 && w.mode == queue.Write {
		r.wants.And(^uint32(wantsGroup))
		t := p.Resource().Inspect()
		readers := t.Readers.Through - r.before.Readers.Through
		if t.Writers.Through-r.before.Writers.Through == 1 && readers > 0 {
			w.m.groups.observe(int64(readers), r.stands)
		}
	}
}

// group has the next writer tell how many readers were before it. It is for the writer
// that holds.
func (r *record) group(of *queue.Resource, stands uint64) {
	r.before, r.stands = of.Inspect(), stands
	r.wants.Or(wantsGroup)
}

// A wait without times is seen by glances. A goroutine looks now and then which places
// wait. It assumes that each of them has waited since the last glance. The average is
// right for long and short waits, and the waiting tasks pay nothing.
const (
	glancePeriod = 5 * time.Millisecond
	glanceJitter = 2 * time.Millisecond // keeps the glances out of step with the program
	// Each manyPlaces places make the glances rarer by one glancePeriod.
	manyPlaces = 4096
)

// glances repeats glance until stop is closed.
func (m *Metrics) glances(stop <-chan struct{}) {
	for {
		slower := 1 + time.Duration(m.places.Load()/manyPlaces)
		timer := time.NewTimer(slower * (glancePeriod + rand.N(glanceJitter)))
		select {
		case <-stop:
			timer.Stop()
			return
		case <-timer.C:
			m.glance()
		}
	}
}

// glance looks once at all places.
func (m *Metrics) glance() {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	for _, w := range m.watches {
		if w.sleeps() && w.since.Load() == 0 {
			w.seen += uint64(now - m.glanced)
		}
	}
	m.glanced = now
}

// sleeps reports whether the place waits now. A wait ends when the task has acquired, as
// in a timed wait: a granted step may miss other accesses, or a worker.
func (w *watch) sleeps() bool {
	if w.stood.Load() == 0 {
		return false
	}
	return w.place.Inspect(w.resource).Requested
}

// look reports whether the place waits now, and the total time of its waits so far: the
// timed ones, the one that is being timed, and the seen ones.
func (w *watch) look(now int64) (waits bool, nanoseconds uint64) {
	nanoseconds = w.slept.Load() + w.seen // first: a wait that ends now counts next time
	if since := w.since.Load(); since != 0 {
		nanoseconds += uint64(max(0, now-int64(since)))
	}
	return w.sleeps(), nanoseconds
}

// begin starts the glances with the first task, and end stops them after the last. m.mu
// is held.
func (m *Metrics) begin() {
	if m.running++; m.running == 1 {
		m.glanced = m.now()
		stop := make(chan struct{})
		m.stop = stop
		go m.glances(stop)
	}
}

func (m *Metrics) end() {
	if m.running--; m.running == 0 {
		close(m.stop)
	}
}
