package trace

import (
	"context"
	rt "runtime/trace"
	"time"

	"github.com/orwl/go-orwl/orwl"
)

// Regions shows tasks in the traces of package runtime/trace, for go tool trace. Each is a
// task there. It has a region for each wait, and regions in which it holds accesses. While there is
// no such trace, Regions only looks whether there is one.
//
// Regions of a goroutine are nested, and accesses are not. So a task enters a region named
// hold when it acquires its first access, and leaves it when it has released all. Other accesses
// that it acquires and releases meanwhile are logged.
type Regions struct{ follower }

var _ orwl.Observer = (*Regions)(nil)

// NewRegions makes the observer of one runtime.
func NewRegions() *Regions {
	r := new(Regions)
	r.clock = func() time.Duration { return 0 }
	r.sink = func(*orwl.Task) sink { return new(regional) }
	return r
}

// regional is a task there. It belongs to the task's goroutine.
type regional struct {
	ctx   context.Context
	task  *rt.Task // nil until a trace is under way
	wait  *rt.Region
	hold  *rt.Region
	holds int
}

// on implements sink. Regions that began during a trace also end after it.
func (g *regional) on() bool { return g.task != nil || rt.IsEnabled() }

// take implements sink.
func (g *regional) take(_ *watch, e *Event) {
	switch e.Kind {
	case Requested, Prefetched, Releasing:
		return // the first requests are made by another goroutine
	}
	if g.task == nil {
		g.ctx, g.task = rt.NewTask(context.Background(), e.Task.Name())
	}
	switch e.Kind {
	case Waiting:
		g.wait = rt.StartRegion(g.ctx, Wait)
		rt.Log(g.ctx, Wait, does(e))
	case Acquired:
		end(&g.wait)
		if g.holds++; g.hold == nil {
			g.hold = rt.StartRegion(g.ctx, hold)
		}
		rt.Log(g.ctx, hold, does(e))
	case Released:
		// A trace that has begun in between has not seen all that is held.
		g.holds = max(0, g.holds-1)
		rt.Log(g.ctx, Release, does(e))
		if g.holds == 0 {
			end(&g.hold)
		}
	case Cancelled:
		end(&g.wait)
	case Ended:
		end(&g.wait)
		end(&g.hold)
		g.task.End()
	}
}

// does is what an event's access is for.
func does(e *Event) string { return e.Access.String() }

// end ends a region, if it has begun.
func end(r **rt.Region) {
	if *r != nil {
		(*r).End()
		*r = nil
	}
}
