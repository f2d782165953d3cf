package resource

import (
	"context"
	"testing"
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
