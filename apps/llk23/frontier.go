package main

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/resource"
)

// frontier is an edge of a block as its neighbour gets to see it: a resource with
// one task that writes it in each iteration and one that reads it.
//
//	block ── writes ──▶ resource ── reads ──▶ border of the neighbour
//
// Whoever holds the resource may use the rest of the frontier.
type frontier struct {
	*resource.Resource

	// What the tasks of one node tell each other; nobody reads it where the reader is
	// on another node than the writer.
	computed time.Duration // when what it has was, by the watch of who did so
}

// fill gives a frontier its initial values, before any task has a request in the
// queue. Readers that come before the writer in the canonical order need them.
func (f *frontier) fill(b *block, r rect) error {
	return orwl.Fill(context.Background(), f.Resource, func(to []float64) { b.write(to, r) })
}

// inlet is a task's reading of a neighbour's frontier.
type inlet struct {
	*orwl.Access
	from      *frontier
	into      rect
	announced time.Duration // when the access was

	// Came is when the frontier was there, by the reader's clock; nil if it is of the
	// same node, where the frontier itself tells.
	came *atomic.Int64
}

// listen has the clock read when the frontier comes that was announced last, if it
// comes from another node.
func (in *inlet) listen(clock func() time.Duration) error {
	if in.came == nil {
		return nil
	}
	return in.Place().Notify(func() { in.came.Store(int64(clock())) })
}

// there is when the frontier that is held could be had: when it was computed, or if
// that was on another node when it had come.
func (in *inlet) there() time.Duration {
	if in.came == nil {
		return in.from.computed
	}
	return time.Duration(in.came.Load())
}

// outlet is a task's writing of its block's frontier.
type outlet struct {
	*orwl.Access
	to *frontier
	of rect
}
