package metrics

import (
	"slices"

	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/orwl"
)

// past is what tasks have counted that the runtime knows no more. Counters never go back, so
// their counts stay. Their records do not: a program may have any number of stages.
type past struct {
	ordered [len(modes)]sums
	tasks   map[string]taskSums // by the label task, or by "" without it
	site    queue.SiteCounts    // of the lives before
	stalls  uint64
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
	if m.past.tasks == nil {
		m.past.tasks = make(map[string]taskSums)
	}
	m.past.tasks[m.label(known)] = m.past.tasks[m.label(known)].with(known)
	for _, w := range known.watches {
		m.past.ordered[w.mode].add(w)
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
	return taskSums{s.rounds + uint64(t.Round()), s.computed + t.computed, s.slept + t.slept}
}
