package queue

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/internal/queue/coherence"
)

// over is a context that has ended, for a Flush that asks and does not wait.
func over(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

// writeOnce has a place write the first byte, and hold.
func writeOnce(t *testing.T, n *network, p *Place, r *Resource, x byte) {
	t.Helper()
	fine(t, p.Request(r, Write))
	n.settle(t)
	fine(t, p.Acquire(t.Context()))
	b, err := p.Writable()
	fine(t, err)
	b[0] = x
}

// isLost checks that an error is a LostWriteError with this fence and reason.
func isLost(t *testing.T, err error, fence uint64, why error) {
	t.Helper()
	var e *LostWriteError
	if !errors.As(err, &e) || !errors.Is(err, ErrLost) || !errors.Is(err, why) {
		t.Fatalf("got %v, want a lost write, because of: %v", err, why)
	}
	if e.Resource != "r" || e.Home != 0 || e.Fence != fence {
		t.Errorf("got %+v, want the write of r at node 0 with fence %d", e, fence)
	}
}

// Flush waits until the home has taken the write. It asks once, and asks nothing when the
// answer is known.
func TestFlush(t *testing.T) {
	n := newNetwork(2, SiteOptions{})
	r := n.share(t, "r", 8, 0, Options{})
	var p, idle, local Place
	fine(t, n.sites[1].Flush(over(t)))
	fine(t, idle.Request(r[1], Read))
	fine(t, idle.Cancel())
	writeOnce(t, n, &p, r[1], 1)
	fine(t, n.sites[1].Flush(over(t))) // it concerns what was released
	fine(t, p.Release())
	for range 2 {
		err := n.sites[1].Flush(over(t))
		var e *PlaceError
		if !errors.Is(err, context.Canceled) || errors.Is(err, ErrLost) || !errors.As(err, &e) || e.Resource != "r" || e.Op != "flush" {
			t.Fatalf("flush of a write that is under way: %v", err)
		}
	}
	fine(t, n.sites[0].Flush(over(t)))
	before := n.sites[1].Counts().Sent
	if err := n.sites[1].Flush(over(t)); !errors.Is(err, context.Canceled) {
		t.Fatalf("flush of a node whose write is under way: %v", err)
	}
	n.settle(t)
	fine(t, n.sites[1].Flush(over(t)))
	if after := n.sites[1].Counts().Sent; after != before {
		t.Errorf("it asks again: %d messages more", after-before)
	}
	fine(t, local.Request(r[0], Write))
	fine(t, local.Acquire(t.Context()))
	_, err := local.Writable()
	fine(t, err)
	fine(t, local.Release())
	fine(t, n.sites[0].Flush(over(t)))
	if v := r[0].ledger.Version(); v != 2 {
		t.Errorf("version %d, want 2", v)
	}
}

// A pair asks nothing: the grant of its next request confirms the write before.
func TestFlushOfPairAsksNothing(t *testing.T) {
	n := newNetwork(2, SiteOptions{})
	r := n.share(t, "r", 8, 0, Options{})
	var p Place
	writeOnce(t, n, &p, r[1], 1)
	fine(t, p.Renew())
	n.settle(t)
	before := n.sites[1].Counts().Sent
	fine(t, n.sites[1].Flush(over(t)))
	if after := n.sites[1].Counts().Sent; after != before {
		t.Errorf("%d messages for what is known", after-before)
	}
}

// Flush wakes when the answer comes, and when the home is lost, behind a Release and behind a Renew.
func TestFlushWaits(t *testing.T) {
	for _, renew := range []bool{false, true} {
		for _, lost := range []bool{false, true} {
			n := newNetwork(2, SiteOptions{})
			r := n.share(t, "r", 8, 0, Options{})
			var p Place
			writeOnce(t, n, &p, r[1], 1)
			fence := p.Fence()
			end := p.Release
			if renew {
				end = p.Renew
			}
			fine(t, end())
			asks, done := make(chan struct{}, 1), make(chan error)
			n.sent = func(m *coherence.Message) {
				if m.Kind == coherence.ConfirmMessage {
					asks <- struct{}{}
				}
			}
			go func() { done <- n.sites[1].Flush(context.Background()) }()
			<-asks
			n.sent = nil
			if lost {
				n.sites[1].Away(0, errQuiet)
				isLost(t, <-done, fence, errQuiet)
				n.sites[1].Back(0, 1)
				clear(n.lanes)
			} else {
				n.settle(t)
				fine(t, <-done)
				if v := r[0].ledger.Version(); v != 1 {
					t.Errorf("renew %t: flushed at version %d, want 1", renew, v)
				}
			}
			if err := n.sites[1].Flush(over(t)); err != nil {
				t.Errorf("what Flush has named is named again: %v", err)
			}
			if p.Held() || p.Requested() != renew {
				t.Errorf("renew %t, lost %t: held %t, requested %t", renew, lost, p.Held(), p.Requested())
			}
			if renew {
				fine(t, p.Cancel())
			}
			if p.listed {
				t.Errorf("renew %t, lost %t: an idle place has left something behind", renew, lost)
			}
			if lost { // the place that wrote is told all the same
				isLost(t, p.Request(r[1], Read), fence, errQuiet)
			}
			fine(t, p.Request(r[1], Read)) // it says nothing more of the write
			n.settle(t)
			fine(t, p.Acquire(t.Context()))
			fine(t, p.Release())
		}
	}
}

// A pair writes, and suspects its home. The first message of the new life overtakes the
// bytes, so the home drops them. No node is lost, and the pair goes on. Its writer
// learns of the lost write, and so does a Flush of the node.
func TestLostWriteOfSuspicion(t *testing.T) {
	var endings []Ending
	n := newNetwork(2, SiteOptions{Ended: func(e Ending) { endings = append(endings, e) }})
	r := n.share(t, "r", 64<<10, 0, Options{})
	var p, other Place
	writeOnce(t, n, &p, r[1], 7)
	fence := p.Fence()
	fine(t, p.Renew())
	n.sites[1].Suspect(0, errQuiet)
	fine(t, n.move(lane{1, 0, false})) // joins
	if err := n.move(lane{1, 0, true}); !errors.Is(err, ErrOtherLife) {
		t.Fatalf("the write comes in time: %v", err)
	}
	if err := n.move(lane{0, 1, false}); !errors.Is(err, ErrOtherLife) { // so it learns nothing by that
		t.Fatalf("the home's answer to the write: %v", err)
	}
	if len(endings) != 1 || endings[0].Resource != r[1] || endings[0].Fence != fence {
		t.Fatalf("told %+v", endings)
	}
	isLost(t, endings[0].Why, fence, errQuiet)
	fine(t, other.Request(r[1], Read)) // another place has lost nothing
	err := p.Acquire(t.Context())
	isLost(t, err, fence, ErrSuspected)
	for _, want := range []string{`a write of "r"`, "may be lost", "node 0", "write again"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
	fine(t, p.Cancel())
	fine(t, p.Request(r[1], Write)) // it was told
	fine(t, other.Cancel())
	n.settle(t)
	fine(t, p.Acquire(t.Context()))
	if b, _ := p.Bytes(); b[0] != 0 || p.Version() != 0 {
		t.Fatalf("the write is there: %d, version %d", b[0], p.Version())
	}
	fine(t, p.Release())
	n.settle(t)
	isLost(t, n.sites[1].Flush(over(t)), fence, errQuiet)
	fine(t, n.sites[1].Flush(over(t)))
}

// Whatever ends the life of a mirror, the place that wrote is told once, by its next
// request, and the node by Flush.
func TestLostWrite(t *testing.T) {
	for title, end := range map[string]struct {
		end func(t *testing.T, n *network, r []*Resource)
		why error
	}{
		"the home is lost": {func(_ *testing.T, n *network, _ []*Resource) {
			n.sites[1].Lost(0, errQuiet)
			n.sites[1].Back(0, 1)
		}, errQuiet},
		"the home has given up the node": {func(t *testing.T, n *network, _ []*Resource) {
			n.sites[0].Lost(1, errQuiet)
			if err := n.move(lane{1, 0, true}); !errors.Is(err, ErrOtherLife) {
				t.Fatal(err)
			}
			fine(t, n.move(lane{0, 1, false}))
		}, ErrEnded},
		"the resource is broken at its home": {func(t *testing.T, n *network, r []*Resource) {
			r[0].Break(errFire)
			if err := n.move(lane{1, 0, true}); !errors.Is(err, ErrOtherLife) {
				t.Fatal(err)
			}
			fine(t, n.move(lane{0, 1, false}))
		}, ErrBroken},
	} {
		t.Run(title, func(t *testing.T) {
			n := newNetwork(2, SiteOptions{})
			r := n.share(t, "r", 8, 0, Options{})
			var p, other Place
			writeOnce(t, n, &p, r[1], 1)
			fence := p.Fence()
			fine(t, p.Release())
			end.end(t, n, r)
			if err := other.Request(r[1], Read); errors.As(err, new(*LostWriteError)) {
				t.Errorf("a place that has written nothing is told: %v", err)
			}
			isLost(t, p.Request(r[1], Write), fence, end.why)
			if err := p.Request(r[1], Write); errors.As(err, new(*LostWriteError)) {
				t.Errorf("it is told again: %v", err)
			}
			isLost(t, n.sites[1].Flush(over(t)), fence, end.why)
			fine(t, n.sites[1].Flush(over(t)))
			if f := r[1].mirror; f.lostWrites != nil {
				t.Error("a lost write that everybody knows is kept")
			}
		})
	}
}

// The second sweep after a write asks for it, so that the loss of an idle home says nothing
// of writes that are long committed. The next request of a pair may wait for long, too.
func TestSweepAsks(t *testing.T) {
	for _, renew := range []bool{false, true} {
		n := newNetwork(2, SiteOptions{Later: never})
		r := n.share(t, "r", 8, 0, Options{})
		var p, ahead Place
		writeOnce(t, n, &p, r[1], 1)
		fine(t, ahead.Request(r[0], Write))
		end := p.Release
		if renew {
			end = p.Renew
		}
		fine(t, end())
		n.settle(t)
		for range 2 {
			if r[1].mirror.half.Unconfirmed() == 0 {
				t.Fatal("it is confirmed before anybody has asked")
			}
			n.sites[1].sweep()
			n.settle(t)
		}
		n.sites[1].Lost(0, errQuiet)
		fine(t, n.sites[1].Flush(over(t)))
		n.sites[1].Back(0, 1)
		if renew {
			if err := p.Acquire(t.Context()); errors.As(err, new(*LostWriteError)) {
				t.Errorf("a write that is committed is reported: %v", err)
			}
			fine(t, p.Cancel())
		}
		fine(t, p.Request(r[1], Write))
	}
}

// never sweeps.
func never(func()) {}

// A write that a next request confirms is not asked for. The second sweep after the last write asks, and is the
// last one.
func TestSweepsEnd(t *testing.T) {
	var later []func()
	n := newNetwork(2, SiteOptions{Later: func(sweep func()) { later = append(later, sweep) }})
	sweep := func() {
		for all := later; len(all) > 0; all = all[1:] {
			later = later[1:]
			all[0]()
		}
		n.settle(t)
	}
	r := n.share(t, "r", 8, 0, Options{})
	asks := 0
	n.sent = func(m *coherence.Message) {
		if m.Kind == coherence.ConfirmMessage {
			asks++
		}
	}
	for range 10 {
		var p Place
		writeOnce(t, n, &p, r[1], 1)
		fine(t, p.Release())
		n.settle(t)
		if sweep(); asks > 0 {
			t.Fatal("asked for, though the next request confirms it")
		}
	}
	if sweep(); asks != 1 || r[1].mirror.half.Unconfirmed() != 0 {
		t.Errorf("the second sweep asks %d times, want once", asks)
	}
	if sweep(); asks != 1 || len(later) > 0 {
		t.Errorf("swept, though there is nothing: %d will be", len(later))
	}
}
