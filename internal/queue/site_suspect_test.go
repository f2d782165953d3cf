package queue

import (
	"errors"
	"testing"
)

var errQuiet = errors.New("nothing was heard")

// Suspicion ends what is held and what waits; the home learns of it, and goes on, and
// who requests again is served, by the same link.
func TestSuspectBeginsNewLife(t *testing.T) {
	n := newNetwork(2, SiteOptions{})
	r := n.share(t, "r", 16, 0, Options{})
	ctx := t.Context()
	var held, waits, here Place
	fine(t, held.Request(r[1], Write))
	fine(t, waits.Request(r[1], Write))
	n.settle(t)
	fine(t, held.Acquire(ctx))
	b, err := held.Writable()
	fine(t, err)
	b[0] = 9
	fine(t, here.Request(r[0], Write))

	n.sites[1].Suspect(0, errQuiet)
	if err := waits.Acquire(ctx); !errors.Is(err, ErrSuspected) || !errors.Is(err, errQuiet) {
		t.Errorf("who waits gets %v", err)
	}
	fine(t, waits.Cancel())
	if err := waits.Request(r[1], Read); !errors.Is(err, ErrStale) {
		t.Errorf("request while what was lost is not released: %v", err)
	}
	if err := held.Release(); !errors.Is(err, ErrStale) || !errors.Is(err, ErrSuspected) || held.Held() {
		t.Errorf("release of what is lost: %v", err)
	}
	fine(t, waits.Request(r[1], Read))
	n.settle(t)
	fine(t, here.Acquire(ctx))
	if err := here.Prior(); !errors.Is(err, ErrPriorHolderLost) {
		t.Errorf("after the loss of a writer: %v", err)
	}
	fine(t, here.Release())
	n.settle(t)
	fine(t, waits.Acquire(ctx))
	if b, _ := waits.Bytes(); b[0] != 0 {
		t.Error("what the lost writer wrote is there")
	}
	fine(t, waits.Release())
	n.settle(t)
}

// A mirror without requests has nothing to lose, and sends nothing.
func TestSuspectOfIdleMirror(t *testing.T) {
	n := newNetwork(2, SiteOptions{})
	r := n.share(t, "r", 16, 0, Options{})
	var p Place
	fine(t, p.Request(r[1], Write))
	n.settle(t)
	fine(t, p.Acquire(t.Context()))
	b, err := p.Writable()
	fine(t, err)
	b[0] = 9
	fine(t, p.Release())
	n.sites[1].Suspect(0, errQuiet) // while the release is under way
	n.settle(t)
	if r[0].ledger.Version() != 1 || r[0].buffer.Bytes()[0] != 9 {
		t.Error("what was released is lost")
	}
}

// A node knows by its own clock that a lease is over, before it is told.
func TestLeaseIsLookedAt(t *testing.T) {
	var over bool
	for name, use := range map[string]func(p *Place) error{
		"acquire": func(p *Place) error { return p.Acquire(t.Context()) },
		"release": func(p *Place) error { fine(t, p.Acquire(t.Context())); over = true; return p.Release() },
		"renew":   func(p *Place) error { fine(t, p.Acquire(t.Context())); over = true; return p.Renew() },
	} {
		over = false
		n := newNetwork(2, SiteOptions{Suspected: func(Node) error {
			if over {
				return errQuiet
			}
			return nil
		}})
		r := n.share(t, "r", 16, 0, Options{})
		var p Place
		fine(t, p.Request(r[1], Read))
		n.settle(t)
		over = name == "acquire"
		if err := use(&p); !errors.Is(err, ErrSuspected) || !errors.Is(err, errQuiet) {
			t.Errorf("%s after the lease: %v", name, err)
		}
		if p.Held() {
			t.Errorf("%s after the lease: still held", name)
		}
	}
}

// Bytes that are under way when the life they are for, or from, ends, are not changed
// until they have come: a network of the tests finds it.
func TestSuspectLeavesBytesUnderWay(t *testing.T) {
	t.Run("from the home", func(t *testing.T) {
		n := newNetwork(2, SiteOptions{})
		r := n.share(t, "r", 16, 0, Options{})
		var p, here Place
		fine(t, p.Request(r[1], Read))
		fine(t, n.move(lane{1, 0, false}))
		n.sites[1].Suspect(0, errQuiet)
		fine(t, n.move(lane{1, 0, false}))
		fine(t, here.Request(r[0], Write))
		fine(t, here.Acquire(t.Context()))
		b, err := here.Writable()
		fine(t, err)
		b[0] = 9
		if err := n.move(lane{0, 1, true}); !errors.Is(err, ErrOtherLife) {
			t.Errorf("a grant of another life: %v", err)
		}
		fine(t, here.Release())
	})
	t.Run("to the home", func(t *testing.T) {
		n := newNetwork(2, SiteOptions{})
		r := n.share(t, "r", 16, 0, Options{})
		var p Place
		fine(t, p.Request(r[1], Write))
		n.settle(t)
		fine(t, p.Acquire(t.Context()))
		b, err := p.Writable()
		fine(t, err)
		b[0] = 9
		fine(t, p.Renew())
		n.sites[1].Suspect(0, errQuiet)
		fine(t, p.Cancel())
		if err := p.Request(r[1], Read); !errors.As(err, new(*LostWriteError)) {
			t.Errorf("the next request after a lost write: %v", err)
		}
		fine(t, p.Request(r[1], Read))
		fine(t, n.move(lane{1, 0, false})) // it overtakes the release
		fine(t, n.move(lane{1, 0, false}))
		fine(t, n.move(lane{0, 1, true}))
		fine(t, p.Acquire(t.Context()))
		if b, _ := p.Bytes(); b[0] != 0 {
			t.Error("the mirror has bytes that the home never had")
		}
		if err := n.move(lane{1, 0, true}); !errors.Is(err, ErrOtherLife) {
			t.Errorf("a release of another life: %v", err)
		}
		fine(t, p.Release())
	})
}
