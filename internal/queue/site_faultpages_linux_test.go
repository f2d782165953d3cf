package queue

import (
	"errors"
	"testing"
)

// Bytes on fault pages go to and fro as other bytes do, at either end, also after a
// resize.
func TestSiteFaultPages(t *testing.T) {
	g := new(FaultPages)
	n := newNetwork(2, SiteOptions{})
	r := n.share(t, "r", 16, 0, Options{FaultPages: g})
	for i := range 6 {
		var w, v Place
		fine(t, w.Request(r[i%2], Write))
		n.settle(t)
		fine(t, w.Acquire(t.Context()))
		if i == 2 || i == 3 {
			fine(t, w.Resize(4096*i))
		}
		b, err := w.Writable()
		fine(t, err)
		b[i] = byte(i + 1)
		fine(t, w.Release())
		n.settle(t)
		fine(t, v.Request(r[1-i%2], Read))
		n.settle(t)
		fine(t, v.Acquire(t.Context()))
		b, err = v.Bytes()
		fine(t, err)
		for k := range i + 1 {
			if b[k] != byte(k+1) {
				t.Fatalf("turn %d: %v", i, b[:8])
			}
		}
		fine(t, v.Release())
		n.settle(t)
	}
	// A view of what is over keeps the node from beginning anew.
	var w, v Place
	fine(t, w.Request(r[1], Write))
	n.settle(t)
	fine(t, w.Acquire(t.Context()))
	n.sites[1].Lost(0, errFire)
	n.sites[0].Lost(1, errFire)
	clear(n.lanes)
	n.sites[1].Back(0, 1)
	if err := v.Request(r[1], Read); !errors.Is(err, ErrStale) {
		t.Errorf("request beside what is over: %v", err)
	}
	if err := w.Release(); !errors.Is(err, ErrStale) {
		t.Errorf("release of what is over: %v", err)
	}
	fine(t, v.Request(r[1], Read))
	n.settle(t)
	fine(t, v.Acquire(t.Context()))
	fine(t, v.Release())
	for _, r := range r {
		fine(t, r.Close())
	}
}
