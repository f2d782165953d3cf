package resource

import (
	"context"
	"errors"
	"testing"
)

// The first requests of a node that is lost do not come, and the others do not wait for
// them.
func TestSiteForgoesFirstRequests(t *testing.T) {
	for _, back := range []bool{false, true} {
		n := newNetwork(3, SiteOptions{})
		first := []First{{1, Write}, {2, Read}, {1, Read}, {0, Write}, {1, Write}, {2, Write}}
		r := n.share(t, "r", 8, 0, HomeAt{First: first}, Options{})
		var here, there, last Place
		fine(t, here.RequestOrdered(r[0], Write, 4))
		fine(t, there.RequestOrdered(r[2], Read, 2))
		fine(t, last.RequestOrdered(r[2], Write, 6))
		n.settle(t)
		if there.Granted() || here.Granted() {
			t.Fatal("granted before the first")
		}
		if back {
			n.sites[0].Back(1, 2)
		} else {
			n.sites[0].Lost(1, errFire)
		}
		n.settle(t)
		for i, p := range []*Place{&there, &here, &last} {
			if !p.Granted() {
				t.Fatalf("back %t: place %d waits for a node that is lost", back, i)
			}
			fine(t, p.Acquire(t.Context()))
			fine(t, p.Release())
			n.settle(t)
		}
		if q, c := r[0].requested.Load()&^flags, r[0].completed.Load()&^flags; q != c {
			t.Errorf("%#x requested, %#x completed", q, c)
		}
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

// A place that is granted and requests again at once is behind all first requests.
func TestFirstRequestsStayAhead(t *testing.T) {
	n := newNetwork(2, SiteOptions{})
	at := n.share(t, "x", 8, 0, HomeAt{First: []First{{0, Read}, {0, Read}, {1, Write}}}, Options{})
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
