package orwl

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/orwl/internal/plan"
)

// A reduction may end the run. Its record says after which round. A task that nothing else connects with it must not begin a round
// that it does not have. If it read the record in each round, the writer of the record would wait for it in return: then all tasks
// go at one pace. Instead, one hidden task on each node reads the record, and keeps the end in a word:
//
//	record ──▶ hidden task ──▶ word ──▶ all tasks of the node
//
// No task begins round k before the hidden task has ended round k - 1 - lag. The plan has this condition, and the hidden task waits for
// the writer only. So a task is at most lag rounds ahead, and ends with the others.
//
// The hidden tasks stand outside of the program, which has the same tasks on any nodes, and outside of cuts. A cut holds the record,
// and so the end.

// Until ends the run: all its tasks end lag rounds after the first round whose value the function accepts, as if each had called
// Last. So they end after the same round, also those that have nothing to do with the reduction. All tasks are bodies of
// [Task.Each]. With a lag of 0 each waits in each round for the value of the round before. With a longer one, up to 62, tasks may be so many
// rounds ahead.
//
// The function must be pure: a run that goes on from a cut may call it again, on any node. With several reductions the
// first end counts, and the shortest lag says how far ahead tasks may be.
func (r *Reduction[S, V]) Until(accepts func(V) bool, lag int) *Reduction[S, V] {
	r.until, r.ends, r.lag = accepts, true, lag
	r.join()
	return r
}

// mostLag is the longest lag.
const mostLag = plan.MostAhead - 1

// declaredEnd is a reduction that may end a run.
type declaredEnd struct {
	name        string
	record      *declared
	rounds, lag int
}

// end has a reduction end the next run, unless that cannot be.
func (r *reduction) end(tasks []*Task) {
	r.rt.declare("reduction", r.name, func() error {
		if r.lag < 0 || r.lag > mostLag {
			return fmt.Errorf("%w %q ends the run after a lag of %d rounds: want 0 to %d", errReduction, r.name, r.lag, mostLag)
		}
		for _, t := range tasks {
			if t.step == nil {
				return fmt.Errorf("%w %q ends the run, and the body of task %q is none of Each", errReduction, r.name, t.name)
			}
		}
		r.rt.until = append(r.rt.until, declaredEnd{r.name, r.rt.mine(core(r.record)), r.rounds(), r.lag})
		return nil
	})
}

// readEnds adds to a run the hidden tasks that read when it ends: one on each node that has a task.
func (rt *Runtime) readEnds(r *run) {
	if len(rt.until) == 0 {
		return
	}
	r.ahead = make(map[int]plan.Ahead)
	lag := slices.MinFunc(rt.until, func(a, b declaredEnd) int { return a.lag - b.lag }).lag
	for _, t := range rt.tasks {
		if _, known := r.ahead[t.on]; !known {
			r.ahead[t.on] = plan.Ahead{Of: len(r.tasks), Most: lag + 1}
			r.tasks = append(r.tasks, rt.endReader(r, t.on))
		}
	}
}

// endReader is the hidden task of a node.
func (rt *Runtime) endReader(r *run, node int) *Task {
	t := &Task{rt: rt, name: fmt.Sprint("end on node ", node), on: node, outside: true}
	rounds := 0
	for i, e := range rt.until {
		t.accesses = append(t.accesses, &Access{task: t, resource: e.record, mode: queue.Read, number: int32(i)})
		if rounds >= 0 && (e.rounds < 0 || e.rounds > rounds) {
			rounds = e.rounds // a negative number means that no round is the last
		}
	}
	t.each = step{task: t, rounds: rounds, said: rounds, near: rt.Nodes() > 1}
	t.step = &t.each
	t.step.body = func(int) error {
		for _, a := range t.accesses {
			b, err := a.place.Bytes()
			if err != nil {
				return err
			}
			r.ends(b)
		}
		return nil
	}
	if r.cuts != nil {
		t.step.starts(r.cuts.from, false)
	}
	return t
}

// ends notes the end that a record has, if any. The first end counts. One goroutine at a time calls it.
func (r *run) ends(record []byte) {
	end, known := int64(binary.NativeEndian.Uint64(record)), r.last.Load()
	if end > 0 && (known == 0 || end < known) {
		r.last.Store(end)
	}
}

// recall notes the end that the cut has in which the run begins. Later rounds of the hidden tasks may not say it in time.
func (rt *Runtime) recall(r *run) {
	if r.cuts == nil || r.cuts.from == 0 {
		return // the record may have the end of an earlier run
	}
	for _, e := range rt.until {
		h := r.planned.of[e.record.number]
		h.Enter() // another node may write the record already
		r.ends(h.Bytes())
		h.Leave()
	}
}

// endsBy reports whether a resource is the record of a reduction that may end the run.
func (rt *Runtime) endsBy(r *declared) bool {
	return slices.ContainsFunc(rt.until, func(e declaredEnd) bool { return e.record == r })
}

// over reports whether the run has ended before a round.
func (r *run) over(round int) bool {
	end := r.last.Load()
	return end > 0 && int64(round) >= end
}
