package metrics

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	dto "github.com/prometheus/client_model/go"
	"go.uber.org/goleak"

	"github.com/orwl/go-orwl/internal/inner"
	"github.com/orwl/go-orwl/internal/invariant"
	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/orwl"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// made is metrics on a registry of their own, by a clock if that is not nil.
func made(t testing.TB, o Options) (*Metrics, *prometheus.Registry) {
	t.Helper()
	registry := prometheus.NewRegistry()
	o.Registerer = registry
	m, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return m, registry
}

// value is the sum of the metrics that have all of these labels, "name=value", and perhaps
// others. A histogram counts as the number of its values.
func value(t testing.TB, g prometheus.Gatherer, name string, labels ...string) (sum float64) {
	t.Helper()
	found := false
	each(t, g, name, labels, func(m *dto.Metric) {
		found = true
		switch {
		case m.Counter != nil:
			sum += m.Counter.GetValue()
		case m.Gauge != nil:
			sum += m.Gauge.GetValue()
		default:
			sum += float64(m.Histogram.GetSampleCount())
		}
	})
	if !found {
		t.Errorf("there is no %s with %v", name, labels)
	}
	return sum
}

func each(t testing.TB, g prometheus.Gatherer, name string, labels []string, do func(*dto.Metric)) {
	t.Helper()
	all, err := g.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		if f.GetName() != name {
			continue
		}
		for _, m := range f.Metric {
			has := func(label string) bool {
				return slices.ContainsFunc(m.Label, func(l *dto.LabelPair) bool { return l.GetName()+"="+l.GetValue() == label })
			}
			if !slices.ContainsFunc(labels, func(l string) bool { return !has(l) }) {
				do(m)
			}
		}
	}
}

// Counts are exact however much is sampled, however many readers there are.
func TestExact(t *testing.T) {
	for _, sample := range []int{1, 3, 1024} {
		t.Run(fmt.Sprint(sample), func(t *testing.T) {
			const readers, rounds = 3, 500
			m, registry := made(t, Options{Node: 4, Sample: sample})
			rt, err := orwl.New(orwl.Options{Observers: []orwl.Observer{m}})
			if err != nil {
				t.Fatal(err)
			}
			m.Watch(rt)
			r := rt.Resource("r", 8)
			turn := func(int) error { return nil }
			writer := rt.Task("writer")
			orwl.Writes[byte](writer, r)
			writer.Each(rounds, turn)
			for i := range readers {
				reader := rt.Task(fmt.Sprint("reader", i))
				orwl.Reads[byte](reader, r)
				reader.Each(rounds, turn)
			}
			if err := rt.Run(context.Background()); err != nil {
				t.Fatal(err)
			}
			for _, c := range []struct {
				want   float64
				name   string
				labels []string
			}{
				{rounds, "orwl_accesses_total", []string{"mode=write", "access=ordered", "outcome=acquired", "node=4"}},
				{readers * rounds, "orwl_accesses_total", []string{"mode=read", "outcome=acquired"}},
				{0, "orwl_accesses_total", []string{"outcome=cancelled"}},
				{0, "orwl_accesses_total", []string{"outcome=failed"}},
				{rounds, "orwl_announcements_total", []string{"mode=write"}},
				{readers * rounds, "orwl_announcements_total", []string{"mode=read"}},
				{(readers + 1) * rounds, "orwl_task_rounds_total", nil},
				{readers + 1, "orwl_tasks", []string{"state=ended"}},
				{0, "orwl_tasks", []string{"state=working"}},
				{0, "orwl_broken_locks", nil},
				{0, "orwl_stalls_total", nil},
				{1, "orwl_info", []string{"nodes=1"}},
				{0, "orwl_remote_accesses_total", nil},
			} {
				if got := value(t, registry, c.name, c.labels...); got != c.want {
					t.Errorf("%s %v is %v, want %v", c.name, c.labels, got, c.want)
				}
			}
			waits := value(t, registry, "orwl_waits_total")
			if waits < rounds-1 || waits > (readers+1)*rounds {
				t.Errorf("%v waits in %d rounds", waits, rounds)
			}
			if sample == 1 { // each is timed
				for name, want := range map[string]float64{
					"orwl_acquire_wait_seconds": (readers + 1) * rounds, "orwl_hold_seconds": (readers + 1) * rounds,
					"orwl_queue_length": (readers + 1) * rounds,
				} {
					if got := value(t, registry, name); got != want {
						t.Errorf("%s has %v, want %v", name, got, want)
					}
				}
				if got := value(t, registry, "orwl_group_size"); got < rounds/2 || got > rounds {
					t.Errorf("%v groups of readers between %d writers", got, rounds)
				}
			}
		})
	}
}

// A waiting place whose resource breaks is counted as failed, once.
func TestFailed(t *testing.T) {
	m, registry := made(t, Options{})
	r, err := queue.New("r", 8)
	if err != nil {
		t.Fatal(err)
	}
	var p queue.Place
	m.Place(&p, r, queue.Read)
	if err := p.Request(r, queue.Read); err != nil {
		t.Fatal(err)
	}
	r.Break(errors.New("enough"))
	for range 2 {
		if err := p.Acquire(context.Background()); !errors.Is(err, queue.ErrBroken) {
			t.Fatal(err)
		}
	}
	if err := p.Cancel(); err != nil {
		t.Fatal(err)
	}
	for outcome, want := range map[string]float64{"acquired": 0, "cancelled": 0, "failed": 1} {
		if got := value(t, registry, "orwl_accesses_total", "mode=read", "access=ordered", "outcome="+outcome); got != want {
			t.Errorf("%s: %v, want %v", outcome, got, want)
		}
	}
	if got := value(t, registry, "orwl_announcements_total", "mode=read"); got != 1 {
		t.Errorf("%v announcements, want 1", got)
	}
}

// told gets what is logged.
type told chan []byte

func (t told) Write(b []byte) (int, error) {
	select {
	case t <- b:
	default:
	}
	return len(b), nil
}

// A runtime in which nothing moves is counted as stalled, and its broken resources are
// counted.
func TestStalled(t *testing.T) {
	m, registry := made(t, Options{})
	stalled := make(told, 1)
	rt, err := orwl.New(orwl.Options{Stall: 10 * time.Millisecond, Log: slog.New(slog.NewTextHandler(stalled, nil))})
	if err != nil {
		t.Fatal(err)
	}
	m.Watch(rt)
	r, goOn := rt.Resource("r", 8), make(chan struct{})
	k := rt.Task("k")
	orwl.Writes[byte](k, r)
	k.Each(1, func(int) error { <-goOn; return nil })
	ended := make(chan error)
	go func() { ended <- rt.Run(t.Context()) }()
	<-stalled
	(*queue.Resource)(r).Break(errors.New("enough"))
	for name, want := range map[string]float64{"orwl_stalls_total": 1, "orwl_stalled": 1, "orwl_broken_locks": 1} {
		if got := value(t, registry, name); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	close(goOn)
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
}

// Everything follows Prometheus' conventions.
func TestLint(t *testing.T) {
	m, registry := made(t, Options{Tasks: true})
	k, err := orwl.NewLocker("MCS")
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Locker("lock", k); err != nil {
		t.Fatal(err)
	}
	problems, err := testutil.GatherAndLint(registry)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		if !strings.HasPrefix(p.Metric, "go_") && !strings.HasPrefix(p.Metric, "process_") {
			t.Errorf("%s: %s", p.Metric, p.Text)
		}
	}
}

// Options that make no sense are named.
func TestOptions(t *testing.T) {
	registry := prometheus.NewRegistry()
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{}, "Registerer"},
		{Options{Registerer: registry, Node: -1}, "Node"},
		{Options{Registerer: registry, Sample: -1}, "1 to 65536"},
		{Options{Registerer: registry, Sample: mostSample + 1}, "Sample"},
	} {
		if _, err := New(c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want what is wrong with %s", c.o, err, c.want)
		}
	}
	if _, err := New(Options{Registerer: registry}); err != nil {
		t.Fatal(err)
	}
	if _, err := New(Options{Registerer: registry}); err == nil {
		t.Error("two metrics of one node with one registerer")
	}
}

// scraper scrapes whenever an access is made, which is when the runtime starts.
type scraper struct {
	all      sync.WaitGroup
	registry *prometheus.Registry
}

func (s *scraper) Observe(e orwl.Event) {
	if e.Kind != orwl.Declared {
		return
	}
	begun := make(chan struct{})
	s.all.Go(func() {
		close(begun)
		_, _ = s.registry.Gather()
	})
	<-begun
	for range 1000 {
		runtime.Gosched() // let it come as far as it can
	}
}

// Somebody scrapes while a runtime starts: neither waits for the other.
func TestScrapeAtStart(t *testing.T) {
	m, registry := made(t, Options{})
	s := &scraper{registry: registry}
	rt, err := orwl.New(orwl.Options{Observers: []orwl.Observer{s, m}})
	if err != nil {
		t.Fatal(err)
	}
	m.Watch(rt)
	r := rt.Resource("r", 0)
	for i := range 20 {
		task := rt.Task(fmt.Sprint(i))
		orwl.Writes[byte](task, r)
		task.Each(1, func(int) error { return nil })
	}
	if err := rt.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.all.Wait()
}

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
		b.Each(rounds, func(int) error { return nil })
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
	if got := value(t, registry, "orwl_accesses_total", "mode=write", "access=ordered", "outcome=acquired"); got != float64(stages*tasks*rounds) {
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

// standing runs two tasks: the first one works on the resource r until end is called, and the second one waits for it.
func standing(t *testing.T, m *Metrics, registry *prometheus.Registry) (end func()) {
	t.Helper()
	rt, err := orwl.New(orwl.Options{Observers: []orwl.Observer{m}, Stall: -1})
	if err != nil {
		t.Fatal(err)
	}
	r := rt.Resource("r", 0)
	works, goOn := make(chan struct{}), make(chan struct{})
	first, second := rt.Task("first"), rt.Task("second")
	orwl.Writes[byte](first, r)
	first.Each(1, func(int) error {
		close(works)
		<-goOn
		return nil
	})
	orwl.Writes[byte](second, r)
	second.Each(1, func(int) error { return nil })
	processors := runtime.GOMAXPROCS(2) // so many workers
	t.Cleanup(func() { runtime.GOMAXPROCS(processors) })
	alone := rt.Task("alone") // so that the others are no circle, which has one worker
	orwl.Writes[byte](alone, rt.Resource("alone", 0))
	alone.Each(1, func(int) error { return nil })
	ended := make(chan error)
	go func() { ended <- rt.Run(context.Background()) }()
	<-works
	for value(t, registry, "orwl_tasks", "state=waiting") == 0 {
		if t.Context().Err() != nil {
			t.Fatal("no task waits")
		}
	}
	return func() {
		t.Helper()
		close(goOn)
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
	}
}

// Lives and cuts are told of a run that has them.
func TestLivesAndCuts(t *testing.T) {
	t.Setenv("ORWL_LIVES", "3") // lives end without a reason
	m, registry := made(t, Options{})
	lives, cuts, rounds := 0.0, 0.0, 0.0
	err := orwl.Run(t.Context(), orwl.Options{Observers: []orwl.Observer{m}}, func(ctx context.Context, rt *orwl.Runtime) error {
		lives++
		m.Life(rt)
		a := rt.Task("a")
		orwl.Writes[uint64](a, rt.Resource("r", 64))
		sum := uint64(0)
		a.Each(2000, func(int) error {
			rounds++
			for i := range uint64(200_000) {
				sum = sum*31 + i
			}
			if sum == 0 { // so the compiler keeps the loop
				return errors.New("the sum is 0")
			}
			return nil
		})
		err := rt.Run(ctx)
		if got := value(t, registry, "orwl_life"); got != lives {
			t.Errorf("it is life %v, and the metrics say %v", lives, got)
		}
		bytes := value(t, registry, "orwl_cut_bytes_total")
		if got := value(t, registry, "orwl_cuts_total"); got < cuts || got > 0 && (bytes == 0 || int(bytes)%64 > 0) {
			t.Errorf("%v cuts of %v bytes", got, bytes)
		} else {
			cuts = got
		}
		return err
	})
	if err != nil || cuts == 0 || value(t, registry, "orwl_cut_failures_total") != 0 || value(t, registry, "orwl_cut_age_seconds") < 0 {
		t.Errorf("%v after %v lives with %v cuts", err, lives, cuts)
	}
	if got := value(t, registry, "orwl_task_rounds_total"); lives < 2 || got != rounds { // with those that were done again
		t.Errorf("%v rounds in %v lives, and the metrics say %v", rounds, lives, got)
	}
	if awake, asleep := value(t, registry, "orwl_workers", "state=awake"), value(t, registry, "orwl_workers", "state=asleep"); awake < 0 || asleep < 0 {
		t.Errorf("%v workers are awake and %v asleep", awake, asleep)
	}
}

// The resources that were waited for longest have a label, and no others. The waits of a task still count after it is forgotten.
func TestContended(t *testing.T) {
	c := new(clock)
	m, registry := made(t, Options{clock: c.read, Contended: 1})
	m.past.waited["less"] = uint64(time.Second)
	end := standing(t, m, registry)
	c.add(3 * time.Second)
	waited := func() float64 { return value(t, registry, "orwl_resource_wait_seconds_total", "resource=r") }
	if got := waited(); got < 3 || got > 3.1 {
		t.Errorf("tasks have waited for r for %v s, want 3", got)
	}
	end()
	for _, task := range slices.Clone(m.tasks) {
		m.forget(task.Task)
	}
	if got := waited(); got < 3 || got > 3.1 {
		t.Errorf("when the tasks are forgotten, they have waited for r for %v s, want 3", got)
	}
	series := 0
	each(t, registry, "orwl_resource_wait_seconds_total", nil, func(*dto.Metric) { series++ })
	if series != 1 {
		t.Errorf("%d resources have a label, want 1", series)
	}
}

// A grid is as far as its blocks are. No worker has taken a task before the run.
func TestGridsAndTakes(t *testing.T) {
	m, registry := made(t, Options{})
	rt, err := orwl.New(orwl.Options{Observers: []orwl.Observer{m}})
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	m.Watch(rt)
	for _, name := range []string{"heat", "heat", "wave"} {
		inner.OfRuntime(rt).Grid(name, func() (done, total int64) { return 3, 10 })
	}
	for _, c := range []struct {
		name, grid string
		want       float64
	}{{"orwl_grid_sweeps", "heat", 20}, {"orwl_grid_sweeps_done", "heat", 6}, {"orwl_grid_sweeps", "wave", 10}, {"orwl_grid_sweeps_done", "wave", 3}} {
		if got := value(t, registry, c.name, "grid="+c.grid); got != c.want {
			t.Errorf("%s of %s is %v, want %v", c.name, c.grid, got, c.want)
		}
	}
	if got := value(t, registry, "orwl_worker_takes_total"); got != 0 {
		t.Errorf("%v tasks were taken before the run", got)
	}
}
