package queue

import (
	"errors"
	"fmt"
	"testing"
)

// failing is a write that fails after it has made the first byte 7.
func failing(t *testing.T, n *network, r *Resource) *Place {
	t.Helper()
	w := taken(t, n, r, Write)
	b, err := w.Writable()
	fine(t, err)
	b[0] = 7
	return w
}

// taken is a place that holds r.
func taken(t *testing.T, n *network, r *Resource, m Mode) *Place {
	t.Helper()
	p := new(Place)
	fine(t, p.Request(r, m))
	n.settle(t)
	fine(t, p.Acquire(t.Context()))
	return p
}

// left ends an access.
func left(t *testing.T, n *network, p *Place) {
	t.Helper()
	fine(t, p.Release())
	n.settle(t)
}

// A writer that fails never commits. The next holders get the last committed bytes, or
// half-written bytes and a notice of it, at home and at a mirror.
func TestAbandon(t *testing.T) {
	const home, mirror = 0, 1
	for _, c := range []struct {
		at      int   // where the writer is
		want    error // the error that the next places get
		bytes   byte
		version uint64
	}{
		{at: mirror, want: ErrPriorHolderLost, bytes: 1, version: 1},
		{at: home, want: ErrPoisoned, bytes: 7, version: 2}, // there is no copy
	} {
		t.Run(fmt.Sprint(c.at), func(t *testing.T) {
			n := newNetwork(2, SiteOptions{})
			r := n.share(t, "r", 8, home, Options{})
			first := taken(t, n, r[mirror], Write)
			b, err := first.Writable()
			fine(t, err)
			b[0] = 1
			left(t, n, first)
			left(t, n, taken(t, n, r[home], Read)) // both nodes have version 1

			w := failing(t, n, r[c.at])
			var after [2]Place
			for i := range after {
				fine(t, after[i].Request(r[i], Read))
			}
			n.settle(t)
			fine(t, w.Abandon(errFire))
			n.settle(t)
			for i := range after {
				fine(t, after[i].Acquire(t.Context()))
				if err := after[i].Prior(); !errors.Is(err, c.want) {
					t.Errorf("node %d: prior is %v, want %v", i, err, c.want)
				}
				if b, _ := after[i].Bytes(); b[0] != c.bytes || after[i].Version() != c.version {
					t.Errorf("node %d: version %d is %v, want version %d to begin with %d", i, after[i].Version(), b, c.version, c.bytes)
				}
				fine(t, after[i].Release())
			}
			n.settle(t)
			// Prior tells the next writer, and no longer the one after it.
			for i := range 2 {
				w := taken(t, n, r[1-c.at], Write)
				if told := w.Prior() != nil; told != (i == 0) {
					t.Errorf("writer %d: prior is %v", i, w.Prior())
				}
				_, err := w.Writable()
				fine(t, err)
				left(t, n, w)
			}
		})
	}
}

// An access that changed nothing is only released when it fails: no version, no notice.
func TestAbandonOfWhatChangedNothing(t *testing.T) {
	for at := range 2 {
		for _, m := range []Mode{Read, Write} {
			t.Run(fmt.Sprint(at, m), func(t *testing.T) {
				n := newNetwork(2, SiteOptions{})
				r := n.share(t, "r", 8, 0, Options{})
				p := taken(t, n, r[at], m)
				_, err := p.Bytes()
				fine(t, err)
				fence := p.Fence()
				fine(t, p.Abandon(errFire))
				n.settle(t)
				for _, r := range r {
					p := taken(t, n, r, Read)
					if p.Prior() != nil || p.Version() != 0 || p.Fence() != fence {
						t.Errorf("prior %v, version %d, fence %d, want none, 0, %d", p.Prior(), p.Version(), p.Fence(), fence)
					}
					left(t, n, p)
				}
			})
		}
	}
}

// Abandon takes a request back, and refuses a place that has none.
func TestAbandonOfARequest(t *testing.T) {
	r := newResource(t, 8)
	var holds, waits, behind Place
	fine(t, holds.Request(r, Write))
	fine(t, waits.Request(r, Write))
	fine(t, behind.Request(r, Write))
	fine(t, waits.Abandon(errFire))
	if err := waits.Abandon(errFire); !errors.Is(err, ErrNotHeld) {
		t.Errorf("without a request: %v", err)
	}
	fine(t, holds.Acquire(t.Context()))
	fine(t, holds.Release())
	if !behind.Granted() {
		t.Error("the next one still waits")
	}
}

// Half-written bytes stay poisoned until the next commit, also if more writers fail or
// are lost before.
func TestPoisonStays(t *testing.T) {
	n := newNetwork(2, SiteOptions{})
	r := n.share(t, "r", 8, 0, Options{})
	fine(t, failing(t, n, r[0]).Abandon(errFire))
	poisoned := func(after string) {
		t.Helper()
		for i, r := range r {
			p := taken(t, n, r, Read)
			if err := p.Prior(); !errors.Is(err, ErrPoisoned) {
				t.Errorf("node %d after %s: %v", i, after, err)
			}
			left(t, n, p)
		}
	}
	poisoned("the failure")
	left(t, n, taken(t, n, r[0], Write))
	left(t, n, taken(t, n, r[1], Write))
	poisoned("writers that wrote nothing")
	fine(t, failing(t, n, r[1]).Abandon(errFire))
	n.settle(t)
	poisoned("the failure of a mirror's writer")
	failing(t, n, r[1])
	n.sites[0].Lost(1, errFire)
	clear(n.lanes)
	p := taken(t, n, r[0], Read)
	if err := p.Prior(); !errors.Is(err, ErrPoisoned) {
		t.Errorf("after the loss of a mirror's writer: %v", err)
	}
	fine(t, p.Release())
}

// At home, Prior tells the reason of the poison, but not an older one's.
func TestPoisonTellsTheReason(t *testing.T) {
	n := newNetwork(2, SiteOptions{})
	r := n.share(t, "r", 8, 0, Options{})
	fine(t, failing(t, n, r[0]).Abandon(errFire))
	p := taken(t, n, r[0], Read)
	if err := p.Prior(); !errors.Is(err, ErrPoisoned) || !errors.Is(err, errFire) {
		t.Errorf("prior is %v", err)
	}
	left(t, n, p)
	w := taken(t, n, r[0], Write)
	_, err := w.Writable()
	fine(t, err)
	left(t, n, w)
	fine(t, failing(t, n, r[1]).Abandon(errors.New("another")))
	n.settle(t)
	p = taken(t, n, r[0], Read)
	if err := p.Prior(); !errors.Is(err, ErrPriorHolderLost) || errors.Is(err, errFire) {
		t.Errorf("prior is %v, after the failure of a writer elsewhere", err)
	}
	left(t, n, p)
}
