package orwl

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// ErrLate is a late node whose program does not say what it does then, or cannot take part. The run of the
// others goes on without it.
var ErrLate = errors.New("orwl: this node has come to a run that goes on, and cannot take part: declare what it does by Runtime.Late")

// Late declares what this node does if it comes to a run that goes on: it was lost, has left, or does not
// begin ([Runtime.Begin]). Its process has declared the same program. Run runs none of its tasks. It calls f,
// which mostly calls [Runtime.Phase], and is over when f returns:
//
//	rt.Late(func(ctx context.Context) error { return solve(ctx, rt) })
//
// The others learn nothing but that phases may have tasks and resources on this node. All nodes call the same
// phases from then on, and all wait for this node there. Tasks of a phase that do not say [Task.On] go
// to the nodes that are there. So a program need not know which these are. The node knows no phase of before: a
// phase that is called while tasks of such a phase run is refused on all nodes.
//
// A resource that had its home on a lost node stays lost, on all nodes. A late node has no relaxed access. If f
// fails, it leaves the run, and the others go on.
func (rt *Runtime) Late(f func(ctx context.Context) error) {
	rt.declare("what a late node does", func() error {
		rt.late = f
		return nil
	})
}

// startLate is the rest of start on a late node. rt.mu is held.
func (rt *Runtime) startLate(r *run) error {
	switch {
	case rt.late == nil:
		return ErrLate
	case len(rt.relaxed) > 0:
		return fmt.Errorf("%w: it has relaxed access, which ends with the first loss", ErrLate)
	}
	if err := rt.mirror(rt.resources, rt.homes); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(rt.resources)) {
		if rt.homes[name] == rt.Node() {
			rt.resources[name].Break(&NodeError{Node: rt.Node(), Lost: true, Text: "it was lost, and has come back without what it kept"})
		}
	}
	if err := rt.seat(); err != nil {
		return err
	}
	r.tasks, r.seats = rt.tasks, rt.seats
	for _, t := range rt.tasks {
		t.run = r
		t.ended.Store(t.here())
	}
	rt.meeting.Return()
	rt.run = r
	rt.o.Nodes.fate.Join(true)
	rt.o.Nodes.letIn()
	return nil
}

// liveLate does what the program has declared for a late node. If it fails, this node leaves.
func (rt *Runtime) liveLate(r *run) error {
	err := rt.late(r.ctx)
	if err == nil {
		return nil
	}
	rt.o.Nodes.fate.Join(false)
	r.lost(err)
	rt.mu.Lock()
	r.over = true
	rt.mu.Unlock()
	rt.meeting.End(ErrNotRunning)
	r.phases.Wait()
	return err
}
