package metrics

import (
	"runtime"
	"testing"

	"github.com/orwl/go-orwl/internal/inner"
	"github.com/orwl/go-orwl/internal/invariant"
	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/orwl"
)

// The metrics of a program of many stages do not grow, and what they have counted stays.
func TestManyStages(t *testing.T) {
	const tasks, rounds = 2, 2
	stages := 10_000
	if invariant.Enabled {
		stages = 2_000 // the race detector is slow
	}
	m, registry := made(t, Options{Tasks: true})
	rt, err := orwl.New(orwl.Options{Observers: []orwl.Observer{m}})
	if err != nil {
		t.Fatal(err)
	}
	shared := rt.Resource("shared", 8)
	stage := func() error {
		a, b := rt.Task("a"), rt.Task("b")
		orwl.Writes[byte](a, shared)
		orwl.Writes[byte](b, shared)
		a.Each(rounds, func(int) error { return nil })
		b.Do(func(b *orwl.Task) error {
			for range inner.OfTask(b).Rounds(rounds) {
			}
			return nil
		})
		return rt.Run(t.Context())
	}
	live := func() int64 {
		var s runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&s)
		return int64(s.HeapAlloc)
	}
	var before int64
	for k := range stages {
		if k == stages/2 {
			before = live() // all that is kept for good is there
		}
		if err := stage(); err != nil {
			t.Fatal(err)
		}
	}
	if grown := live() - before; grown > 512<<10 {
		t.Errorf("%d stages more, and %d KiB", stages/2, grown>>10)
	}
	rt.Task("c").Do(func(*orwl.Task) error { return nil })
	if len(m.watches) > 0 || len(m.tasks) > 0 || len(m.byTask) > 0 || m.places.Load() != 0 || m.records[(*queue.Resource)(shared)].places.Load() != 0 {
		t.Errorf("%d watches, %d tasks, %d by task, %d places", len(m.watches), len(m.tasks), len(m.byTask), m.places.Load())
	}
	if got := value(t, registry, "orwl_accesses_total", "mode=write", "door=ordered", "outcome=acquired"); got != float64(stages*tasks*rounds) {
		t.Errorf("%v accesses, want %d", got, stages*tasks*rounds)
	}
	for _, task := range []string{"a", "b"} {
		if got := value(t, registry, "orwl_task_rounds_total", "task="+task); got != float64(stages*rounds) {
			t.Errorf("%v rounds of %s, want %d", got, task, stages*rounds)
		}
	}
}
