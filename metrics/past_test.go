package metrics

import (
	"context"
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

// The metrics of a process that goes through lives of a run show the last one, and what all have counted.
func TestManyLives(t *testing.T) {
	m, registry := made(t, Options{})
	for life := range 3 {
		err := orwl.Run(t.Context(), orwl.Options{Observers: []orwl.Observer{m}}, func(ctx context.Context, rt *orwl.Runtime) error {
			m.Life(rt)
			if len(m.tasks) > 0 || len(m.watches) > 0 || len(m.records) > 0 || len(m.rts) != 1 {
				t.Errorf("%d tasks, %d watches, %d resources and %d runtimes of the life before", len(m.tasks), len(m.watches), len(m.records), len(m.rts))
			}
			a := rt.Task("a")
			orwl.Writes[uint64](a, rt.Resource("r", 8))
			a.Each(10, func(int) error { return nil })
			return rt.Run(ctx)
		})
		if err != nil {
			t.Fatal(err)
		}
		if ended, rounds := value(t, registry, "orwl_tasks", "state=ended"), value(t, registry, "orwl_task_rounds_total"); ended != 1 || rounds != float64(10*(life+1)) {
			t.Errorf("after %d lives: %v tasks, %v rounds", life+1, ended, rounds)
		}
	}
}

// Lives and cuts are told of a run that has them.
func TestLivesAndCuts(t *testing.T) {
	t.Setenv("ORWL_LIVES", "3") // lives end without a reason
	m, registry := made(t, Options{})
	lives, cuts := 0.0, 0.0
	err := orwl.Run(t.Context(), orwl.Options{Observers: []orwl.Observer{m}}, func(ctx context.Context, rt *orwl.Runtime) error {
		lives++
		m.Life(rt)
		a := rt.Task("a")
		orwl.Writes[uint64](a, rt.Resource("r", 64))
		sum := uint64(0)
		a.Each(2000, func(int) error {
			for i := range uint64(20_000) {
				sum += i
			}
			return nil
		})
		err := rt.Run(ctx)
		if got := value(t, registry, "orwl_life"); got != lives {
			t.Errorf("it is life %v, and the metrics say %v", lives, got)
		}
		round, bytes := value(t, registry, "orwl_cut_round"), value(t, registry, "orwl_cut_bytes_total")
		if got := value(t, registry, "orwl_cuts_total"); got < cuts || got > 0 && (round == 0 || bytes == 0 || int(bytes)%64 > 0) {
			t.Errorf("%v cuts, the last one behind round %v, of %v bytes", got, round, bytes)
		} else {
			cuts = got
		}
		return err
	})
	if err != nil || cuts == 0 || value(t, registry, "orwl_cut_failures_total") != 0 || value(t, registry, "orwl_cut_age_seconds") < 0 {
		t.Errorf("%v after %v lives with %v cuts", err, lives, cuts)
	}
	if awake, asleep := value(t, registry, "orwl_workers", "state=awake"), value(t, registry, "orwl_workers", "state=asleep"); awake < 0 || asleep < 0 {
		t.Errorf("%v workers are awake and %v asleep", awake, asleep)
	}
}
