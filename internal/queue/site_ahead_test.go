package queue

import (
	"context"
	"encoding/binary"
	"errors"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

// A relaxed section at home keeps mirrors out, who do not lose their turn, and is
// kept out by them. Without a guard there is none elsewhere.
func TestSiteRelaxed(t *testing.T) {
	home, _ := hinged(t, "RMA-RW", RelaxedOptions{})
	n := newNetwork(2, SiteOptions{})
	mirror, err := New(home.Name(), 16)
	fine(t, err)
	fine(t, n.sites[0].Home(home))
	fine(t, n.sites[1].Mirror(mirror, 0))
	ctx := t.Context()
	if err := mirror.Open(ctx); !errors.Is(err, ErrNoRelaxed) {
		t.Errorf("relaxed access to a mirror: %v", err)
	}
	var w Place
	for i := range 5 {
		if i == 2 {
			fine(t, home.Open(ctx)) // from now on
		}
		fine(t, w.Request(mirror, Write))
		n.settle(t)
		fine(t, w.Acquire(ctx))
		if i >= 2 {
			if err := home.ReadRelaxed(ended(), func([]byte) error { return nil }); !errors.Is(err, context.Canceled) {
				t.Fatalf("a relaxed read beside a writer: %v", err)
			}
		}
		b, err := w.Writable()
		fine(t, err)
		b[0]++
		fine(t, w.Release())
		n.settle(t)
		if i >= 2 {
			fine(t, home.WriteRelaxed(ctx, func(b []byte) error {
				if int(b[0]) != 2*i-1 {
					t.Errorf("%d is there, want %d", b[0], 2*i-1)
				}
				b[0]++
				return nil
			}))
		}
	}
	// A pair that goes on.
	fine(t, w.Request(mirror, Write))
	n.settle(t)
	for range 3 {
		fine(t, w.Acquire(ctx))
		fine(t, w.Renew())
		n.settle(t)
	}
	fine(t, w.Cancel())
	n.settle(t)
	fine(t, home.WriteRelaxed(ctx, func([]byte) error { return nil }))
}

// Places here and there, and relaxed sections, all at once: none is lost, and every
// write counts.
func TestSiteRelaxedStress(t *testing.T) {
	defer goleak.VerifyNone(t)
	p := newPost(t, 2)
	defer p.close()
	home, _ := hinged(t, "RMA-RW", RelaxedOptions{})
	mirror, err := New(home.Name(), 16)
	fine(t, err)
	fine(t, p.sites[0].Home(home))
	fine(t, p.sites[1].Mirror(mirror, 0))
	const rounds = 100
	add := func(b []byte) { binary.NativeEndian.PutUint64(b, binary.NativeEndian.Uint64(b)+1) }
	var all sync.WaitGroup
	for i := range 6 {
		all.Go(func() {
			r := []*Resource{home, mirror}[i%2]
			var p Place
			fine(t, p.Request(r, Write))
			for n := range rounds {
				fine(t, p.Acquire(context.Background()))
				b, err := p.Writable()
				fine(t, err)
				add(b)
				if n == rounds-1 {
					fine(t, p.Release())
				} else {
					fine(t, p.Renew())
				}
			}
		})
	}
	for range 2 {
		all.Go(func() {
			for range rounds {
				fine(t, home.WriteRelaxed(context.Background(), func(b []byte) error {
					add(b)
					return nil
				}))
			}
		})
	}
	all.Wait()
	fine(t, home.ReadRelaxed(context.Background(), func(b []byte) error {
		if n := binary.NativeEndian.Uint64(b); n != 8*rounds {
			t.Errorf("%d writes, want %d", n, 8*rounds)
		}
		return nil
	}))
}
