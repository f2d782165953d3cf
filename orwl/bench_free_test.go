package orwl_test

import (
	"context"
	"errors"
	"testing"

	"github.com/orwl/go-orwl/handle"
	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/resource"
)

// free is a resource that one goroutine uses again and again, without contention. The
// peer is a buffered channel with a send and a receive.
func free(b *testing.B) {
	const access, step = 1.5, 2.0
	for _, m := range []match{
		{"place/access", access, often("ours", placeAccess(newResource(8))), nil},
		{"place/pair", step, often("ours", placePair(newResource(8))), nil},
		{"place/pair-read", step, often("ours", placePairRead(newResource(8))), nil},
		{"handle/access", access, often("ours", handleAccess), nil},
		{"handle/pair", step, often("ours", handlePair), nil},
	} {
		m.peers = []contender{often("channel", channelFree)}
		m.run(b, noAllocations)
	}
}

// off measures what options cost. The peer is a place that never had any. A place that
// knows that it has no observer has to look, as all places of tasks do.
func off(b *testing.B) {
	const nothing = 1.02
	bare := []contender{often("bare", placeAccess(newResource(8)))}
	match{"observer-off", nothing, often("ours", placeAccess(newResource(8), func(p *queue.Place) { p.Observe(new(counter), 0) })), bare}.run(b, noAllocations)
	match{"observer-on", 0, often("ours", placeAccess(newResource(8), func(p *queue.Place) { p.Observe(new(counter), queue.AllOrdered) })), bare}.run(b, noAllocations)

	faulting, err := queue.NewWith("faulting", 8, queue.Options{FaultPages: new(queue.FaultPages)})
	if errors.Is(err, queue.ErrNoFaultPages) {
		b.Log(err) // and there is nothing to compare
		return
	}
	must(err)
	b.Cleanup(func() { must(faulting.Close()) })
	match{"fault-pages-unmapped", nothing, often("ours", placeAccess((*resource.Resource)(faulting))), bare}.run(b, noAllocations)
	match{"fault-pages-mapped", 0, often("ours", placeMapped((*resource.Resource)(faulting))), []contender{often("bare", placeMapped(newResource(8)))}}.run(b, nil)
}

func placeAccess(r *resource.Resource, prepare ...func(*queue.Place)) func(n int) {
	p, ctx := new(queue.Place), context.Background()
	for _, f := range prepare {
		f(p)
	}
	return func(n int) {
		for range n {
			must(p.Request((*queue.Resource)(r), queue.Write))
			must(p.Acquire(ctx))
			must(p.Release())
		}
	}
}

func placeMapped(r *resource.Resource) func(n int) {
	p, ctx := new(queue.Place), context.Background()
	return func(n int) {
		for range n {
			must(p.Request((*queue.Resource)(r), queue.Write))
			must(p.Acquire(ctx))
			bytes, err := p.Writable()
			must(err)
			bytes[0]++
			must(p.Release())
		}
	}
}

func placePair(r *resource.Resource) func(n int) { return placePairOf(r, queue.Write) }

func placePairRead(r *resource.Resource) func(n int) { return placePairOf(r, queue.Read) }

func placePairOf(r *resource.Resource, m queue.Mode) func(n int) {
	p, ctx := new(queue.Place), context.Background()
	return func(n int) {
		must(p.Request((*queue.Resource)(r), m))
		for range n {
			must(p.Acquire(ctx))
			must(p.Renew())
		}
		must(p.Cancel())
	}
}

func handleAccess(n int) {
	h, r, ctx := new(handle.Handle), newResource(8), context.Background()
	for range n {
		must(h.Request(r, queue.Write))
		must(h.Acquire(ctx))
		must(h.Release())
	}
}

func handlePair(n int) {
	p, r, ctx := new(handle.Pair), newResource(8), context.Background()
	must(p.Request(r, queue.Write))
	for range n {
		must(p.Acquire(ctx))
		must(p.Next())
	}
	must(p.Cancel())
}

func channelFree(n int) {
	c := make(chan struct{}, 1)
	for range n {
		c <- struct{}{}
		<-c
	}
}

// counter is an observer with almost no work.
type counter struct{ requested, acquired, released, cancelled, waited int }

func (c *counter) Observe(e queue.Event) {
	switch e.Kind {
	case queue.Requested:
		c.requested++
	case queue.Acquired:
		c.acquired++
	case queue.Waiting:
		c.waited++
	case queue.Released:
		c.released++
	case queue.Withdrawn:
		c.cancelled++
	}
}
