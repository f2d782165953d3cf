package metrics

import (
	"context"
	"runtime"
	"testing"

	"github.com/orwl/go-orwl/internal/invariant"
	"github.com/orwl/go-orwl/orwl"
)

// The metrics of a program of many phases do not grow, and what they have counted stays.
func TestManyPhases(t *testing.T) {
	const tasks, rounds = 2, 2
	phases := 10_000
	if invariant.Enabled {
		phases = 2_000 // the race detector is slow
	}
	m, registry := made(t, Options{Tasks: true})
	rt, err := orwl.New(orwl.Options{Observers: []orwl.Observer{m}})
	if err != nil {
		t.Fatal(err)
	}
	shared := rt.Resource("shared", 8)
	phase := func(ctx context.Context) error {
		return rt.Phase(ctx, func(p *orwl.Phase) {
			a, b := p.Task("a"), p.Task("b")
			a.Write(shared)
			b.Write(shared)
			a.Each(rounds, func(int) error { return nil })
			b.Do(func(b *orwl.Task) error {
				for range b.Rounds(rounds) {
				}
				return nil
			})
		})
	}
	live := func() int64 {
		var s runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&s)
		return int64(s.HeapAlloc)
	}
	rt.Task("main").Do(func(main *orwl.Task) error {
		var before int64
		for k := range phases {
			if k == phases/2 {
				before = live() // all that is kept for good is there
			}
			if err := phase(main.Context()); err != nil {
				return err
			}
		}
		if grown := live() - before; grown > 512<<10 {
			t.Errorf("%d phases more, and %d KiB", phases/2, grown>>10)
		}
		return nil
	})
	if err := rt.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(m.watches) > 0 || len(m.tasks) != 1 || len(m.byTask) != 1 || m.places.Load() != 0 || m.records[shared].places.Load() != 0 {
		t.Errorf("%d watches, %d tasks, %d by task, %d places", len(m.watches), len(m.tasks), len(m.byTask), m.places.Load())
	}
	if got := value(t, registry, "orwl_accesses_total", "mode=write", "door=ordered", "outcome=acquired"); got != float64(phases*tasks*rounds) {
		t.Errorf("%v accesses, want %d", got, phases*tasks*rounds)
	}
	for _, task := range []string{"a", "b"} {
		if got := value(t, registry, "orwl_task_rounds_total", "task="+task); got != float64(phases*rounds) {
			t.Errorf("%v rounds of %s, want %d", got, task, phases*rounds)
		}
	}
}
