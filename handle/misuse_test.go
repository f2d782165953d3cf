package handle

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/orwl/go-orwl/resource"
)

// Each misuse of a handle or a pair is an error and changes nothing: the access then
// goes on.
func TestMisuse(t *testing.T) {
	ctx := context.Background()
	type phase int
	const idle, waits, reads, writes phase = 0, 1, 2, 3
	for _, c := range []struct {
		name  string
		in    phase
		do    func(g asker, h *Handle, r *resource.Resource) error
		match error
		text  string
	}{
		{"request twice", waits, func(g asker, _ *Handle, r *resource.Resource) error { return g.Request(r, resource.Write) }, resource.ErrRequested,
			`resource: request of "grid" (read): requested already: acquire and release, or cancel, first`},
		{"request while held", writes, func(g asker, _ *Handle, r *resource.Resource) error { return g.Request(r, resource.Write) }, resource.ErrRequested,
			`resource: request of "grid" (write): requested already: acquire and release, or cancel, first`},
		{"announce twice", waits, func(_ asker, h *Handle, r *resource.Resource) error {
			return h.Announce(r, resource.Write, time.Now)
		}, resource.ErrRequested,
			`resource: request of "grid" (read): requested already: acquire and release, or cancel, first`},
		{"no such mode", idle, func(g asker, _ *Handle, r *resource.Resource) error { return g.Request(r, 2) }, resource.ErrMode,
			`resource: request of "grid" (read): resource: no such mode: 2: want Read or Write`},
		{"acquire unasked", idle, func(g asker, _ *Handle, _ *resource.Resource) error { return g.Acquire(ctx) }, resource.ErrNotRequested,
			`resource: acquire of "grid" (read): not requested: request it first`},
		{"acquire twice", reads, func(g asker, _ *Handle, _ *resource.Resource) error { return g.Acquire(ctx) }, resource.ErrHeld,
			`resource: acquire of "grid" (read): acquired already: release it first`},
		{"release unasked", idle, func(_ asker, h *Handle, _ *resource.Resource) error { return h.Release() }, resource.ErrNotHeld,
			`resource: release of "grid" (read): not acquired: acquire it first`},
		{"release without acquire", waits, func(_ asker, h *Handle, _ *resource.Resource) error { return h.Release() }, resource.ErrNotHeld,
			`resource: release of "grid" (read): not acquired: acquire it first`},
		{"cancel while held", reads, func(g asker, _ *Handle, _ *resource.Resource) error { return g.Cancel() }, resource.ErrHeld,
			`resource: cancel of "grid" (read): acquired already: release it first`},
		{"cancel unasked", idle, func(g asker, _ *Handle, _ *resource.Resource) error { return g.Cancel() }, resource.ErrNotRequested,
			`resource: cancel of "grid" (read): not requested: request it first`},
		{"map without acquire", waits, func(g asker, _ *Handle, _ *resource.Resource) error { _, err := Read[float64](g); return err }, resource.ErrNotHeld,
			`resource: map of "grid" (read): not acquired: acquire it first`},
		{"write of a reader", reads, func(g asker, _ *Handle, _ *resource.Resource) error { _, err := Write[float64](g); return err }, resource.ErrReadOnly,
			`resource: map of "grid" (read): held for reading: request it for writing`},
		{"write without acquire", waits, func(g asker, _ *Handle, _ *resource.Resource) error { _, err := Write[float64](g); return err }, resource.ErrNotHeld,
			`resource: map of "grid" (read): not acquired: acquire it first`},
		{"resize of a reader", reads, func(_ asker, h *Handle, _ *resource.Resource) error { return h.Resize(32) }, resource.ErrReadOnly,
			`resource: resize of "grid" (read): held for reading: request it for writing`},
		{"resize to 12", writes, func(_ asker, h *Handle, _ *resource.Resource) error { return h.Resize(12) }, resource.ErrSize,
			`resource: resize of "grid" (write): size must be 0 or a multiple of 8, not 12`},
		{"context without acquire", waits, func(_ asker, h *Handle, _ *resource.Resource) error { _, err := h.Context(ctx); return err }, resource.ErrNotHeld,
			`resource: watch of "grid" (read): not acquired: acquire it first`},
		{"view of what does not fit", reads, func(g asker, _ *Handle, _ *resource.Resource) error { _, err := Read[[3]float64](g); return err }, &LengthError{},
			`handle: the 16 bytes of "grid" are no whole number of [3]float64, which has 24 bytes: resize the resource to a multiple of 24, or view a type that fits`},
		{"slice of what does not fit", writes, func(g asker, _ *Handle, _ *resource.Resource) error { _, err := Write[[3]float64](g); return err }, &LengthError{},
			`handle: the 16 bytes of "grid" are no whole number of [3]float64, which has 24 bytes: resize the resource to a multiple of 24, or view a type that fits`},
		{"part of what does not fit", writes, func(g asker, _ *Handle, _ *resource.Resource) error {
			_, err := WritePart[[3]float64](g, 0, 1)
			return err
		}, &LengthError{},
			`handle: the 16 bytes of "grid" are no whole number of [3]float64, which has 24 bytes: resize the resource to a multiple of 24, or view a type that fits`},
		{"part by a reader", reads, func(g asker, _ *Handle, _ *resource.Resource) error {
			_, err := WritePart[float64](g, 0, 1)
			return err
		}, resource.ErrReadOnly,
			`resource: map of "grid" (read): held for reading: request it for writing`},
		{"part of ints", writes, func(g asker, _ *Handle, _ *resource.Resource) error { _, err := WritePart[int](g, 0, 1); return err }, &TypeError{},
			`handle: no view of int: int: an int: its size depends on the machine: use int64 or int32`},
		{"view of ints", reads, func(g asker, _ *Handle, _ *resource.Resource) error { _, err := Read[int](g); return err }, &TypeError{},
			`handle: no view of int: int: an int: its size depends on the machine: use int64 or int32`},
		{"slice of ints", writes, func(g asker, _ *Handle, _ *resource.Resource) error { _, err := Write[int](g); return err }, &TypeError{},
			`handle: no view of int: int: an int: its size depends on the machine: use int64 or int32`},
	} {
		for _, kind := range []string{"handle", "pair"} {
			t.Run(c.name+", "+kind, func(t *testing.T) {
				r := newResource(t, 16)
				var p Pair
				var g asker = &p.Handle
				announce := p.Handle.Announce
				if kind == "pair" {
					g, announce = &p, p.Announce
				}
				fine(t, g.Request(r, resource.Read))
				fine(t, g.Cancel())
				mode := resource.Read
				if c.in == writes {
					mode = resource.Write
				}
				now := time.Unix(0, 0)
				clock := func() time.Time { return now }
				before := Prefetch{}
				if c.in != idle {
					if kind == "pair" {
						// One iteration first, so that a lost count shows.
						fine(t, announce(r, mode, clock))
						fine(t, g.Acquire(ctx))
						fine(t, p.Next())
					} else {
						fine(t, announce(r, mode, clock))
					}
				}
				if c.in >= reads {
					fine(t, g.Acquire(ctx))
				}
				if c.in != idle {
					before = p.Prefetch()
					if !before.Granted || before.Size != 16 {
						t.Fatalf("prefetched %+v", before)
					}
				}
				iteration := p.Iteration()
				err := c.do(g, &p.Handle, r)
				if err == nil || err.Error() != c.text {
					t.Errorf("got  %v\nwant %s", err, c.text)
				}
				switch c.match.(type) {
				case *LengthError:
					var e *LengthError
					if !errors.As(err, &e) || e.Bytes != 16 {
						t.Errorf("%v is no LengthError of 16 bytes", err)
					}
				case *TypeError:
					var e *TypeError
					if !errors.As(err, &e) {
						t.Errorf("%v is no TypeError", err)
					}
				default:
					var e *resource.PlaceError
					if !errors.Is(err, c.match) || !errors.As(err, &e) {
						t.Errorf("%v does not match %v", err, c.match)
					}
				}
				if p.Iteration() != iteration {
					t.Errorf("iteration %d, want %d", p.Iteration(), iteration)
				}
				if c.in == idle {
					fine(t, g.Request(r, mode))
				} else {
					if got := p.Prefetch(); got != before {
						t.Errorf("prefetched %+v, want %+v as before", got, before)
					}
					ready, err := g.Ready()
					fine(t, err)
					<-ready
				}
				if c.in <= waits {
					fine(t, g.Acquire(ctx))
				}
				v, err := Read[float64](g)
				if err != nil || v.Len() != 2 {
					t.Errorf("%d elements, %v", v.Len(), err)
				}
				fine(t, g.Release())
				var other Handle
				fine(t, other.Request(r, resource.Write))
				fine(t, other.Acquire(ctx))
				if n := other.Version(); n != 0 {
					t.Errorf("version %d, though nothing was written", n)
				}
			})
		}
	}
}

// A failed release does not count as an iteration.
func TestPairMisuse(t *testing.T) {
	r := newResource(t, 8)
	var p Pair
	for op, do := range map[string]func() error{"next": p.Next, "release": p.Release} {
		if err := do(); !errors.Is(err, resource.ErrNotHeld) {
			t.Errorf("%s: %v", op, err)
		}
	}
	fine(t, p.Request(r, resource.Write))
	if err := p.Next(); !errors.Is(err, resource.ErrNotHeld) || err.Error() != `resource: renew of "grid" (write): not acquired: acquire it first` {
		t.Error(err)
	}
	if err := p.Release(); !errors.Is(err, resource.ErrNotHeld) {
		t.Error(err)
	}
	if p.Iteration() != 0 {
		t.Errorf("iteration %d, want 0", p.Iteration())
	}
	fine(t, p.Acquire(context.Background()))
	fine(t, p.Next())
	fine(t, p.Acquire(context.Background()))
	fine(t, p.Release())
	if p.Iteration() != 2 || p.Test() != Idle {
		t.Errorf("iteration %d, want 2 and idle", p.Iteration())
	}
	fine(t, p.Request(r, resource.Read))
	if p.Iteration() != 0 {
		t.Errorf("iteration %d after a new request, want 0", p.Iteration())
	}
}
