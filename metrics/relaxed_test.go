package metrics

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"

	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/orwl"
)

// Relaxed accesses are counted beside ordered ones, and each time that is taken stands for several
// accesses.
func TestRelaxed(t *testing.T) {
	for sample, holds := range map[int]float64{1: 3, 2: 2, 0: 0} {
		t.Run(fmt.Sprint(sample), func(t *testing.T) { relaxedAccesses(t, sample, holds) })
	}
}

func relaxedAccesses(t *testing.T, sample int, holds float64) {
	m, registry := made(t, Options{Sample: sample})
	rt, err := orwl.New(orwl.Options{Observers: []orwl.Observer{m}})
	if err != nil {
		t.Fatal(err)
	}
	r := rt.Resource("r", 8)
	ctx := context.Background()
	for range 3 {
		in, err := r.Relaxed(ctx, queue.Write)
		if err != nil {
			t.Fatal(err)
		}
		in.Leave()
	}
	if _, _, err := (*queue.Resource)(r).Snapshot(ctx, nil); err != nil {
		t.Fatal(err)
	}
	over, end := context.WithCancel(ctx)
	end()
	var p queue.Place
	if err := errors.Join(p.Request((*queue.Resource)(r), queue.Write), p.Acquire(ctx)); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Relaxed(over, queue.Read); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if err := p.Release(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		mode, outcome string
		want          float64
	}{{"write", "acquired", 3}, {"read", "acquired", 1}, {"read", "cancelled", 1}, {"write", "failed", 0}} {
		if got := value(t, registry, "orwl_accesses_total", "mode="+c.mode, "access=relaxed", "outcome="+c.outcome); got != c.want {
			t.Errorf("%s %s: %v, want %v", c.mode, c.outcome, got, c.want)
		}
	}
	if got := value(t, registry, "orwl_hold_seconds", "mode=write", "access=relaxed", "algorithm=RMA-RW"); got != holds {
		t.Errorf("%v holds, want %v", got, holds)
	}
}

// A relaxed access has a waiting time and a holding time, and none is kept when it has ended.
// One of so many accesses is timed, of readers and writers alike.
func TestRelaxedTimes(t *testing.T) {
	c := new(clock)
	m, registry := made(t, Options{Sample: 1, clock: c.read})
	r, err := queue.New("r", 8)
	if err != nil {
		t.Fatal(err)
	}
	d := m.relaxedOf("RMA-RW")
	tell := func(number uint64, kinds ...queue.Kinds) {
		for _, kind := range kinds {
			d.Observe(queue.Event{Kind: kind, Mode: queue.Write, Resource: r, Relaxed: number, Err: context.Canceled})
			c.add(time.Second)
		}
	}
	tell(1, queue.RelaxedWaiting, queue.RelaxedAcquired, queue.RelaxedReleased)
	tell(2, queue.RelaxedAcquired, queue.RelaxedReleased)
	for name, want := range map[string][2]float64{"orwl_acquire_wait_seconds": {2, 1}, "orwl_hold_seconds": {2, 2}} { // number and sum
		each(t, registry, name, []string{"access=relaxed", "mode=write"}, func(h *dto.Metric) {
			n, sum := h.Histogram.GetSampleCount(), h.Histogram.GetSampleSum()
			if float64(n) != want[0] || sum < want[1]-0.1 || sum > want[1]+0.1 {
				t.Errorf("%s: %d, %v s in all, want %v", name, n, sum, want)
			}
		})
	}
	tell(3, queue.RelaxedWaiting, queue.RelaxedFailed)
	if got := value(t, registry, "orwl_accesses_total", "access=relaxed", "outcome=cancelled"); got != 1 {
		t.Errorf("%v cancelled, want 1", got)
	}
	if len(d.begins) != 0 {
		t.Errorf("%d times are kept of accesses that have ended", len(d.begins))
	}
	d.every = relaxedSample
	var timed [2]int
	for number := range uint64(3200) {
		if d.timed(number) {
			timed[number%2]++
		}
	}
	if timed[0] < 90 || timed[0] > 110 || timed[1] < 90 || timed[1] > 110 {
		t.Errorf("%d even and %d odd numbers of 3200 are timed, want about 100 of each", timed[0], timed[1])
	}
}
