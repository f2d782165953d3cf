package metrics

import (
	"context"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/inner"
	"github.com/orwl/go-orwl/orwl"
)

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
		k.Do(func(k *orwl.Task) error {
			waited := time.Duration(0)
			var begin time.Time
			if measure {
				begin = time.Now()
			}
			for range inner.OfTask(k).Rounds(rounds) {
				if measure {
					waited += time.Since(begin)
				}
				spent.Store(int64(busy(n)))
				if measure {
					begin = time.Now()
				}
			}
			all.Add(int64(waited))
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
	timed := value(t, registry, "orwl_acquire_wait_seconds", "mode=write", "door=ordered")
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
