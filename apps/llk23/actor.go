package main

import (
	"context"
	"time"

	"github.com/orwl/go-orwl/handle"
	"github.com/orwl/go-orwl/orwl"
)

// actor is what tasks of either kind have in common: accesses that they acquire
// and release one by one, as late and as early as they can, and a watch.
//
// An access that is released early is in the queue for the next round early, too,
// which changes nothing about who gets it after whom: see package liveness.
type actor struct {
	*orwl.Task
	watch stopwatch
	last  bool // this is the last round
	tally
}

// tally counts what an actor has read.
type tally struct {
	Reads int64 // frontiers
	Bytes int64
	Hits  int64 // reads that were granted before they were asked for
	// Hidden is how long frontiers were on their way while the actor did not wait
	// for them: from the announcement until they could be had, or were asked for. One
	// of the same node can be had when it is computed, one of another when it has come.
	Hidden time.Duration
}

func (t *tally) add(u tally) {
	t.Reads += u.Reads
	t.Bytes += u.Bytes
	t.Hits += u.Hits
	t.Hidden += u.Hidden
}

// rounds calls body for each iteration. It looks whether the run is over: when
// those have ended who shared accesses with the task, nothing makes it wait any
// more, and an access that is granted does not ask.
func (a *actor) rounds(n int, body func(k int) error) error {
	ctx := a.Context()
	for k := range n {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		a.last = k == n-1
		if err := body(k); err != nil {
			return err
		}
		a.EndRound()
	}
	a.watch.enter(outside)
	return nil
}

// acquire waits for an access, and says whether it need not have. Only who has to
// wait looks at the clock, and that is the trace if there is one.
func (a *actor) acquire(x *orwl.Access) (granted bool, err error) {
	if x.Test() >= handle.Granted {
		return true, x.Acquire(a.Context())
	}
	if a.watch.rec != nil {
		err = x.Acquire(a.Context())
		a.watch.waited()
		return false, err
	}
	before := a.watch.phase
	a.watch.enter(waiting)
	err = x.Acquire(a.Context())
	a.watch.enter(before)
	return false, err
}

// release announces the next access, unless this is the last round, and releases this one.
func (a *actor) release(x *orwl.Access) error {
	if a.last {
		return x.Release()
	}
	return x.Next()
}

// read waits for a neighbour's frontier and copies it into b's border. The
// neighbour may then write the next one.
func (a *actor) read(b *block, in *inlet) error {
	asked := a.watch.since
	granted, err := a.acquire(in.Access)
	if err != nil {
		return err
	}
	b.read(orwl.Read[float64](in.Access), in.into)
	a.Reads++
	a.Bytes += int64(8 * in.into.cells())
	if granted {
		a.Hits++
	}
	a.Hidden += max(0, min(asked, in.there())-in.announced)
	in.announced = a.watch.since
	if err := a.release(in.Access); err != nil || a.last {
		return err
	}
	return in.listen(a.watch.clock)
}

// write waits until the last frontier was read, and copies there the next one,
// which has been computed by a time.
func (a *actor) write(b *block, out *outlet, computed time.Duration) error {
	if _, err := a.acquire(out.Access); err != nil {
		return err
	}
	b.write(orwl.Write[float64](out.Access), out.of)
	out.to.computed = computed
	return a.release(out.Access)
}
