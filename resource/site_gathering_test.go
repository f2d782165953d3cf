package resource

import (
	"context"
	"errors"
	"testing"
)

// A site says whether a home of its waits for first requests.
func TestSiteGathering(t *testing.T) {
	n := newNetwork(2, SiteOptions{})
	r := n.share(t, "r", 8, 0, HomeAt{Expect: 2}, Options{})
	var here, there Place
	fine(t, here.RequestOrdered(r[0], Read, 1))
	if !n.sites[0].Gathering() || n.sites[1].Gathering() {
		t.Error("want the home to wait, and nobody else")
	}
	fine(t, there.RequestOrdered(r[1], Read, 2))
	n.settle(t)
	if n.sites[0].Gathering() {
		t.Error("it waits, and all are there")
	}
}

// A policy is given before the first request, or not at all.
func TestSetPolicy(t *testing.T) {
	r := newResource(t, 8)
	if err := r.SetPolicy(Abort + 1); err == nil {
		t.Error("a policy that there is not")
	}
	fine(t, r.SetPolicy(Poison))
	if r.Policy() != Poison {
		t.Errorf("policy %d", r.Policy())
	}
	var p Place
	fine(t, p.Request(r, Read))
	if err := r.SetPolicy(Discard); !errors.Is(err, ErrUsed) || r.Policy() != Poison {
		t.Errorf("a policy for what is requested: %v", err)
	}
}

// Who is granted as soon as all first requests are here, and requests again at once, is
// behind all of them.
func TestGatheringIsQueuedUpFirst(t *testing.T) {
	n := newNetwork(2, SiteOptions{})
	at := n.share(t, "x", 8, 0, HomeAt{Expect: 3}, Options{})
	var quick, reader, writer Place
	fine(t, quick.RequestOrdered(at[0], Read, 1))
	fine(t, reader.RequestOrdered(at[0], Read, 2))
	renewed := false
	fine(t, reader.Notify(func() { // the quick one is granted before
		fine(t, quick.Acquire(context.Background()))
		fine(t, quick.Renew())
		renewed = true
	}))
	fine(t, writer.RequestOrdered(at[1], Write, 3))
	n.settle(t)
	if !renewed || quick.Granted() {
		t.Errorf("renewed at once: %t; granted before the first writer: %t", renewed, quick.Granted())
	}
	fine(t, reader.Acquire(context.Background()))
	fine(t, reader.Release())
	n.settle(t)
	if !writer.Granted() {
		t.Error("the first writer is not granted")
	}
}
