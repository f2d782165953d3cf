package metrics

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/orwl/go-orwl/internal/queue"
)

// counters returns all values that must not fall: counters, and buckets of histograms.
func counters(t *testing.T, registry prometheus.Gatherer) map[string]float64 {
	t.Helper()
	all, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	found := make(map[string]float64)
	for _, f := range all {
		for _, m := range f.Metric {
			name := fmt.Sprint(f.GetName(), m.Label)
			if m.Counter != nil {
				found[name] = m.Counter.GetValue()
			}
			if h := m.Histogram; h != nil {
				found[name] = float64(h.GetSampleCount())
				found[name+" zeros"] = float64(h.GetZeroCount())
				for _, b := range h.Bucket {
					found[fmt.Sprint(name, " up to ", b.GetUpperBound())] = float64(b.GetCumulativeCount())
				}
			}
		}
	}
	return found
}

// TestNothingGoesBack scrapes while one place holds and another begins to wait. This is
// one more wait and no more accesses. The number of accesses without a wait must not fall.
func TestNothingGoesBack(t *testing.T) {
	m, registry := made(t, Options{})
	r, err := queue.New("r", 8)
	if err != nil {
		t.Fatal(err)
	}
	var before map[string]float64
	look := func() {
		t.Helper()
		now := counters(t, registry)
		for name, had := range before {
			if now[name] < had {
				t.Errorf("%s was %v and is %v", name, had, now[name])
			}
		}
		before = now
	}
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	one, other := new(queue.Place), new(queue.Place)
	m.Place(one, r, queue.Write)
	m.Place(other, r, queue.Write)
	for range 3 {
		do(one.Request(r, queue.Write))
		do(other.Request(r, queue.Write))
		do(one.Acquire(t.Context()))
		look()
		done := make(chan error)
		go func() { done <- other.Acquire(context.Background()) }()
		for m.watches[1].stood.Load() == 0 {
			if t.Context().Err() != nil {
				t.Fatal("it does not wait")
			}
		}
		look()
		do(one.Release())
		do(<-done)
		look()
		do(other.Release())
		look()
	}
}

// TestRatchet raises one ratchet by several goroutines. None may get less than it gave.
func TestRatchet(t *testing.T) {
	var r ratchet
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for v := range 1000 {
				if got := r.most(float64(v), "n", []string{"l"}); got < float64(v) {
					t.Errorf("%v instead of %d", got, v)
				}
			}
		})
	}
	all.Wait()
	if got := r.most(5, "n", []string{"l"}); got != 999 {
		t.Errorf("it is %v, want 999", got)
	}
	if got := r.most(5, "n", []string{"m"}); got != 5 {
		t.Errorf("another one is %v, want 5", got)
	}
}
