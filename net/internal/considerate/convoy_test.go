package considerate

import (
	"iter"
	"math"
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/rings"
)

// outcome is what the ranks had in a run of the model, after a beginning.
type outcome struct {
	rate    float64 // turns in a second
	cv      float64 // of the ranks' turns
	sleeps  float64 // for a turn, of all turns
	longest time.Duration
}

// play lets ranks take turns for so long, after the beginning.
func (c costs) play(ranks int, crowd *Crowd, beginning, long time.Duration) outcome {
	m := &machine{costs: c, idle: c.processors, end: beginning + long}
	for range ranks {
		r := &rank{m: m, at: never}
		next, stop := iter.Pull(r.program(crowd))
		defer stop()
		defer func() { m.now = never }() // it ends the program before it stops
		r.next = next
		m.all = append(m.all, r)
		r.wait()
	}
	m.until(beginning)
	for _, r := range m.all {
		r.turns0, r.sleeps, r.longest = r.turns, 0, 0
	}
	m.until(m.end)
	var o outcome
	sum, squares := 0.0, 0.0
	for _, r := range m.all {
		sum += float64(r.turns - r.turns0)
		o.sleeps += float64(r.sleeps)
		o.longest = max(o.longest, r.longest, m.now-r.last)
	}
	mean := sum / float64(ranks)
	for _, r := range m.all {
		squares += math.Pow(float64(r.turns-r.turns0)-mean, 2)
	}
	o.rate, o.sleeps = sum/long.Seconds(), o.sleeps/sum
	o.cv = math.Sqrt(squares/float64(ranks)) / mean
	return o
}

// Two schedulers. Figures are rounded from measurements on a virtual machine with 2
// processors.
var (
	// kernel has processes. A yield does nothing, the worst case between sessions.
	kernel = costs{
		processors: 2, slice: 4 * time.Millisecond, change: 2 * time.Microsecond, wake: 3 * time.Microsecond,
		startle: 10 * time.Microsecond, look: 10 * time.Microsecond,
		turn: 50 * time.Nanosecond, pass: 100 * time.Nanosecond, slack: 60 * time.Microsecond,
	}
	// goruntime has goroutines.
	goruntime = costs{
		processors: 2, slice: 2 * time.Millisecond, change: 100 * time.Nanosecond, wake: 100 * time.Nanosecond,
		look: 500 * time.Nanosecond,
		turn: 20 * time.Nanosecond, pass: 100 * time.Nanosecond, yields: true, first: true,
	}
)

// slowly is a kernel that takes as long for a hand-over as was seen in a convoy of 32.
var slowly = kernel.with(func(c *costs) { c.change, c.startle = 10*time.Microsecond, 50*time.Microsecond })

// asleep is a larger machine, seen on one with 16 processors: a processor that has nothing to do
// falls asleep, so that a sleeping rank is ready late. Something else has the first holder's
// processor for a while, and all others go to sleep.
func asleep(c costs) costs {
	return c.with(func(c *costs) { c.startle, c.away = 30*time.Microsecond, time.Millisecond })
}

func (c costs) with(change func(c *costs)) costs {
	change(&c)
	return c
}

// TestConvoy plays crowds on several schedulers. Without the rule each turn costs a
// sleep. With it hardly any does, the rate is several times as high, all ranks have as
// many turns, and none waits for long.
func TestConvoy(t *testing.T) {
	rings.Computes(t)
	for name, c := range map[string]struct {
		costs
		crowd   func(ranks, processors int) *Crowd
		gain    float64       // the least ratio of the rates with and without the rule
		long    time.Duration // the time of the play, for each rank
		longest time.Duration // the longest wait allowed, for each rank
	}{
		"processes":                  {kernel, Processes, 50, 3 * time.Millisecond, 2 * time.Millisecond},
		"processes, slow hand-overs": {slowly, Processes, 200, 3 * time.Millisecond, 2 * time.Millisecond},
		"processes on one processor": {kernel.with(func(c *costs) { c.processors = 1 }),
			Processes, 50, 3 * time.Millisecond, 2 * time.Millisecond},
		"goroutines": {goruntime, Goroutines, 3, time.Millisecond, 20 * time.Microsecond},
		"processes on 32 processors": {asleep(kernel.with(func(c *costs) { c.processors, c.look = 32, 50*time.Microsecond })),
			Processes, 50, 3 * time.Millisecond, 2 * time.Millisecond},
		"goroutines on 16 processors": {asleep(goruntime.with(func(c *costs) { c.processors, c.look = 16, 2*time.Microsecond })),
			Goroutines, 50, time.Millisecond, 20 * time.Microsecond},
	} {
		t.Run(name, func(t *testing.T) {
			for _, ranks := range rings.Of([]int{8}, []int{32}, []int{8, 32}) {
				long, beginning := c.long*time.Duration(ranks), 8*c.slice
				without := c.play(ranks, nil, beginning, long)
				with := c.play(ranks, c.crowd(ranks, c.processors), beginning, long)
				t.Logf("%d ranks: without the rule %+v, with it %+v", ranks, without, with)
				if without.sleeps < 0.9 {
					t.Errorf("%d ranks: no convoy without the rule: %.3f sleeps for a turn", ranks, without.sleeps)
				}
				if with.sleeps > 0.01 {
					t.Errorf("%d ranks: a convoy: %.3f sleeps for a turn", ranks, with.sleeps)
				}
				if gain := with.rate / without.rate; gain < c.gain {
					t.Errorf("%d ranks: the rule makes the rate %.1f times as high, want %.1f", ranks, gain, c.gain)
				}
				if with.cv > 0.15 {
					t.Errorf("%d ranks: the ranks' turns have a cv of %.3f", ranks, with.cv)
				}
				if most := c.longest * time.Duration(ranks); with.longest > most {
					t.Errorf("%d ranks: one waits for %v, want %v at most", ranks, with.longest, most)
				}
			}
		})
	}
}

// TestShortAway lets ranks of a convoy with slow hand-overs stay away for half a
// millisecond at most: the convoy does not end.
func TestShortAway(t *testing.T) {
	crowd := Processes(32, 2)
	crowd.most = 500 * time.Microsecond
	o := slowly.play(32, crowd, 8*slowly.slice, 256*time.Millisecond)
	if o.sleeps < 0.9 {
		t.Errorf("%+v", o)
	}
}
