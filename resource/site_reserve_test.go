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

// A home reserves tickets for a part of the program that begins later, behind what is
// queued.
func TestReserveLater(t *testing.T) {
	n := newNetwork(2, SiteOptions{})
	r := n.share(t, "r", 8, 0, HomeAt{First: []First{{0, Write}}}, Options{})
	var runs, first, next, last Place
	fine(t, runs.RequestOrdered(r[0], Write, 1))
	fine(t, runs.Acquire(t.Context()))
	order, err := n.sites[0].Reserve(r[0], []First{{1, Write}, {0, Read}})
	fine(t, err)
	fine(t, last.Request(r[0], Write))
	fine(t, next.RequestOrdered(r[0], Read, order+1))
	fine(t, runs.Release())
	if next.Granted() {
		t.Fatal("the second is granted before the first has come")
	}
	fine(t, first.RequestOrdered(r[1], Write, order))
	n.settle(t)
	for i, p := range []*Place{&first, &next, &last} {
		if !p.Granted() {
			t.Fatalf("place %d is not granted in its turn", i)
		}
		fine(t, p.Acquire(t.Context()))
		fine(t, p.Release())
		n.settle(t)
	}
	if second(n.sites[1].Reserve(r[1], nil)) == nil || second(n.sites[0].Reserve(r[0], []First{{0, 7}})) == nil {
		t.Error("a reservation at a mirror, or in no mode, is taken")
	}
}

// Reservations that no request will use are given up, and only those.
func TestForgo(t *testing.T) {
	n := newNetwork(2, SiteOptions{})
	r := n.share(t, "r", 8, 0, HomeAt{}, Options{})
	var first, behind Place
	order, err := n.sites[0].Reserve(r[0], []First{{1, Read}, {1, Write}, {0, Write}})
	fine(t, err)
	other, err := n.sites[0].Reserve(r[0], []First{{1, Write}})
	fine(t, err)
	fine(t, first.RequestOrdered(r[1], Read, order))
	fine(t, behind.RequestOrdered(r[1], Write, other))
	n.settle(t)
	fine(t, n.sites[0].Forgo(r[0], order, 3))
	n.settle(t)
	for i, p := range []*Place{&first, &behind} {
		if err := p.Acquire(t.Context()); err != nil {
			t.Fatalf("place %d: %v", i, err)
		}
		fine(t, p.Release())
		n.settle(t)
	}
	if q, c := r[0].requested.Load()&^flags, r[0].completed.Load()&^flags; q != c {
		t.Errorf("%#x requested, %#x completed", q, c)
	}
	if n.sites[1].Forgo(r[1], 1, 1) == nil {
		t.Error("a mirror gives up reservations")
	}
}

// A home forgets the reservations of parts of the program that have begun, however many.
func TestReservationsAreForgotten(t *testing.T) {
	n := newNetwork(2, SiteOptions{})
	r := n.share(t, "r", 8, 0, HomeAt{First: []First{{1, Read}}}, Options{})
	var there, here Place
	fine(t, there.RequestOrdered(r[1], Read, 1))
	n.settle(t)
	fine(t, there.Acquire(t.Context()))
	fine(t, there.Release())
	for range 1000 {
		order, err := n.sites[0].Reserve(r[0], []First{{1, Write}, {0, Write}})
		fine(t, err)
		fine(t, here.RequestOrdered(r[0], Write, order+1))
		fine(t, there.RequestOrdered(r[1], Write, order))
		n.settle(t)
		for _, p := range []*Place{&there, &here} {
			fine(t, p.Acquire(t.Context()))
			fine(t, p.Release())
			n.settle(t)
		}
	}
	if kept := len(r[0].home.half.Reserved()); kept > 2 {
		t.Errorf("%d reservations are kept", kept)
	}
	// A number that is forgotten is used up, and the request queues behind the others.
	fine(t, there.RequestOrdered(r[1], Read, 1))
	n.settle(t)
	fine(t, there.Acquire(t.Context()))
	fine(t, there.Release())
}

// A node mirrors a resource that the others have used for long. It gets the bytes with its
// first grant, and takes part in a reservation.
func TestMirrorLate(t *testing.T) {
	n := newNetwork(3, SiteOptions{})
	home, early, late := newResource(t, 8), newResource(t, 8), newResource(t, 8)
	fine(t, n.sites[0].Home(home, HomeAt{}))
	fine(t, n.sites[1].Mirror(early, 0))
	var p, q Place
	count := func(p *Place, want byte) {
		t.Helper()
		n.settle(t)
		fine(t, p.Acquire(t.Context()))
		b, err := p.Writable()
		fine(t, err)
		if b[0] != want {
			t.Errorf("it is %d, want %d", b[0], want)
		}
		b[0]++
		fine(t, p.Release())
		n.settle(t)
	}
	for i := range byte(3) {
		fine(t, p.Request(early, Write))
		count(&p, i)
	}
	fine(t, p.Request(early, Write))
	n.settle(t)
	fine(t, n.sites[2].Mirror(late, 0))
	order, err := n.sites[0].Reserve(home, []First{{2, Write}, {1, Write}})
	fine(t, err)
	var again Place
	fine(t, again.RequestOrdered(early, Write, order+1))
	fine(t, q.RequestOrdered(late, Write, order))
	for i, p := range []*Place{&p, &q, &again} {
		count(p, byte(3+i))
	}
}

// A resource whose part of the program does not begin is forgotten: it is broken, and its
// name is free.
func TestForget(t *testing.T) {
	n := newNetwork(2, SiteOptions{})
	r, again := newResource(t, 8), newResource(t, 8)
	fine(t, n.sites[0].Home(r, HomeAt{First: []First{{1, Write}}}))
	if err := n.sites[0].Home(again, HomeAt{}); !errors.Is(err, ErrDeclared) {
		t.Errorf("two of one name: %v", err)
	}
	fine(t, n.sites[0].Forget(r, errFire))
	var p Place
	fine(t, p.Request(r, Write))
	if err := p.Acquire(t.Context()); !errors.Is(err, errFire) {
		t.Errorf("the forgotten one: %v", err)
	}
	fine(t, p.Cancel())
	fine(t, n.sites[0].Home(again, HomeAt{}))
	mirror := newResource(t, 8)
	fine(t, n.sites[1].Mirror(mirror, 0))
	fine(t, p.Request(mirror, Write))
	n.settle(t)
	fine(t, p.Acquire(t.Context()))
	fine(t, p.Release())
	if n.sites[1].Forget(mirror, errFire) == nil {
		t.Error("a mirror is forgotten")
	}
}

// A node that retains a release makes a first request: the request uses its ticket, and does not
// go as a renewal.
func TestFirstRequestBehindRetainedRelease(t *testing.T) {
	n, r := keeping(t, Options{})
	order, err := n.sites[0].Reserve(r[0], []First{{1, Write}, {0, Write}})
	fine(t, err)
	var first, second Place
	fine(t, second.RequestOrdered(r[0], Write, order+1))
	fine(t, first.RequestOrdered(r[1], Write, order))
	n.settle(t)
	for i, p := range []*Place{&first, &second} {
		if !p.Granted() {
			t.Fatalf("first request %d waits for ever", i)
		}
		fine(t, p.Acquire(t.Context()))
		fine(t, p.Release())
		n.settle(t)
	}
}
