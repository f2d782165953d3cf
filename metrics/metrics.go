package metrics

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/orwl/go-orwl/internal/inner"
	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/internal/tally"
	"github.com/orwl/go-orwl/net/node"
	"github.com/orwl/go-orwl/orwl"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
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

// family is a metric and what there is to say of it.
type family struct {
	name   string
	kind   kind
	labels []string // beside node
	help   string
}

// kind is what Prometheus takes a metric for.
type kind string

const (
	counter kind = "counter"
	gauge   kind = "gauge"
	buckets kind = "histogram"
)

// families are all that is ours. It is the one list: what is collected, what is
// documented and what dashboards may name are made from it, or compared with it.
func families() []family {
	access := []string{"mode", "access"}
	timed := []string{"mode", "access", "algorithm"}
	flow := []string{"kind", "direction"}
	lock := []string{"lock", "algorithm"}
	return []family{
		{"orwl_accesses_total", counter, append(access, "outcome"), "Accesses that were acquired or cancelled, or failed with their resource or its home."},
		{"orwl_waits_total", counter, access, "Accesses that had to wait."},
		{"orwl_acquire_wait_seconds", buckets, timed, "How long accesses waited; 0 without a wait. Sampled where they follow one another quickly: see Options.Sample."},
		{"orwl_hold_seconds", buckets, timed, "How long accesses held. Sampled where they follow one another quickly."},
		{"orwl_handover_seconds", buckets, []string{"scope"}, "From a release to the next acquisition, if that one waited. Remote: from the arrival of the grant with its bytes. Sampled less often than holds."},
		{"orwl_queue_length", buckets, nil, "Length of a resource's queue at its home, holders included, when an access acquires. Sampled as holds are."},
		{"orwl_group_size", buckets, nil, "Readers that are granted together. Sampled as holds are."},
		{"orwl_announcements_total", counter, []string{"mode"}, "Ordered accesses that were announced."},
		{"orwl_remote_accesses_total", counter, []string{"mode"}, "Acquired accesses whose resource has its home on another node."},
		{"orwl_prefetch_hits_total", counter, []string{"mode"}, "Remote accesses that did not wait, because the announcement brought everything in time."},
		{"orwl_prefetch_bytes_total", counter, []string{"when"}, "Bytes from other nodes for announced accesses, before Acquire (in time) or after it."},
		{"orwl_prefetch_hidden_seconds_total", counter, nil, "Time in which bytes and grants from other nodes travelled and no access waited for them."},

		{"orwl_task_rounds_total", counter, nil, "Rounds that tasks have ended."},
		{"orwl_task_compute_seconds_total", counter, nil, "Time in which tasks did not wait for an access."},
		{"orwl_task_wait_seconds_total", counter, nil, "Time in which tasks waited for an access, or were queued for a worker. For step tasks, the runtime looks every few milliseconds which ones wait."},
		{"orwl_tasks", gauge, []string{"state"}, "Tasks of this node that work, wait for an access, are queued because no worker is free, or have ended."},
		{"orwl_tasks_remote", gauge, nil, "Waiting tasks of this node that wait for another node: for its turn to end, or for bytes."},
		{"orwl_workers", gauge, []string{"state"}, "Workers of this node that run bodies or look for one, and those that sleep."},

		{"orwl_worker_takes_total", counter, nil, "How often a worker has taken a task of another one."},
		{"orwl_grid_sweeps", gauge, []string{"grid"}, "Sweeps of this node's blocks of a grid, unless a reduction ends it before."},
		{"orwl_grid_sweeps_done", gauge, []string{"grid"}, "Sweeps of this node's blocks of a grid that are done."},
		{"orwl_resource_wait_seconds_total", counter, []string{"resource"}, "Time in which tasks of this node waited for a resource: see Options.Contended."},

		{"orwl_net_frames_total", counter, flow, "Frames between nodes. A retry counts where it comes in, not where it goes out."},
		{"orwl_net_bytes_total", counter, flow, "Bytes of frames with their headers, without encryption."},
		{"orwl_net_retries_total", counter, nil, "Frames that were written again after a stream broke."},
		{"orwl_net_resumes_total", counter, nil, "Streams opened to replace a broken one."},
		{"orwl_net_duplicates_total", counter, nil, "Frames that came twice."},
		{"orwl_net_round_trip_seconds", buckets, nil, "Round trips of heartbeats."},
		{"orwl_net_refused_total", counter, []string{"reason"}, "Refused connections and nodes, and streams closed for a bad frame."},
		{"orwl_net_nodes", gauge, []string{"state"}, "Nodes of the run, as this one sees them, itself included."},
		{"orwl_net_loans_total", counter, []string{"direction"}, "Messages whose bytes were read in place, in memory that nodes of a machine share."},

		{"orwl_leases_expired_total", counter, nil, "Grants of homes here that ended because their node was lost."},
		{"orwl_fences_total", counter, nil, "Releases and writes that came too late for a home here."},
		{"orwl_revocations_total", counter, nil, "Grants of homes elsewhere that this node gave up, because the home was lost or may have given this node up."},
		{"orwl_stalls_total", counter, nil, "How often nothing had moved for Options.Stall."},
		{"orwl_stalled", gauge, nil, "1 while nothing has moved since the last stall, else 0."},
		{"orwl_life", gauge, nil, "The number of the run's present life, from 1: each loss of a node begins another one. Absent if the run has one life, as the five below."},
		{"orwl_cuts_total", counter, nil, "Cuts that were whole: a life after a loss begins from the last one."},
		{"orwl_cut_round", gauge, nil, "The round behind which the last whole cut is, in its run of the runtime, or the present life has begun."},
		{"orwl_cut_age_seconds", gauge, nil, "How old the last whole cut is: the loss of a node costs so much work. Before the first one, for how long the life goes on."},
		{"orwl_cut_bytes_total", counter, nil, "Bytes that tasks of this node have copied for cuts."},
		{"orwl_cut_failures_total", counter, nil, "Parts of cuts that this node could not send to another one, or save in the folder."},
		{"orwl_broken_locks", gauge, nil, "Resources that are broken for good, and locks whose acquisition failed because they are."},

		{"orwl_lock_acquisitions_total", counter, lock, "Acquisitions of a lock."},
		{"orwl_lock_waits_total", counter, lock, "Acquisitions that found a predecessor."},
		{"orwl_lock_passed_total", counter, lock, "How often the lock was passed on within an element of the machine."},
		{"orwl_lock_kept_total", counter, lock, "Acquisitions by goroutines whose processor had the lock already."},
		{"orwl_lock_rank_waits_total", counter, lock, "How often a goroutine waited for its processor's rank before it could ask for the lock."},
		{"orwl_lock_local_handover_ratio", gauge, lock, "Share of acquisitions with a hand-over within the element after them."},
		{"orwl_lock_contention_ratio", gauge, append(lock, "scope"), "Share of acquisitions that found a predecessor: of all, and of those beyond the element."},
		{"orwl_lock_fairness_cv", gauge, lock, "Coefficient of variation of the ranks' acquisitions; 0 is fair. Ranks without any do not count."},

		{"orwl_sessions", gauge, nil, "Open sessions at this server of locks by name."},
		{"orwl_sessions_opened_total", counter, nil, "Sessions that were opened."},
		{"orwl_sessions_expired_total", counter, nil, "Sessions that were silent for their lease."},
		{"orwl_session_locks", gauge, []string{"state"}, "Locks that sessions hold, and requests that wait."},
		{"orwl_session_locks_granted_total", counter, nil, "Locks that were granted to sessions."},
		{"orwl_session_locks_lost_total", counter, nil, "Locks that a session lost: it was silent for its lease, or did not let go when it was told to."},
		{"orwl_session_forced_releases_total", counter, nil, "Holders that an operator told to let go."},

		{"orwl_resource_messages_total", counter, []string{"direction"}, "Messages between homes and mirrors of resources."},
		{"orwl_resource_bytes_total", counter, []string{"direction"}, "Bytes of contents in messages between homes and mirrors."},
		{"orwl_resource_refused_total", counter, []string{"reason"}, "Messages between homes and mirrors that were not taken."},
		{"orwl_info", gauge, []string{"version", "go_version", "nodes"}, "1; the labels say what runs."},
	}
}

// Names are the names of all metrics that a Metrics may export, in alphabetical order,
// without the metrics of Go, of the process and of libp2p.
func Names() []string {
	var names []string
	for _, f := range families() {
		names = append(names, f.name)
	}
	slices.Sort(names)
	return names
}

// perTask are the families that have the label task if that is asked for.
var perTask = []string{"orwl_task_rounds_total", "orwl_task_compute_seconds_total", "orwl_task_wait_seconds_total"}
