package main

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/resource"
)

// frontier is an edge of a block as its neighbour gets to see it: a resource with
// one task that writes it in each pass and one that reads it.
//
//	block ── writes ──▶ resource ── reads ──▶ border of the neighbour
//
// The task that holds the resource may use the rest of the frontier.
type frontier struct {
	*resource.Resource

	// computed is when the contents were, by the writer's watch. Readers of other nodes
	// do not see it.
	computed time.Duration
}

// fill gives a frontier its initial values, before any task has a request in the
// queue. Readers that come before the writer in the canonical order need them.
func (f *frontier) fill(b *block, r rect) error {
	return orwl.Fill(context.Background(), f.Resource, func(to []float64) { b.write(to, r) })
}

// inlet is a task's reading of a neighbour's frontier.
type inlet struct {
	orwl.In[float64]
	from      *frontier
	into      rect
	announced time.Duration // when the access was
	far       *arrival      // nil: the frontier is of the same node
}

// there is when the frontier that is held was there: when it was computed, or when it
// had come if that was on another node.
func (in *inlet) there() time.Duration {
	if in.far == nil {
		return in.from.computed
	}
	return time.Duration(in.far.at.Load())
}

// outlet is a task's writing of its block's frontier.
type outlet struct {
	orwl.Out[float64]
	to *frontier
	of rect
}

// write copies a block's frontier out, which was computed at a time.
func (o *outlet) write(b *block, computed time.Duration) {
	b.write(o.Slice(), o.of)
	o.to.computed = computed
}

// arrival is when a frontier of another node has come last. It hears of the grants of the
// reader's access.
type arrival struct {
	clock func() time.Duration
	at    atomic.Int64
}

// Observe implements resource.Observer.
func (a *arrival) Observe(resource.Event) { a.at.Store(int64(a.clock())) }
