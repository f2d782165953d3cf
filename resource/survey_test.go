package resource

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// A home's survey shows the requests of other nodes. A mirror's shows its last grant.
func TestSurvey(t *testing.T) {
	n := newNetwork(3, SiteOptions{})
	at := n.share(t, "x", 64, 0, HomeAt{}, Options{})
	var own, one, two, three Place
	fine(t, own.Request(at[0], Write))
	fine(t, own.Acquire(context.Background()))
	fine(t, one.Request(at[1], Read))
	n.settle(t)
	fine(t, two.Request(at[2], Read))
	n.settle(t)
	fine(t, three.Request(at[2], Write))
	n.settle(t)

	guests := func() string {
		s := at[0].Survey()
		slices.SortFunc(s.Guests, func(a, b Guest) int { return cmp.Compare(a.Ticket, b.Ticket) })
		text := fmt.Sprintf("size %d, version %d, fence %d:", s.Size, s.Version, s.Fence)
		for _, g := range s.Guests {
			text += fmt.Sprintf(" %d %v %t", g.Node, g.Mode, g.Granted)
		}
		return text
	}
	if got, want := guests(), "size 64, version 0, fence 1: 1 read false 2 read false 2 write false"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if s := at[0].Survey(); int32(s.Guests[0].Ticket-own.Look(at[0]).Ticket) <= 0 {
		t.Errorf("the later request has ticket %d, and the first %d", s.Guests[0].Ticket, own.Look(at[0]).Ticket)
	}
	b, err := own.Writable()
	fine(t, err)
	b[0] = 1
	fine(t, own.Resize(128))
	fine(t, own.Release())
	n.settle(t)
	if got, want := guests(), "size 128, version 1, fence 1: 1 read true 2 read true 2 write false"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if s := at[1].Survey(); s.Size != 128 || s.Version != 1 || s.Fence != 1 || len(s.Guests) != 0 || s.Broken {
		t.Errorf("a mirror's is %+v", s)
	}
	for _, p := range []*Place{&one, &two} {
		fine(t, p.Acquire(context.Background()))
		fine(t, p.Release())
	}
	n.settle(t)
	if got, want := guests(), "size 128, version 1, fence 2: 2 write true"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	at[0].Break(errStop)
	if !at[0].Survey().Broken {
		t.Error("it is not broken")
	}
}

// A first request that has not come shows as early.
func TestSurveyOfEarlyRequests(t *testing.T) {
	n := newNetwork(2, SiteOptions{})
	at := n.share(t, "x", 8, 0, HomeAt{First: []First{{1, Write}, {0, Write}}}, Options{})
	var own, other Place
	fine(t, own.RequestOrdered(at[0], Write, 2))
	if g := at[0].Survey().Guests; len(g) != 1 || g[0].Node != 1 || !g[0].Early || !g[0].Granted {
		t.Errorf("%+v", g)
	}
	fine(t, other.RequestOrdered(at[1], Write, 1))
	n.settle(t)
	if g := at[0].Survey().Guests; len(g) != 1 || g[0].Early || !g[0].Granted {
		t.Errorf("%+v", g)
	}
	fine(t, other.Acquire(context.Background()))
	fine(t, other.Release())
	fine(t, own.Cancel())
	n.settle(t)
}

// looker records what it is told.
type looker struct{ told []string }

func (l *looker) Requested(*Place)            { l.told = append(l.told, "requested") }
func (l *looker) Acquired(*Place)             { l.told = append(l.told, "acquired") }
func (l *looker) Released(*Place)             { l.told = append(l.told, "released") }
func (l *looker) Cancelled(*Place)            { l.told = append(l.told, "cancelled") }
func (l *looker) Waiting(*Place)              { l.told = append(l.told, "waiting") }
func (l *looker) Releasing(p *Place)          { l.told = append(l.told, fmt.Sprint("releasing ", p.Held())) }
func (l *looker) Arrived(_ *Place, bytes int) { l.told = append(l.told, fmt.Sprint("arrived ", bytes)) }

// A Releaser is told before a release, and an Arrivals of bytes, also as one of several
// observers.
func TestArrivals(t *testing.T) {
	for _, among := range []bool{false, true} {
		n := newNetwork(2, SiteOptions{})
		at := n.share(t, "x", 16, 0, HomeAt{}, Options{})
		var reads, writes, far Place
		var l, near looker
		var o Observer = &l
		if among {
			o = Observers{&l, &looker{}}
		}
		far.Observe(o)
		writes.Observe(&near)
		fine(t, writes.Request(at[0], Write))
		fine(t, writes.Acquire(context.Background()))
		_, err := writes.Writable()
		fine(t, err)
		fine(t, writes.Renew())
		fine(t, writes.Cancel())
		if got, want := strings.Join(near.told, ", "), "requested, acquired, releasing true, requested, released, cancelled"; got != want {
			t.Errorf("at home: %s, want %s", got, want)
		}

		// Behind a reader, a writer's bytes come before the grant.
		fine(t, reads.Request(at[0], Read))
		fine(t, reads.Acquire(context.Background()))
		fine(t, far.Request(at[1], Write))
		n.settle(t)
		if got, want := strings.Join(l.told, ", "), "requested, arrived 16"; got != want {
			t.Errorf("ahead: %s, want %s", got, want)
		}
		fine(t, reads.Release())
		n.settle(t)
		fine(t, far.Acquire(context.Background()))
		fine(t, far.Release())
		n.settle(t)
		if got, want := strings.Join(l.told, ", "), "requested, arrived 16, arrived 16, acquired, releasing true, released"; got != want {
			t.Errorf("in all: %s, want %s", got, want)
		}
	}
}
