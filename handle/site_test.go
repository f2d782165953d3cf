package handle

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/orwl/go-orwl/resource"
)

// pipe joins two sites. settle delivers the messages of each to the other.
type pipe struct {
	sites [2]*resource.Site
	under []func() error
}

type end struct {
	p    *pipe
	from resource.Node
}

func (e end) Post(to resource.Node, header, bulk []byte, lasting bool) error {
	return e.Send(to, header, bulk, lasting)
}

func (e end) Send(to resource.Node, header, bulk []byte, _ bool) error {
	header, bulk = slices.Clone(header), slices.Clone(bulk)
	e.p.under = append(e.p.under, func() error {
		_, err := e.p.sites[to].Deliver(e.from, header, resource.Bulk{Bytes: bulk})
		return err
	})
	return nil
}

func (p *pipe) settle(t *testing.T) {
	t.Helper()
	for len(p.under) > 0 {
		next := p.under[0]
		p.under = p.under[1:]
		fine(t, next())
	}
}

// mirrored is a resource at home and its mirror.
func mirrored(t *testing.T, size int) (p *pipe, home, mirror *resource.Resource) {
	t.Helper()
	p = new(pipe)
	var r [2]*resource.Resource
	for i := range r {
		var err error
		p.sites[i], err = resource.NewSite(resource.SiteOptions{Node: resource.Node(i), Nodes: 2, Transport: end{p, resource.Node(i)}})
		fine(t, err)
		r[i], err = resource.New("r", size)
		fine(t, err)
	}
	fine(t, p.sites[0].Home(r[0], resource.HomeAt{}))
	fine(t, p.sites[1].Mirror(r[1], 0))
	return p, r[0], r[1]
}

// A pair at a mirror and a pair at home take turns.
func TestPairsOfNodes(t *testing.T) {
	p, home, mirror := mirrored(t, 8)
	var a, b Pair
	fine(t, a.Request(home, resource.Write))
	fine(t, b.Request(mirror, resource.Write))
	p.settle(t)
	for i := range 20 {
		pair := []*Pair{&a, &b}[i%2]
		if got := pair.Test(); got != Granted {
			t.Fatalf("turn %d: %v", i, got)
		}
		fine(t, pair.Acquire(t.Context()))
		v, err := Write[int64](pair)
		fine(t, err)
		if v[0] != int64(i) || pair.Prior() != nil || pair.Version() != uint64(i) {
			t.Fatalf("turn %d: %d is there, version %d", i, v[0], pair.Version())
		}
		v[0]++
		fine(t, pair.Next())
		p.settle(t)
	}
	fine(t, a.Cancel())
	fine(t, b.Cancel())
	p.settle(t)
}

// A writer that names 64 bytes of 1 MiB has only these sent, whichever side it is on. The reader sees all of
// its writes.
func TestNamedBytesTravelAlone(t *testing.T) {
	const size, rounds = 1 << 20, 40
	for name, writer := range map[string]int{"from the home": 0, "from the mirror": 1} {
		t.Run(name, func(t *testing.T) {
			p, home, mirror := mirrored(t, size)
			r := [2]*resource.Resource{home, mirror}
			var w, h Pair
			fine(t, w.Request(r[writer], resource.Write))
			p.settle(t)
			fine(t, h.Request(r[1-writer], resource.Read))
			want := make([]byte, size)
			for round := range rounds {
				p.settle(t)
				before := p.sites[0].Counts().BytesOut + p.sites[1].Counts().BytesOut
				fine(t, w.Acquire(t.Context()))
				off := round * 7919 % (size - 64)
				b, err := WritePart[byte](&w, off, off+64)
				fine(t, err)
				for i := range b {
					b[i]++
					want[off+i]++
				}
				fine(t, w.Next())
				p.settle(t)
				fine(t, h.Acquire(t.Context()))
				got, err := h.Place().Bytes()
				fine(t, err)
				if !slices.Equal(got, want) {
					t.Fatalf("round %d: the reader sees something else", round)
				}
				fine(t, h.Next())
				if moved := p.sites[0].Counts().BytesOut + p.sites[1].Counts().BytesOut - before; round > 0 && moved != 64 {
					t.Errorf("round %d moves %d bytes, want 64", round, moved)
				}
			}
		})
	}
}

// An announcement at a mirror counts the bytes that arrived before Acquire.
func TestAnnounceAtMirror(t *testing.T) {
	p, home, mirror := mirrored(t, 64)
	now := func() time.Time { return time.Time{} }
	var w, h Handle
	fine(t, w.Request(home, resource.Read))
	fine(t, w.Acquire(t.Context()))
	fine(t, h.Announce(mirror, resource.Write, now))
	if got := h.Prefetch(); got != (Prefetch{}) {
		t.Errorf("before anything moves: %+v", got)
	}
	p.settle(t)
	if got, want := h.Prefetch(), (Prefetch{Here: 64}); got != want {
		t.Errorf("behind a reader: %+v, want %+v", got, want)
	}
	ready, err := h.Ready()
	fine(t, err)
	fine(t, w.Release())
	p.settle(t)
	<-ready
	fine(t, h.Acquire(t.Context()))
	if got, want := h.Prefetch(), (Prefetch{Here: 64, Size: 64, Granted: true, Ahead: 64}); got != want {
		t.Errorf("acquired: %+v, want %+v", got, want)
	}
	fine(t, h.Release())
	p.settle(t)
	// Bytes that are here do not come again.
	fine(t, h.Announce(mirror, resource.Read, now))
	p.settle(t)
	fine(t, h.Acquire(t.Context()))
	if got, want := h.Prefetch(), (Prefetch{Here: 64, Size: 64, Granted: true}); got != want {
		t.Errorf("acquired again: %+v, want %+v", got, want)
	}
	fine(t, h.Release())
}

// The context of a grant ends when its home is lost, and the release returns an error.
func TestContextAtMirror(t *testing.T) {
	p, home, mirror := mirrored(t, 8)
	why := errors.New("cable pulled")
	var h, next Handle
	fine(t, h.Request(mirror, resource.Write))
	p.settle(t)
	fine(t, h.Acquire(t.Context()))
	ctx, err := h.Context(t.Context())
	fine(t, err)
	p.sites[1].Away(0, why)
	if cause := context.Cause(ctx); !errors.Is(cause, resource.ErrLost) || !errors.Is(cause, why) {
		t.Errorf("ended for %v", cause)
	}
	if late, err := h.Context(t.Context()); err != nil || late.Err() == nil {
		t.Errorf("%v, %v", late, err)
	}
	if _, err := Write[int64](&h); !errors.Is(err, resource.ErrLost) {
		t.Errorf("a view: %v", err)
	}
	if err := h.Release(); !errors.Is(err, resource.ErrStale) {
		t.Errorf("release: %v", err)
	}
	fine(t, next.Request(home, resource.Read))
	p.sites[0].Lost(1, why)
	p.settle(t)
	fine(t, next.Acquire(t.Context()))
	if err := next.Prior(); !errors.Is(err, resource.ErrPriorHolderLost) {
		t.Errorf("prior: %v", err)
	}
}
