package metrics

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/orwl/go-orwl/internal/inner"
	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/orwl"
)

// describe makes the descriptors of all families.
func (m *Metrics) describe() {
	m.descs = make(map[string]*prometheus.Desc)
	for _, f := range families() {
		labels := f.labels
		if m.o.Tasks && slices.Contains(perTask, f.name) {
			labels = append(slices.Clone(labels), "task")
		}
		m.descs[f.name] = prometheus.NewDesc(f.name, f.help, labels, m.nodeLabel())
	}
}

// Describe implements prometheus.Collector.
func (m *Metrics) Describe(to chan<- *prometheus.Desc) {
	for _, f := range families() {
		to <- m.descs[f.name]
	}
}

// sink passes metrics on to Prometheus.
type sink struct {
	m  *Metrics
	to chan<- prometheus.Metric
}

func (s sink) count(name string, n uint64, labels ...string) {
	s.total(name, float64(n), labels...)
}

func (s sink) total(name string, v float64, labels ...string) {
	s.to <- prometheus.MustNewConstMetric(s.m.descs[name], prometheus.CounterValue, s.m.told.most(v, name, labels), labels...)
}

func (s sink) gauge(name string, v float64, labels ...string) {
	s.to <- prometheus.MustNewConstMetric(s.m.descs[name], prometheus.GaugeValue, v, labels...)
}

func (s sink) histogram(name string, h *histogram, zeros uint64, labels ...string) {
	zeros = uint64(s.m.told.most(float64(zeros), name, labels))
	s.to <- h.with(zeros, s.m.descs[name], labels...)
}

// Collect implements prometheus.Collector.
func (m *Metrics) Collect(to chan<- prometheus.Metric) {
	s := sink{m, to}
	// A starting runtime asks for observers while it is locked, and a server of sessions asks the
	// runtime. So collect both before m is locked.
	found := m.collectRuntimes(s)
	m.collectSessions(s)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.collectOrdered(s)
	m.collectRelaxed(s)
	m.collectTasks(s, found.queued)
	s.gauge("orwl_tasks_remote", float64(found.remote))
	m.collectContended(s)
	m.collectNodes(s)
	m.collectLocks(s, found.broken)
}

// The values of labels.
const (
	ordered, relaxed            = "ordered", "relaxed"
	fifo                        = "FIFO" // the algorithm of ordered access
	acquired, cancelled, failed = "acquired", "cancelled", "failed"
)

var modes = [...]queue.Mode{queue.Read, queue.Write}

// sums are the counts of all places of one mode.
type sums struct {
	acquired, waited, cancelled, failed, pending, accesses, hits uint64
	inTime, late, hidden                                         uint64
}

// add adds the counts of a place.
func (t *sums) add(w *watch) {
	got, waited := w.counted()
	t.acquired += got
	t.waited += waited
	t.cancelled += w.cancelled.Load()
	t.failed += w.failed.Load()
	if w.place.Requested() {
		t.pending++
	}
	if j := w.far; j != nil {
		t.accesses += j.accesses.Load()
		t.hits += j.hits.Load()
		t.inTime += j.inTime.Load()
		t.late += j.late.Load()
		t.hidden += j.hidden.Load()
	}
}

func (m *Metrics) collectOrdered(s sink) {
	of := m.past.ordered
	for _, w := range m.watches {
		of[w.mode].add(w)
	}
	var inTime, late, hidden uint64
	for _, t := range of {
		inTime, late, hidden = inTime+t.inTime, late+t.late, hidden+t.hidden
	}
	for _, mode := range modes {
		t, name := of[mode], mode.String()
		s.count("orwl_accesses_total", t.acquired, name, ordered, acquired)
		s.count("orwl_accesses_total", t.cancelled, name, ordered, cancelled)
		s.count("orwl_accesses_total", t.failed, name, ordered, failed)
		s.count("orwl_waits_total", t.waited, name, ordered)
		s.count("orwl_announcements_total", t.acquired+t.cancelled+t.failed+t.pending, name)
		s.count("orwl_remote_accesses_total", t.accesses, name)
		s.count("orwl_prefetch_hits_total", t.hits, name)
		s.histogram("orwl_acquire_wait_seconds", m.ordered[mode].wait, t.acquired-min(t.acquired, t.waited), name, ordered, fifo)
		s.histogram("orwl_hold_seconds", m.ordered[mode].hold, 0, name, ordered, fifo)
	}
	s.count("orwl_prefetch_bytes_total", inTime, "in_time")
	s.count("orwl_prefetch_bytes_total", late, "late")
	s.total("orwl_prefetch_hidden_seconds_total", inSeconds(hidden))
	s.histogram("orwl_handover_seconds", m.local, 0, "local")
	s.histogram("orwl_handover_seconds", m.remote, 0, "remote")
	s.histogram("orwl_queue_length", m.queued, 0)
	s.histogram("orwl_group_size", m.groups, 0)
}

func inSeconds(nanoseconds uint64) float64 { return float64(nanoseconds) / 1e9 }

// collectTasks gets how many tasks have all that they need, and no worker. Their places wait.
func (m *Metrics) collectTasks(s sink, queued int) {
	var working, waiting, over int
	all := maps.Clone(m.past.tasks)
	if all == nil {
		all = make(map[string]taskSums)
	}
	if !m.o.Tasks {
		all[""] = m.past.tasks[""] // also if there is no task
	}
	for _, t := range m.tasks {
		asleep := m.look(t)
		switch {
		case t.ended.Load() != 0:
			over++
		case asleep:
			waiting++
		default:
			working++
		}
		all[m.label(t)] = all[m.label(t)].with(t)
	}
	for task, t := range all {
		var labels []string
		if m.o.Tasks {
			labels = append(labels, task)
		}
		s.count("orwl_task_rounds_total", t.rounds, labels...)
		s.total("orwl_task_compute_seconds_total", t.computed, labels...)
		s.total("orwl_task_wait_seconds_total", t.slept, labels...)
	}
	s.gauge("orwl_tasks", float64(working), "working")
	queued = min(queued, waiting)
	s.gauge("orwl_tasks", float64(waiting-queued), "waiting")
	s.gauge("orwl_tasks", float64(queued), "queued")
	s.gauge("orwl_tasks", float64(over), "ended")
}

// collectContended tells of the resources that were waited for longest.
func (m *Metrics) collectContended(s sink) {
	if m.o.Contended == 0 {
		return
	}
	now, waited := m.now(), maps.Clone(m.past.waited)
	for _, w := range m.watches {
		_, slept := w.look(now)
		waited[w.resource.Name()] += slept
	}
	names := slices.SortedFunc(maps.Keys(waited), func(a, b string) int {
		return cmp.Or(cmp.Compare(waited[b], waited[a]), cmp.Compare(a, b))
	})
	for _, name := range names[:min(len(names), m.o.Contended)] {
		if waited[name] > 0 {
			s.total("orwl_resource_wait_seconds_total", inSeconds(waited[name]), name)
		}
	}
}

// look updates how long a task has computed and waited, and reports whether it waits
// now.
func (m *Metrics) look(t *task) (asleep bool) {
	now := m.now()
	slept := 0.0
	for _, w := range t.watches {
		waits, nanoseconds := w.look(now)
		slept += inSeconds(nanoseconds)
		asleep = asleep || waits
	}
	began, ended := t.began.Load(), t.ended.Load()
	if began == 0 {
		return asleep
	}
	if ended == 0 {
		ended = uint64(now)
	}
	t.slept = max(t.slept, slept)
	t.computed = max(t.computed, inSeconds(ended-began)-t.slept)
	return asleep
}

// ratchet keeps counters from going back. A scrape adds up counts that change meanwhile, and
// reads some a moment before others: it may count an access as held and then as released, or
// a wait as begun and not over. So a sum may be one less than the last time, and Prometheus
// would take this for a restart.
type ratchet struct {
	mu   sync.Mutex
	told map[string]float64 // the most that was told, by name and labels
}

// most is v, or what was told before if that is more.
func (r *ratchet) most(v float64, name string, labels []string) float64 {
	key := name + "\x00" + strings.Join(labels, "\x00")
	r.mu.Lock()
	defer r.mu.Unlock()
	if before := r.told[key]; before >= v {
		return before
	}
	if r.told == nil {
		r.told = make(map[string]float64)
	}
	r.told[key] = v
	return v
}

// past is what tasks have counted that the runtime knows no more. Counters never go back, so
// their counts stay. Their records do not: a program may have any number of stages.
type past struct {
	ordered [len(modes)]sums
	tasks   map[string]taskSums // by the label task, or by "" without it
	site    queue.SiteCounts    // of the lives before
	waited  map[string]uint64   // for resources, in nanoseconds; empty without Options.Contended
	stalls  uint64
	taken   uint64 // of the lives before
}

// taskSums are what tasks have done.
type taskSums struct {
	rounds          uint64
	computed, slept float64
}

// forget adds up what a task has counted, and drops its records.
func (m *Metrics) forget(t *orwl.Task) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if known := m.byTask[t]; known != nil {
		m.drop(known)
	}
}

// drop is forget. m.mu is held.
func (m *Metrics) drop(known *task) {
	m.look(known)
	m.past.tasks[m.label(known)] = m.past.tasks[m.label(known)].with(known)
	for _, w := range known.watches {
		m.past.ordered[w.mode].add(w)
		if m.o.Contended > 0 {
			_, slept := w.look(m.now())
			m.past.waited[w.resource.Name()] += slept
		}
		m.places.Add(-1)
		w.on.places.Add(^uint32(0))
	}
	m.watches = slices.DeleteFunc(m.watches, func(w *watch) bool { return w.task == known })
	m.tasks = slices.DeleteFunc(m.tasks, func(other *task) bool { return other == known })
	delete(m.byTask, known.Task)
}

// label is the label under which a task's counts are told.
func (m *Metrics) label(t *task) string {
	if m.o.Tasks {
		return t.Name()
	}
	return ""
}

func (s taskSums) with(t *task) taskSums {
	return taskSums{s.rounds + uint64(inner.OfTask(t.Task).Did()), s.computed + t.computed, s.slept + t.slept}
}
