package queue

import (
	"context"
	"slices"
	"testing"

	"github.com/orwl/go-orwl/internal/queue/coherence"
)

// Resizing names all bytes, whatever the writer names before or afterwards.
func TestResizeNamesAll(t *testing.T) {
	for name, when := range map[string]func(p *Place){
		"named before":     func(p *Place) { fine(t, p.Dirty(Range{0, 8})); fine(t, p.Resize(32)) },
		"named afterwards": func(p *Place) { fine(t, p.Resize(32)); fine(t, p.Dirty(Range{0, 8})) },
		"to and fro": func(p *Place) {
			fine(t, p.Resize(8))
			fine(t, p.Resize(0))
			fine(t, p.Resize(32))
			fine(t, p.Dirty(Range{24, 8}))
		},
	} {
		r := newResource(t, 16)
		var p Place
		fine(t, p.Request(r, Write))
		fine(t, p.Acquire(t.Context()))
		fine(t, p.Dirty(Range{0, 8}))
		fine(t, p.Renew())
		fine(t, p.Acquire(t.Context()))
		if n := p.x.dirty.Bytes(); n != 0 {
			t.Errorf("%s: %d bytes are named after the access", name, n)
		}
		when(&p)
		if n := p.x.dirty.Bytes(); n != 32 {
			t.Errorf("%s: %d bytes are named, want all 32", name, n)
		}
	}
}

// The parts that a writer asks for are what it names, unless it asks for all bytes, too.
func TestPartsAreNamed(t *testing.T) {
	part := func(off, n int) func(t *testing.T, p *Place) {
		return func(t *testing.T, p *Place) {
			b, err := p.WritablePart(Range{off, n})
			fine(t, err)
			if len(b) != n || cap(b) != n || n > 0 && &b[0] != &p.r.buffer.Bytes()[off] {
				t.Errorf("a part of %d bytes from %d on has %d, and room for %d", n, off, len(b), cap(b))
			}
		}
	}
	all := func(t *testing.T, p *Place) {
		_, err := p.Writable()
		fine(t, err)
	}
	dirty := func(t *testing.T, p *Place) { fine(t, p.Dirty(Range{16, 8})) }
	for name, c := range map[string]struct {
		asks []func(t *testing.T, p *Place)
		want []coherence.Span // nil: all
	}{
		"one part":               {asks: []func(t *testing.T, p *Place){part(8, 8)}, want: []coherence.Span{{Off: 8, Len: 8}}},
		"two parts":              {asks: []func(t *testing.T, p *Place){part(40, 8), part(8, 4)}, want: []coherence.Span{{Off: 8, Len: 4}, {Off: 40, Len: 8}}},
		"a part, then all":       {asks: []func(t *testing.T, p *Place){part(8, 8), all}},
		"all, then a part":       {asks: []func(t *testing.T, p *Place){all, part(8, 8)}},
		"all between parts":      {asks: []func(t *testing.T, p *Place){part(8, 8), all, part(16, 8)}},
		"a part and a name":      {asks: []func(t *testing.T, p *Place){part(8, 8), dirty}, want: []coherence.Span{{Off: 8, Len: 16}}},
		"all, a name and a part": {asks: []func(t *testing.T, p *Place){all, dirty, part(24, 8)}, want: []coherence.Span{{Off: 16, Len: 16}}},
		"all bytes as a part":    {asks: []func(t *testing.T, p *Place){part(0, 64)}},
		"nothing as a part":      {asks: []func(t *testing.T, p *Place){part(8, 0)}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newResource(t, 64)
			var p Place
			fine(t, p.Request(r, Write))
			for range 2 { // the second turn begins with nothing
				fine(t, p.Acquire(t.Context()))
				for _, ask := range c.asks {
					ask(t, &p)
				}
				if got := p.x.dirty.Part(64); !slices.Equal(got, c.want) {
					t.Errorf("%v is named, want %v", got, c.want)
				}
				fine(t, p.Renew())
			}
			if v, _ := r.ledger.Seen(); v != 2 {
				t.Errorf("%d writes are committed, want 2", v)
			}
		})
	}
}

// Naming ranges allocates once only.
func TestDirtyAllocatesNothing(t *testing.T) {
	r := newResource(t, 800)
	var p Place
	fine(t, p.Request(r, Write))
	ctx := context.Background()
	round := func() {
		fine(t, p.Acquire(ctx))
		fine(t, p.Dirty(Range{0, 8}))
		fine(t, p.Dirty(Range{64, 8}))
		fine(t, p.Renew())
	}
	if n := testing.AllocsPerRun(50, round); n != 0 {
		t.Errorf("a round with names allocates %v times", n)
	}
}
