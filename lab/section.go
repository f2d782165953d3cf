package lab

import (
	"time"

	"github.com/orwl/go-orwl/locks"
)

// loop plays the section until the time is over.
func (r *player) loop() error {
	s := r.b.Section(r.tree.Ranks(), r.c.Step)
	s.Inside.Spin = plus(s.Inside.Spin, r.c.Inside)
	s.After.Spin = plus(s.After.Spin, r.c.Outside)
	if err := r.meet(); err != nil {
		return err
	}
	t := newTurns(r)
	for !t.over {
		turn := s
		if r.c.Recording != nil {
			turn = r.recorded(s)
		}
		if err := r.iterate(&turn, t.timed()); err != nil {
			return err
		}
		t.next()
	}
	t.end()
	return r.meet()
}

func plus(r Range, d time.Duration) Range { return Range{r.Least + int64(d), r.Most + int64(d)} }

// iterate is one iteration.
func (r *player) iterate(s *Section, timed bool) error {
	r.work(&s.Before, true, timed)
	write := r.writes(&r.sides[0])
	if timed {
		return r.iterateTimed(s, write)
	}
	changes, err := r.acquire(0, write)
	if err != nil {
		return err
	}
	r.work(&s.Inside, write, false)
	if err := r.release(0, write, changes); err != nil {
		return err
	}
	r.work(&s.After, true, false)
	return nil
}

// iterateTimed is the same, and reads the clock.
func (r *player) iterateTimed(s *Section, write bool) error {
	comes := r.clock.Now()
	changes, err := r.acquire(0, write)
	if err != nil {
		return err
	}
	has := r.clock.Now()
	r.work(&s.Inside, write, true)
	goes := r.clock.Now()
	if err := r.release(0, write, changes); err != nil {
		return err
	}
	gone := r.clock.Now()
	r.sample.Waits.add(has - comes)
	r.sample.Latency.add(has - comes + gone - goes)
	r.work(&s.After, true, true)
	return nil
}

// turns counts iterations, and knows when the warm-up and the repeat end.
type turns struct {
	r        *player
	n        int // iterations since the last reading of the clock
	total    int
	stride   int // iterations between two readings
	counting bool
	over     bool
	begin    time.Duration // behind the fence
	since    time.Duration // the beginning, then the end of the warm-up
	last     time.Duration // the last reading
	before   locks.Counts
	pacer    Pacer // nil: the loop takes its time
}

const (
	// mostStride bounds how late a rank notices that its time is over.
	mostStride = 64
	// clockShare is how long a rank runs, at least, between two timed iterations.
	clockShare = 4 * time.Microsecond
)

func newTurns(r *player) *turns {
	now := r.clock.Now()
	pacer, _ := r.clock.(Pacer)
	return &turns{r: r, stride: 1, begin: now, since: now, last: now, pacer: pacer}
}

// timed reports whether the next iteration reads the clock.
func (t *turns) timed() bool { return t.n+1 >= t.stride }

// next is the end of an iteration.
func (t *turns) next() {
	r := t.r
	if t.pacer != nil {
		t.pacer.Turn()
	}
	t.total++
	r.probe.turns.Set(uint64(t.total))
	r.sample.Turns++
	if t.n++; t.n < t.stride {
		return
	}
	now := r.clock.Now()
	t.n = 0
	switch {
	case t.counting:
		t.over = t.ended(now)
	case t.warmed(now):
		t.counting, t.since = true, t.counts(now)
		t.before = r.counts()
		r.sample.reset()
		t.over = r.c.Turns == 0 && t.ended(now)
	case !r.b.Every && !r.c.Every && now-t.last < clockShare && t.stride < mostStride && r.c.Turns == 0:
		t.stride *= 2
	}
	t.last = now
}

func (t *turns) warmed(now time.Duration) bool {
	if t.r.c.Turns > 0 {
		return t.total >= max(1, t.r.c.Turns/warm)
	}
	return now-t.begin >= t.r.c.Time/warm
}

// counts is where the counted time begins for a rank whose warm-up has ended by now. Of a time it is no later
// than another tenth: a rank that the lock keeps out does not begin when it gets in.
func (t *turns) counts(now time.Duration) time.Duration {
	if t.r.c.Turns > 0 {
		return now
	}
	return min(now, t.begin+2*t.r.c.Time/warm)
}

func (t *turns) ended(now time.Duration) bool {
	if t.r.c.Turns > 0 {
		return t.r.sample.Turns >= uint64(t.r.c.Turns)
	}
	return now-t.begin >= t.r.c.Time
}

// end notes what was counted.
func (t *turns) end() {
	t.r.sample.Began, t.r.sample.Time = t.since-t.begin, t.last-t.since
	now := t.r.counts()
	t.r.sample.Counts = locks.Counts{
		Acquired: now.Acquired - t.before.Acquired, Waited: now.Waited - t.before.Waited,
		Upper: now.Upper - t.before.Upper, UpperWaited: now.UpperWaited - t.before.UpperWaited,
		Passed: now.Passed - t.before.Passed, Broken: now.Broken - t.before.Broken,
	}
}

// counts are the counts of the rank's side of the first lock.
func (r *player) counts() (c locks.Counts) {
	if len(r.sides) == 0 {
		return c
	}
	if l, ok := r.sides[0].Mutex.(locks.Counter); ok {
		c = l.Counts()
	}
	return c
}
