package meter

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/orwl/go-orwl/net/rma"
)

// Ranks that sleep. A rank that wakes another one spends Scheduler.Wake on it. If a processor is
// idle, it runs the other rank after Scheduler.Startle. If none is, the other rank waits until a
// processor changes from one rank to the next, which takes Scheduler.Change.

// Awaken measures a wake-up from one processor to another: rank 0 wakes rank 1, which sleeps, and goes on
// running until it sees rank 1's answer. All ranks call it, which have a processor each. Rank 0 gets the time
// from the end of its operation until rank 1 runs.
func (m *Meter) Awaken(ctx context.Context, w rma.Window, now func() time.Duration) (startle float64, err error) {
	const (
		tries  = 101
		asleep = time.Millisecond // after that the processor of a rank that sleeps is idle, too
	)
	r := &measurement{Meter: m, ctx: ctx, w: w, epoch: m.epochs.At(w), now: now}
	if err := r.epoch.Fence(ctx); err != nil {
		return 0, err
	}
	const other = rma.Rank(1)
	var startles []float64
	for turn := uint64(1) << 32; turn < 1<<32+tries; turn++ { // no word is that large yet
		switch w.Rank() {
		case 0:
			for begin := now(); now()-begin < asleep; {
				w.Pause(shortPause)
			}
			w.Put(other, m.ping, turn)
			w.Flush(other)
			woke := now()
			for w.Get(0, m.ping) != turn {
			}
			startles = append(startles, float64(now()-woke))
		case other:
			if _, err := w.Await(ctx, other, m.ping, rma.Is(turn)); err != nil {
				return 0, err
			}
			w.Put(0, m.ping, turn)
		}
	}
	if w.Rank() == 0 {
		slices.Sort(startles)
		startle = startles[tries/2]
	}
	return startle, r.epoch.Fence(ctx)
}

// Crowd measures a hand-over on one processor: a token goes round all ranks, which outnumber the processors, and
// each sleeps until it comes. All ranks call it. Rank 0 gets what a wake-up takes of the rank that makes it, and
// the rest of a hop: the processor changes from one rank to the next.
func (m *Meter) Crowd(ctx context.Context, w rma.Window, now func() time.Duration) (wake, change float64, err error) {
	const tries, rounds = 5, 50
	r := &measurement{Meter: m, ctx: ctx, w: w, epoch: m.epochs.At(w), now: now}
	n := rma.Rank(m.tree.Ranks())
	me, next := w.Rank(), (w.Rank()+1)%n
	clock := r.median(func() { now() })
	hop := math.Inf(1)
	var wakes []float64
	put := func(turn uint64) {
		began := now()
		w.Put(next, m.ping, turn)
		w.Flush(next)
		wakes = append(wakes, float64(now()-began)-clock)
	}
	for try := range uint64(tries) {
		if err := r.epoch.Fence(ctx); err != nil {
			return 0, 0, err
		}
		begin := now()
		for i := range uint64(rounds) {
			turn := 2 + try*rounds + i // 0 and 1 were the first words
			if me == 0 {
				put(turn)
			}
			if _, err := w.Await(ctx, me, m.ping, rma.Is(turn)); err != nil {
				return 0, 0, err
			}
			if me != 0 {
				put(turn)
			}
		}
		hop = min(hop, float64(now()-begin)/float64(rounds*int(n))-2*clock)
	}
	slices.Sort(wakes)
	wake = min(hop, max(0, wakes[len(wakes)/2]))
	return wake, hop - wake, r.epoch.Fence(ctx)
}
