package metrics

import (
	"context"
	"errors"
	"math"
	"sync"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"

	"github.com/orwl/go-orwl/internal/inner"
	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/orwl"
)

// clock is a clock that the test sets.
type clock struct {
	mu  sync.Mutex
	now time.Duration
}

func (c *clock) read() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now += d
}

// The test sets the clock, so waits, holds, hand-overs and queue lengths have known
// values.
func TestTimes(t *testing.T) {
	c := new(clock)
	m, registry := made(t, Options{Sample: 1, clock: c.read})
	r, err := queue.New("r", 8)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	one, other := new(queue.Place), new(queue.Place)
	m.Place(one, r, queue.Write)
	m.Place(other, r, queue.Write)
	m.watches[1].on.places.Store(1) // it asks each time
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	do(one.Request(r, queue.Write))
	do(other.Request(r, queue.Write))
	do(one.Acquire(ctx))
	waits := make(chan struct{})
	done := make(chan error)
	go func() {
		close(waits)
		done <- other.Acquire(ctx)
	}()
	<-waits
	for m.watches[1].since.Load() == 0 { // it is about to sleep
		if t.Context().Err() != nil {
			t.Fatal("it does not wait")
		}
	}
	c.add(time.Second)
	do(one.Release())
	do(<-done)
	c.add(2 * time.Second)
	do(other.Release())

	for name, want := range map[string][2]float64{ // number and sum
		"orwl_acquire_wait_seconds": {2, 1}, "orwl_hold_seconds": {2, 3},
		"orwl_queue_length": {2, 3},
	} {
		each(t, registry, name, nil, func(h *dto.Metric) {
			n, sum := h.Histogram.GetSampleCount(), h.Histogram.GetSampleSum()
			if n != 0 && (float64(n) != want[0] || math.Abs(sum-want[1]) > 1e-6) {
				t.Errorf("%s: %d, %v in all, want %v", name, n, sum, want)
			}
		})
	}
	each(t, registry, "orwl_handover_seconds", []string{"scope=local"}, func(h *dto.Metric) {
		if n, sum := h.Histogram.GetSampleCount(), h.Histogram.GetSampleSum(); n != 1 || sum > 0.5 {
			t.Errorf("hand-over: %d, %v s: want one, and the hold not in it", n, sum)
		}
	})
}

// A wait that is not over yet counts, with times or without, and its time never falls.
func TestSleeping(t *testing.T) {
	c := new(clock)
	m, registry := made(t, Options{clock: c.read, Tasks: true})
	rt, err := orwl.New(orwl.Options{Observers: []orwl.Observer{m}, Stall: -1})
	if err != nil {
		t.Fatal(err)
	}
	r := rt.Resource("r", 0)
	works, goOn := make(chan struct{}), make(chan struct{})
	first, second := rt.Task("first"), rt.Task("second")
	orwl.Writes[byte](first, r)
	first.Do(func(t *orwl.Task) error {
		for range inner.OfTask(t).Rounds(1) {
			close(works)
			<-goOn
		}
		return nil
	})
	orwl.Writes[byte](second, r)
	second.Do(func(t *orwl.Task) error {
		for range inner.OfTask(t).Rounds(1) {
		}
		return nil
	})
	ended := make(chan error)
	go func() { ended <- rt.Run(context.Background()) }()
	<-works
	for value(t, registry, "orwl_tasks", "state=waiting") == 0 {
		if t.Context().Err() != nil {
			t.Fatal("nobody waits")
		}
	}
	c.add(3 * time.Second)
	slept := func() float64 { return value(t, registry, "orwl_task_wait_seconds_total", "task=second") }
	if got := slept(); got < 3 || got > 3.1 {
		t.Errorf("a task that sleeps has waited %v s, want 3", got)
	}
	if got := value(t, registry, "orwl_task_compute_seconds_total", "task=first"); got < 3 || got > 3.1 {
		t.Errorf("a task that works has computed %v s, want 3", got)
	}
	if err := m.Ready(); err != nil {
		t.Errorf("while tasks run: %v", err)
	}
	close(goOn)
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if got := slept(); got < 3 || got > 3.1 {
		t.Errorf("afterwards: %v s, want 3", got)
	}
	if err := m.Ready(); !errors.Is(err, ErrOver) {
		t.Errorf("afterwards: %v, want ErrOver", err)
	}
}
