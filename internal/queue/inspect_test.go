package queue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
)

// A home's state shows the requests of other nodes. A mirror's shows its last
// grant, also when the queue is empty.
func TestInspect(t *testing.T) {
	n := newNetwork(3, SiteOptions{})
	at := n.share(t, "x", 64, 0, Options{})
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
		s := at[0].Inspect()
		guests := s.Guests()
		slices.SortFunc(guests, func(a, b Guest) int { return cmp.Compare(a.Ticket, b.Ticket) })
		text := fmt.Sprintf("size %d, version %d, fence %d:", s.Size, s.Version, s.Fence)
		for _, g := range guests {
			text += fmt.Sprintf(" %d %v %t", g.Node, g.Mode, g.Granted)
		}
		return text
	}
	if got, want := guests(), "size 64, version 0, fence 1: 1 read false 2 read false 2 write false"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if s := at[0].Inspect().Guests(); int32(s[0].Ticket-own.Inspect(at[0]).Ticket) <= 0 {
		t.Errorf("the later request has ticket %d, and the first %d", s[0].Ticket, own.Inspect(at[0]).Ticket)
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
	if s := at[1].Inspect(); s.Size != 128 || s.Version != 1 || s.Fence != 1 || len(s.Guests()) != 0 || s.Broken != nil || !s.Elsewhere || s.Queued() != 0 {
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
	if s := at[1].Inspect(); s.Fence != 1 {
		t.Errorf("a mirror without a request has fence %d, want that of its last grant", s.Fence)
	}
	at[0].Break(errStop)
	if s := at[0].Inspect(); !errors.Is(s.Broken, ErrBroken) || !errors.Is(s.Broken, errStop) || s.Elsewhere {
		t.Errorf("a broken one is %+v", s)
	}
}

// Inspect counts requests, and requests that are through, also where the words wrap
// around.
func TestInspectCounts(t *testing.T) {
	ctx := context.Background()
	for _, start := range []uint64{0, 5*oneReader + 7*oneWriter, ^uint64(0) &^ flags} {
		r, err := New("r", 8)
		if err != nil {
			t.Fatal(err)
		}
		r.requested.Store(start)
		r.completed.Store(start)
		before := r.Inspect()
		var places [6]Place
		for i := range places {
			mode := Read
			if i%3 == 0 {
				mode = Write
			}
			if err := places[i].Request(r, mode); err != nil {
				t.Fatal(err)
			}
			if got := r.Inspect().Queued(); got != i+1 {
				t.Errorf("from %#x: %d in the queue, want %d", start, got, i+1)
			}
		}
		for i := range places {
			if err := errors.Join(places[i].Acquire(ctx), places[i].Release()); err != nil {
				t.Fatal(err)
			}
			if got := r.Inspect().Queued(); got != len(places)-1-i {
				t.Errorf("from %#x: %d in the queue, want %d", start, got, len(places)-1-i)
			}
		}
		after := r.Inspect()
		if n := (after.Writers.Through - before.Writers.Through) & writersMask; n != 2 {
			t.Errorf("from %#x: %d writers are through, want 2", start, n)
		}
	}
	if r, _ := New("r", 0); r.Inspect().Broken != nil || r.Inspect().Elsewhere {
		t.Error("a new resource is broken, or elsewhere")
	}
}
