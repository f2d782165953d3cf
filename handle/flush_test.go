package handle

import (
	"context"
	"errors"
	"testing"

	"github.com/orwl/go-orwl/resource"
)

// Flush of a handle, a pair and a vector concerns what each has released.
func TestFlush(t *testing.T) {
	p, home, mirror := mirrored(t, 8)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	var h, idle Handle
	var pair Pair
	for i, write := range []struct {
		g       Grant
		request func() error
		flush   func(context.Context) error
	}{
		{&h, func() error { return h.Request(mirror, resource.Write) }, h.Flush},
		{&pair, func() error { return pair.Request(mirror, resource.Write) }, pair.Flush},
		{&h, func() error { return h.Request(mirror, resource.Write) }, Vector{&idle, &h}.Flush},
	} {
		fine(t, write.request())
		p.settle(t)
		fine(t, write.g.Acquire(t.Context()))
		v, err := Write[int64](write.g)
		fine(t, err)
		v[0]++
		fine(t, write.g.Release())
		if err := write.flush(over); !errors.Is(err, context.Canceled) {
			t.Fatalf("write %d: flush of what is under way: %v", i, err)
		}
		fine(t, idle.Flush(over))
		p.settle(t)
		fine(t, write.flush(over))
		if v := home.Inspect().Version; v != uint64(i+1) {
			t.Errorf("after flush %d: version %d", i, v)
		}
		if write.g.Test() == Granted { // the pair is granted its next
			fine(t, write.g.Cancel())
			p.settle(t)
		}
	}
}

// Flush names the write that may be lost, and so does the next request.
func TestFlushOfLostWrite(t *testing.T) {
	p, _, mirror := mirrored(t, 8)
	var h Handle
	for _, ask := range []func() error{
		func() error { return h.Flush(t.Context()) },
		func() error { return Vector{&h}.Flush(t.Context()) },
		func() error { return h.Request(mirror, resource.Write) },
	} {
		fine(t, h.Request(mirror, resource.Write))
		p.settle(t)
		fine(t, h.Acquire(t.Context()))
		fence := h.Fence()
		_, err := Write[int64](&h)
		fine(t, err)
		fine(t, h.Release())
		p.under = nil
		p.sites[1].Lost(0, errors.New("gone"))
		p.sites[0].Lost(1, errors.New("gone"))
		var e *resource.LostWriteError
		if err := ask(); !errors.As(err, &e) || e.Resource != "r" || e.Fence != fence || !errors.Is(err, resource.ErrLost) {
			t.Errorf("got %v, want the lost write of r", err)
		}
		p.under = nil
		p.sites[1].Back(0, 1)
		p.sites[0].Back(1, 1)
	}
}
