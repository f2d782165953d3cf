package handle

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/internal/typed"
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
		{"request twice", waits, func(g asker, _ *Handle, r *resource.Resource) error { return g.Request(r, queue.Write) }, queue.ErrRequested,
			`resource: request of "grid" (read): requested already: acquire and release, or cancel, first`},
		{"request while held", writes, func(g asker, _ *Handle, r *resource.Resource) error { return g.Request(r, queue.Write) }, queue.ErrRequested,
			`resource: request of "grid" (write): requested already: acquire and release, or cancel, first`},
		{"announce twice", waits, func(_ asker, h *Handle, r *resource.Resource) error {
			return h.Announce(r, queue.Write, time.Now)
		}, queue.ErrRequested,
			`resource: request of "grid" (read): requested already: acquire and release, or cancel, first`},
		{"no such mode", idle, func(g asker, _ *Handle, r *resource.Resource) error { return g.Request(r, 2) }, queue.ErrMode,
			`resource: request of "grid" (read): resource: no such mode: 2: want Read or Write`},
		{"acquire unasked", idle, func(g asker, _ *Handle, _ *resource.Resource) error { return g.Acquire(ctx) }, queue.ErrNotRequested,
			`resource: acquire of "grid" (read): not requested: request it first`},
		{"acquire twice", reads, func(g asker, _ *Handle, _ *resource.Resource) error { return g.Acquire(ctx) }, queue.ErrHeld,
			`resource: acquire of "grid" (read): acquired already: release it first`},
		{"release unasked", idle, func(_ asker, h *Handle, _ *resource.Resource) error { return h.Release() }, queue.ErrNotHeld,
			`resource: release of "grid" (read): not acquired: acquire it first`},
		{"release without acquire", waits, func(_ asker, h *Handle, _ *resource.Resource) error { return h.Release() }, queue.ErrNotHeld,
			`resource: release of "grid" (read): not acquired: acquire it first`},
		{"cancel while held", reads, func(g asker, _ *Handle, _ *resource.Resource) error { return g.Cancel() }, queue.ErrHeld,
			`resource: cancel of "grid" (read): acquired already: release it first`},
		{"cancel unasked", idle, func(g asker, _ *Handle, _ *resource.Resource) error { return g.Cancel() }, queue.ErrNotRequested,
			`resource: cancel of "grid" (read): not requested: request it first`},
		{"map without acquire", waits, func(g asker, _ *Handle, _ *resource.Resource) error { _, err := Read[float64](g); return err }, queue.ErrNotHeld,
			`resource: map of "grid" (read): not acquired: acquire it first`},
		{"write of a reader", reads, func(g asker, _ *Handle, _ *resource.Resource) error { _, err := Write[float64](g); return err }, queue.ErrReadOnly,
			`resource: map of "grid" (read): held for reading: request it for writing`},
		{"write without acquire", waits, func(g asker, _ *Handle, _ *resource.Resource) error { _, err := Write[float64](g); return err }, queue.ErrNotHeld,
			`resource: map of "grid" (read): not acquired: acquire it first`},
		{"view of what does not fit", reads, func(g asker, _ *Handle, _ *resource.Resource) error { _, err := Read[[3]float64](g); return err }, &typed.LengthError{},
			`handle: the 16 bytes of "grid" are no whole number of [3]float64, which has 24 bytes: resize the resource to a multiple of 24, or view a type that fits`},
		{"slice of what does not fit", writes, func(g asker, _ *Handle, _ *resource.Resource) error { _, err := Write[[3]float64](g); return err }, &typed.LengthError{},
			`handle: the 16 bytes of "grid" are no whole number of [3]float64, which has 24 bytes: resize the resource to a multiple of 24, or view a type that fits`},
		{"view of ints", reads, func(g asker, _ *Handle, _ *resource.Resource) error { _, err := Read[int](g); return err }, &typed.TypeError{},
			`handle: no view of int: int: an int: its size depends on the machine: use int64 or int32`},
		{"slice of ints", writes, func(g asker, _ *Handle, _ *resource.Resource) error { _, err := Write[int](g); return err }, &typed.TypeError{},
			`handle: no view of int: int: an int: its size depends on the machine: use int64 or int32`},
	} {
		for _, kind := range []string{"handle", "pair"} {
			t.Run(c.name+", "+kind, func(t *testing.T) {
				r := newResource(t, 16)
				var p Pair
				var g asker = &p.Handle
				if kind == "pair" {
					g = &p
				}
				fine(t, g.Request(r, queue.Read))
				fine(t, g.Cancel())
				mode := queue.Read
				if c.in == writes {
					mode = queue.Write
				}
				now := time.Unix(0, 0)
				clock := func() time.Time { return now }
				before := Prefetch{}
				if c.in != idle {
					if kind == "pair" {
						// One iteration first, so that a lost count shows.
						fine(t, p.Announce(r, mode, clock))
						fine(t, g.Acquire(ctx))
						fine(t, p.Next())
					} else {
						fine(t, p.Announce(r, mode, clock))
					}
				}
				if c.in >= reads {
					fine(t, g.Acquire(ctx))
				}
				if c.in != idle {
					before = p.Prefetch()
				}
				err := c.do(g, &p.Handle, r)
				if err == nil || err.Error() != c.text {
					t.Errorf("got  %v\nwant %s", err, c.text)
				}
				switch c.match.(type) {
				case *typed.LengthError:
					var e *typed.LengthError
					if !errors.As(err, &e) || e.Bytes != 16 {
						t.Errorf("%v is no LengthError of 16 bytes", err)
					}
				case *typed.TypeError:
					var e *typed.TypeError
					if !errors.As(err, &e) {
						t.Errorf("%v is no TypeError", err)
					}
				default:
					var e *queue.PlaceError
					if !errors.Is(err, c.match) || !errors.As(err, &e) {
						t.Errorf("%v does not match %v", err, c.match)
					}
				}
				if c.in == idle {
					fine(t, g.Request(r, mode))
				} else {
					if got := p.Prefetch(); got != before {
						t.Errorf("prefetched %+v, want %+v as before", got, before)
					}
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
				fine(t, other.Request(r, queue.Write))
				fine(t, other.Acquire(ctx))
				if n := other.place.Version(); n != 0 {
					t.Errorf("version %d, though nothing was written", n)
				}
			})
		}
	}
}

// A pair that does not hold has no next turn.
func TestPairMisuse(t *testing.T) {
	r := newResource(t, 8)
	var p Pair
	for op, do := range map[string]func() error{"next": p.Next, "release": p.Release} {
		if err := do(); !errors.Is(err, queue.ErrNotHeld) {
			t.Errorf("%s: %v", op, err)
		}
	}
	fine(t, p.Request(r, queue.Write))
	if err := p.Next(); !errors.Is(err, queue.ErrNotHeld) || err.Error() != `resource: renew of "grid" (write): not acquired: acquire it first` {
		t.Error(err)
	}
	if err := p.Release(); !errors.Is(err, queue.ErrNotHeld) {
		t.Error(err)
	}
	fine(t, p.Acquire(context.Background()))
	fine(t, p.Next())
	fine(t, p.Acquire(context.Background()))
	fine(t, p.Release())
	if p.state() != isIdle {
		t.Errorf("the pair is %v, want idle", p.state())
	}
}
