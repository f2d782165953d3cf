package metrics

import (
	"context"
	"errors"
	"math"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"

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
	end := standing(t, m, registry)
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
	end()
	if got := slept(); got < 3 || got > 3.1 {
		t.Errorf("afterwards: %v s, want 3", got)
	}
	if err := m.Ready(); !errors.Is(err, ErrOver) {
		t.Errorf("afterwards: %v, want ErrOver", err)
	}
}

// busy takes some time without a system call.
func busy(n int) (x int) {
	for i := range n {
		x += i ^ x<<1
	}
	return x
}

var spent atomic.Int64

// crowded runs tasks that take turns to hold a resource, for n steps each time. On
// request it returns how long they waited, by a clock of their own.
func crowded(t testing.TB, m *Metrics, tasks, rounds, n int, measure bool) time.Duration {
	rt, err := orwl.New(orwl.Options{Observers: []orwl.Observer{m}})
	if err != nil {
		t.Fatal(err)
	}
	r := rt.Resource("r", 8)
	var all atomic.Int64
	for i := range tasks {
		k := rt.Task(strconv.Itoa(i))
		orwl.Writes[byte](k, r)
		begin := time.Now()
		k.Each(rounds, func(int) error {
			if measure {
				all.Add(int64(time.Since(begin)))
			}
			spent.Store(int64(busy(n)))
			if measure {
				begin = time.Now()
			}
			return nil
		})
	}
	if err := rt.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	return time.Duration(all.Load())
}

// Glances see the waits without times, and timed accesses stand for the others. The
// histogram lacks only the last few accesses of each task. A glance counts the time since the
// last one, in which another wait may have been timed: so no task waits longer than twice the run.
func TestSampled(t *testing.T) {
	const tasks, rounds = 6, 20_000
	m, registry := made(t, Options{})
	began := m.now()
	crowded(t, m, tasks, rounds, 0, false)
	run := inSeconds(uint64(m.now() - began))
	timed := value(t, registry, "orwl_acquire_wait_seconds", "mode=write", "access=ordered")
	if timed > tasks*rounds || timed < tasks*(rounds-2*defaultSample) {
		t.Errorf("what is timed stands for %v accesses of %d", timed, tasks*rounds)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, k := range m.tasks {
		if k.slept > 2*run {
			t.Errorf("task %s has waited for %v s of a run of %v s", k.Name(), k.slept, run)
		}
		if w := k.watches[0]; w.slept.Load() == 0 {
			t.Errorf("task %s has never waited", k.Name())
		}
	}
}

// Told is the waiting time that the metrics report, as a share of what the tasks report.
func BenchmarkTold(b *testing.B) {
	for _, n := range []int{0, 1000, 50_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			for b.Loop() {
				m, registry := made(b, Options{})
				own := crowded(b, m, 6, min(200_000, 20_000_000/(n+1)), n, true)
				told := value(b, registry, "orwl_task_wait_seconds_total")
				b.ReportMetric(told/own.Seconds(), "told/own")
			}
		})
	}
}
