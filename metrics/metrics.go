package metrics

import (
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/orwl/go-orwl/internal/inner"
	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/internal/tally"
	"github.com/orwl/go-orwl/net/node"
	"github.com/orwl/go-orwl/orwl"
)

// Metrics collects the metrics of one process for Prometheus. It is an [orwl.Observer]
// and a prometheus.Collector.
type Metrics struct {
	o      Options
	sample int32
	descs  map[string]*prometheus.Desc
	began  time.Duration

	ordered       [2]times // by mode
	local, remote *histogram
	queued        *histogram
	groups        *histogram
	trips         *histogram

	places atomic.Int64 // watched ones
	told   ratchet

	mu      sync.Mutex
	watches []*watch
	records map[*queue.Resource]*record
	tasks   []*task
	byTask  map[*orwl.Task]*task
	past    past // of tasks that are forgotten
	relaxed []*relaxedCounter
	rts     []*orwl.Runtime
	nodes   members
	locks   []lock
	// sessions are what a server counts, nil if there is none.
	sessions func() node.SessionCounts

	running int           // tasks
	stop    chan struct{} // closed when no task runs
	glanced int64         // when the last glance was
}

// times are the histograms of waiting and holding times.
type times struct{ wait, hold *histogram }

var (
	_ orwl.Observer        = (*Metrics)(nil)
	_ prometheus.Collector = (*Metrics)(nil)
)

// New makes metrics and registers them. It also registers Go's and the process's own
// collectors if they are not registered yet. Give the metrics to a runtime by
// orwl.Options.Observers.
func New(o Options) (*Metrics, error) {
	o = o.withDefaults()
	if err := o.validate(); err != nil {
		return nil, err
	}
	in, many := seconds(), numbers()
	m := &Metrics{
		o: o, sample: int32(o.Sample), began: o.clock(), nodes: (*orwl.Nodes)(nil),
		ordered: [2]times{{in.new(), in.new()}, {in.new(), in.new()}},
		local:   in.new(), remote: in.new(), trips: in.new(), queued: many.new(), groups: many.new(),
		records: make(map[*queue.Resource]*record), byTask: make(map[*orwl.Task]*task),
		past: past{tasks: make(map[string]taskSums), waited: make(map[string]uint64)},
	}
	m.describe()
	for _, c := range []prometheus.Collector{collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{})} {
		if err := o.Registerer.Register(c); err != nil && !errors.As(err, new(prometheus.AlreadyRegisteredError)) {
			return nil, err
		}
	}
	return m, o.Registerer.Register(m)
}

// now returns the time in nanoseconds, never 0.
func (m *Metrics) now() int64 { return int64(m.o.clock()) + 1 }

// Observe implements orwl.Observer.
func (m *Metrics) Observe(e orwl.Event) {
	switch e.Kind {
	case orwl.Made:
		m.Relaxed(e.Resource, e.Guard)
	case orwl.Declared:
		m.mu.Lock()
		defer m.mu.Unlock()
		a := inner.OfAccess(e.Access)
		m.watch(a.Place(), (*queue.Resource)(a.Resource()), a.Mode(), m.taskOf(e.Task))
	case orwl.Began:
		m.taskBegan(e.Task)
	case orwl.Ended:
		m.taskEnded(e.Task)
	case orwl.Forgotten:
		m.forget(e.Task)
	}
}

// Place observes a place that belongs to no task. The place must request only r, and
// only in this mode.
func (m *Metrics) Place(p *queue.Place, r *queue.Resource, mode queue.Mode) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.watch(p, r, mode, nil)
}

// watch observes a place. m.mu is held.
func (m *Metrics) watch(p *queue.Place, r *queue.Resource, mode queue.Mode, t *task) {
	on := m.records[r]
	if on == nil {
		on = new(record)
		m.records[r] = on
	}
	on.places.Add(1)
	m.places.Add(1)
	w := &watch{m: m, task: t, place: p, resource: r, on: on, mode: mode, timed: true, closely: true}
	if r.Inspect().Elsewhere {
		w.far = new(journey)
	}
	m.watches = append(m.watches, w)
	if t != nil {
		t.watches = append(t.watches, w)
	}
	p.Observe(w, w.always()|queue.Acquired)
}

// task holds the metrics of a task.
type task struct {
	*orwl.Task
	watches []*watch

	began, ended tally.Count // nanoseconds, 0 if not yet

	// The values at the last scrape; counters never go back.
	computed, slept float64
}

func (m *Metrics) taskOf(t *orwl.Task) *task {
	known := m.byTask[t]
	if known == nil {
		known = &task{Task: t}
		m.byTask[t] = known
		m.tasks = append(m.tasks, known)
	}
	return known
}

func (m *Metrics) taskBegan(t *orwl.Task) {
	m.mu.Lock()
	known := m.taskOf(t)
	m.begin()
	m.mu.Unlock()
	known.began.Set(uint64(m.now()))
}

func (m *Metrics) taskEnded(t *orwl.Task) {
	m.mu.Lock()
	known := m.taskOf(t)
	m.end()
	m.mu.Unlock()
	known.ended.Set(uint64(m.now()))
}

// nodeLabel returns the label of all metrics of this package.
func (m *Metrics) nodeLabel() prometheus.Labels {
	return prometheus.Labels{"node": strconv.Itoa(m.o.Node)}
}

// Options say who scrapes, and how much is measured.
type Options struct {
	// Registerer is who everything is registered with. Required.
	Registerer prometheus.Registerer
	// Node is the number of this process in its run, and the label node of all that
	// is ours.
	Node int
	// Sample is the greatest number of accesses in a row that one timed access stands for:
	// 1024 if zero, 1 to time each, up to 65536. The quicker the accesses of a task follow
	// one another, the fewer are timed, so that clocks take a few percent of the time. Slow
	// accesses are timed each time. Counts are always exact.
	Sample int
	// Tasks gives what is counted of tasks the label task: so many more series as
	// there are tasks.
	Tasks bool
	// Contended is how many resources get the label resource for the time that tasks of this node waited for them: those that
	// were waited for longest. 0: none.
	Contended int

	clock func() time.Duration // monotonic; the machine's if nil
}

const (
	defaultSample = 1024
	mostSample    = 1 << 16
)

func (o Options) withDefaults() Options {
	if o.Sample == 0 {
		o.Sample = defaultSample
	}
	if o.clock == nil {
		began := time.Now()
		o.clock = func() time.Duration { return time.Since(began) }
	}
	return o
}

func (o Options) validate() error {
	switch {
	case o.Registerer == nil:
		return fmt.Errorf("metrics: Options.Registerer is nil: want one, as prometheus.NewRegistry makes")
	case o.Node < 0:
		return fmt.Errorf("metrics: Options.Node is %d: want 0 or more", o.Node)
	case o.Contended < 0:
		return fmt.Errorf("metrics: Options.Contended is %d: want 0 or more", o.Contended)
	case o.Sample < 1 || o.Sample > mostSample:
		return fmt.Errorf("metrics: Options.Sample is %d: want 1 to %d, or 0 for %d", o.Sample, mostSample, defaultSample)
	}
	return nil
}
