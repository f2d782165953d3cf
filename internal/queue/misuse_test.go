package queue

import (
	"context"
	"errors"
	"math"
	"testing"
)

// fine ends a test at an error.
func fine(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// newResource is New for good arguments.
func newResource(t testing.TB, size int) *Resource {
	t.Helper()
	r, err := New("grid", size)
	fine(t, err)
	return r
}

// Each misuse has an error of its own and changes nothing: the place then does
// what it was about to do.
func TestMisuse(t *testing.T) {
	ctx := context.Background()
	type phase int
	const idle, waits, reads, writes phase = 0, 1, 2, 3
	nothing := func() {}
	bytesOf := func(_ []byte, err error) error { return err }
	other, err := New("other", 8)
	fine(t, err)
	for _, c := range []struct {
		name  string
		in    phase
		do    func(p *Place, r *Resource) error
		match error
		text  string
	}{
		{"request twice", waits, func(p *Place, r *Resource) error { return p.Request(r, Write) }, ErrRequested,
			`resource: request of "grid" (read): requested already: acquire and release, or cancel, first`},
		{"request of another resource meanwhile", waits, func(p *Place, _ *Resource) error { return p.Request(other, Write) }, ErrRequested,
			`resource: request of "grid" (read): requested already: acquire and release, or cancel, first`},
		{"request while held", writes, func(p *Place, r *Resource) error { return p.Request(r, Read) }, ErrRequested,
			`resource: request of "grid" (write): requested already: acquire and release, or cancel, first`},
		{"mode 2", idle, func(p *Place, r *Resource) error { return p.Request(r, 2) }, ErrMode,
			`resource: request of "grid" (read): resource: no such mode: 2: want Read or Write`},
		{"mode 3", idle, func(p *Place, r *Resource) error { return p.Request(r, 3) }, ErrMode,
			`resource: request of "grid" (read): resource: no such mode: 3: want Read or Write`},
		{"acquire unasked", idle, func(p *Place, _ *Resource) error { return p.Acquire(ctx) }, ErrNotRequested,
			`resource: acquire of "grid" (read): not requested: request it first`},
		{"acquire twice", reads, func(p *Place, _ *Resource) error { return p.Acquire(ctx) }, ErrHeld,
			`resource: acquire of "grid" (read): acquired already: release it first`},
		{"release unasked", idle, func(p *Place, _ *Resource) error { return p.Release() }, ErrNotHeld,
			`resource: release of "grid" (read): not acquired: acquire it first`},
		{"release without acquire", waits, func(p *Place, _ *Resource) error { return p.Release() }, ErrNotHeld,
			`resource: release of "grid" (read): not acquired: acquire it first`},
		{"renew without acquire", waits, func(p *Place, _ *Resource) error { return p.Renew() }, ErrNotHeld,
			`resource: renew of "grid" (read): not acquired: acquire it first`},
		{"renew unasked", idle, func(p *Place, _ *Resource) error { return p.Renew() }, ErrNotHeld,
			`resource: renew of "grid" (read): not acquired: acquire it first`},
		{"cancel unasked", idle, func(p *Place, _ *Resource) error { return p.Cancel() }, ErrNotRequested,
			`resource: cancel of "grid" (read): not requested: request it first`},
		{"cancel while held", writes, func(p *Place, _ *Resource) error { return p.Cancel() }, ErrHeld,
			`resource: cancel of "grid" (write): acquired already: release it first`},
		{"acquire after cancel", waits, func(p *Place, r *Resource) error {
			fine(t, p.Cancel())
			defer func() { fine(t, p.Request(r, Read)) }()
			return p.Acquire(ctx)
		}, ErrNotRequested, `resource: acquire of "grid" (read): not requested: request it first`},
		{"notify unasked", idle, func(p *Place, _ *Resource) error { return p.Notify(nothing) }, ErrNotRequested,
			`resource: notify of "grid" (read): not requested: request it first`},
		{"notify while held", reads, func(p *Place, _ *Resource) error { return p.Notify(nothing) }, ErrNotRequested,
			`resource: notify of "grid" (read): not requested: request it first`},
		{"notify twice", waits, func(p *Place, _ *Resource) error {
			fine(t, p.Notify(nothing))
			return p.Notify(nothing)
		}, ErrNotified, `resource: notify of "grid" (read): has a notification already: call Notify once for each request`},
		{"map unasked", idle, func(p *Place, _ *Resource) error { return bytesOf(p.Bytes()) }, ErrNotHeld,
			`resource: map of "grid" (read): not acquired: acquire it first`},
		{"map without acquire", waits, func(p *Place, _ *Resource) error { return bytesOf(p.Bytes()) }, ErrNotHeld,
			`resource: map of "grid" (read): not acquired: acquire it first`},
		{"map for writing without acquire", waits, func(p *Place, _ *Resource) error { return bytesOf(p.Writable()) }, ErrNotHeld,
			`resource: map of "grid" (read): not acquired: acquire it first`},
		{"reader writes", reads, func(p *Place, _ *Resource) error { return bytesOf(p.Writable()) }, ErrReadOnly,
			`resource: map of "grid" (read): held for reading: request it for writing`},
		{"reader resizes", reads, func(p *Place, _ *Resource) error { return p.Resize(16) }, ErrReadOnly,
			`resource: resize of "grid" (read): held for reading: request it for writing`},
		{"resize without acquire", waits, func(p *Place, _ *Resource) error { return p.Resize(16) }, ErrNotHeld,
			`resource: resize of "grid" (read): not acquired: acquire it first`},
		{"resize to less than nothing", writes, func(p *Place, _ *Resource) error { return p.Resize(-8) }, ErrSize,
			`resource: resize of "grid" (write): size must be a number of bytes, 0 or more, not -8`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newResource(t, 8)
			var p Place
			// A request names the resource in later errors.
			fine(t, p.Request(r, Read))
			fine(t, p.Cancel())
			mode := Read
			if c.in == writes {
				mode = Write
			}
			if c.in != idle {
				fine(t, p.Request(r, mode))
			}
			if c.in == reads || c.in == writes {
				fine(t, p.Acquire(ctx))
			}
			err := c.do(&p, r)
			if err == nil || err.Error() != c.text {
				t.Errorf("got  %v\nwant %s", err, c.text)
			}
			var e *PlaceError
			if !errors.As(err, &e) || e.Resource != "grid" {
				t.Fatalf("%T, want a PlaceError that names the resource", err)
			}
			if !errors.Is(err, c.match) {
				t.Errorf("%v does not match %v", err, c.match)
			}
			// The resource works, and has no other request.
			if c.in == idle {
				fine(t, p.Request(r, mode))
			}
			if c.in <= waits {
				fine(t, p.Acquire(ctx))
			}
			if b, err := p.Bytes(); err != nil || len(b) != 8 {
				t.Errorf("%d bytes, %v", len(b), err)
			}
			fine(t, p.Release())
			var next Place
			fine(t, next.Request(r, Write))
			if !next.Granted() {
				t.Error("something is left in the queue")
			}
			fine(t, next.Acquire(ctx))
			if next.Version() != 0 {
				t.Errorf("version %d, though nothing was written", next.Version())
			}
		})
	}
}

// A notification belongs to one request. An earlier one of the same place, or a wait
// that failed, does not count.
func TestNoticeOfTheNextRequest(t *testing.T) {
	r := newResource(t, 0)
	var holder, p Place
	for range 3 {
		fine(t, holder.Request(r, Write))
		fine(t, holder.Acquire(t.Context()))
		fine(t, p.Request(r, Write))
		if err := p.Acquire(ended()); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		told := 0
		fine(t, p.Notify(func() { told++ }))
		if err := p.Notify(func() { told++ }); !errors.Is(err, ErrNotified) {
			t.Error(err)
		}
		fine(t, holder.Release())
		fine(t, p.Acquire(t.Context()))
		fine(t, p.Release())
		if told != 1 {
			t.Errorf("told %d times", told)
		}
	}
}

func TestPlaceOfNothing(t *testing.T) {
	var p Place
	for op, err := range map[string]error{"acquire": p.Acquire(context.Background()), "release": p.Release(), "cancel": p.Cancel()} {
		var e *PlaceError
		if !errors.As(err, &e) || e.Resource != "" {
			t.Errorf("%s: %v", op, err)
		}
	}
	if got, want := p.Release().Error(), "resource: release: not acquired: acquire it first"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if p.Granted() || p.Held() || p.Requested() || p.Resource() != nil || p.Size() != 0 || p.Fence() != 0 || p.Version() != 0 {
		t.Error("a place without a resource has something")
	}
}

func TestSizes(t *testing.T) {
	for _, size := range []int{-8, -1, math.MinInt, math.MaxInt - 6, math.MaxInt} {
		r, err := New("grid", size)
		if r != nil || !errors.Is(err, ErrSize) {
			t.Errorf("%d bytes: %v, %v, want ErrSize", size, r, err)
		}
	}
	_, err := New("grid", -12)
	if want := `resource: "grid": size must be a number of bytes, 0 or more, not -12`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	for _, size := range []int{0, 1, 7, 8, 9, 12, 1 << 20, 1<<20 + 1} {
		r := newResource(t, size)
		var p Place
		fine(t, p.Request(r, Write))
		if p.Size() != size || r.Name() != "grid" {
			t.Errorf("%q has %d bytes, want %d", r.Name(), p.Size(), size)
		}
		fine(t, r.Close())
	}
}

// A resize keeps the bytes that fit; new bytes are zero.
func TestResize(t *testing.T) {
	r := newResource(t, 8)
	var p Place
	fine(t, p.Request(r, Write))
	fine(t, p.Acquire(context.Background()))
	b, err := p.Writable()
	fine(t, err)
	copy(b, "01234567")
	for _, c := range []struct {
		size int
		want string
	}{{16, "01234567\x00\x00\x00\x00\x00\x00\x00\x00"}, {8, "01234567"}, {8, "01234567"}, {0, ""}, {8, "\x00\x00\x00\x00\x00\x00\x00\x00"}} {
		fine(t, p.Resize(c.size))
		b, err := p.Bytes()
		if err != nil || string(b) != c.want || p.Size() != c.size {
			t.Errorf("resized to %d: %q, %v, size %d, want %q", c.size, b, err, p.Size(), c.want)
		}
	}
	fine(t, p.Renew())
	fine(t, p.Acquire(context.Background()))
	fine(t, p.Resize(8))
	if p.Version() != 1 {
		t.Errorf("version %d, want 1", p.Version())
	}
	fine(t, p.Renew())
	fine(t, p.Acquire(context.Background()))
	if p.Version() != 1 {
		t.Errorf("version %d after a resize to the same, want 1", p.Version())
	}
	fine(t, p.Resize(16))
	fine(t, p.Renew())
	fine(t, p.Acquire(context.Background()))
	if p.Version() != 2 {
		t.Errorf("version %d after a resize, want 2", p.Version())
	}
}

func TestModeString(t *testing.T) {
	if Read.String() != "read" || Write.String() != "write" {
		t.Errorf("%v, %v", Read, Write)
	}
}
