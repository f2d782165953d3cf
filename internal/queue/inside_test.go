package queue

import (
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/orwl/go-orwl/locks"
)

// TestInside has relaxed accesses for reading and for writing beside places: each sees
// what the others wrote, and a writer is alone.
func TestInside(t *testing.T) {
	r, _ := hinged(t, "RMA-RW", RelaxedOptions{})
	fine(t, r.Open(background))
	const each = 500
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			for range each {
				in, err := r.Relaxed(background, Write)
				if err != nil {
					t.Error(err)
					return
				}
				in.Bytes()[0]++
				if in.Bytes()[0] == 0 {
					in.Bytes()[1]++
				}
				in.Leave()
			}
		})
	}
	all.Go(func() {
		var p Place
		for range each {
			fine(t, p.Request(r, Write))
			fine(t, p.Acquire(background))
			b, err := p.Writable()
			fine(t, err)
			if b[0]++; b[0] == 0 {
				b[1]++
			}
			fine(t, p.Release())
		}
	})
	all.Wait()
	in, err := r.Relaxed(background, Read)
	fine(t, err)
	if n := int(in.Bytes()[0]) + int(in.Bytes()[1])<<8; n != 3*each {
		t.Errorf("%d of %d writes are there", n, 3*each)
	}
	other, err := r.Relaxed(background, Read) // beside a reader
	fine(t, err)
	other.Leave()
	in.Leave()
	if _, version, _ := r.Snapshot(background, nil); version != 3*each {
		t.Errorf("version %d after %d writes", version, 3*each)
	}
}

// TestInsideResize changes the size in a relaxed access: bytes that fit are kept, and
// the next holder has the new size. A slice of the old bytes keeps its contents.
func TestInsideResize(t *testing.T) {
	r, _ := hinged(t, "RMA-RW", RelaxedOptions{})
	in, err := r.Relaxed(background, Write)
	fine(t, err)
	old := in.Bytes()
	old[3] = 7
	b, err := in.Resize(64)
	fine(t, err)
	if len(b) != 64 || len(in.Bytes()) != 64 || b[3] != 7 || b[63] != 0 {
		t.Errorf("bytes are %v", b)
	}
	if b[3] = 8; old[3] != 7 || len(old) != 16 {
		t.Errorf("old bytes are %v", old)
	}
	for _, size := range []int{-8, -1} {
		if _, err := in.Resize(size); err == nil {
			t.Errorf("its size may be %d", size)
		}
	}
	b, err = in.Resize(64)
	if err != nil || &b[0] != &in.Bytes()[0] {
		t.Error("the same size is another:", err)
	}
	in.Leave()
	var p Place
	fine(t, p.Request(r, Read))
	fine(t, p.Acquire(background))
	if b, err := p.Bytes(); err != nil || len(b) != 64 || b[3] != 8 {
		t.Errorf("a place has %v, %v", b, err)
	}
	fine(t, p.Release())
}

// TestInsideMisuse resizes in an access for reading, and makes relaxed accesses without
// relaxed access, without a mode, and to a broken resource.
func TestInsideMisuse(t *testing.T) {
	r, _ := hinged(t, "RMA-RW", RelaxedOptions{})
	in, err := r.Relaxed(background, Read)
	fine(t, err)
	if _, err := in.Resize(8); !errors.Is(err, ErrNotInside) {
		t.Errorf("resize by a reader: %v", err)
	}
	in.Leave()
	if _, err := (Inside{}).Resize(8); !errors.Is(err, ErrNotInside) {
		t.Errorf("resize by a zero Inside: %v", err)
	}
	if _, err := r.Relaxed(background, Write+1); err == nil {
		t.Error("there is a third mode")
	}
	bare, _ := New("bare", 8)
	var place *PlaceError
	if _, err := bare.Relaxed(background, Write); !errors.Is(err, ErrNoRelaxed) || !errors.As(err, &place) || place.Op != "relaxed access" {
		t.Errorf("without relaxed access: %v", err)
	}
	r.Break(locks.ErrBroken)
	if _, err := r.Relaxed(background, Read); !errors.Is(err, ErrBroken) {
		t.Errorf("broken: %v", err)
	}
}

// TestInsideAllocates nothing.
func TestInsideAllocates(t *testing.T) {
	r, _ := hinged(t, "RMA-RW", RelaxedOptions{})
	for _, m := range []Mode{Read, Write} {
		n := testing.AllocsPerRun(1000, func() {
			in, err := r.Relaxed(background, m)
			if err != nil {
				t.Fatal(err)
			}
			in.Leave()
		})
		if n > 0 {
			t.Errorf("%v allocations for each access to %v", n, m)
		}
	}
}

// TestHolder goes through the states of a task: in each, relaxed access is refused or
// allowed. A request whose Acquire is refused still stands.
func TestHolder(t *testing.T) {
	r, _ := hinged(t, "RMA-RW", RelaxedOptions{})
	other, _ := hinged(t, "RMA-RW", RelaxedOptions{})
	r.name, other.name = "r", "other"
	var p, q, foreign Place
	ctx := NewHolder("task", slices.Values([]*Place{&p, &q})).Context(background)
	leaf := func(when string, err error, want string) {
		t.Helper()
		var e *PlaceError
		if want == "" && err != nil || want != "" && (!errors.Is(err, ErrLeafRule) || !errors.As(err, &e) || err.Error() != want) {
			t.Errorf("%s: %v, want %q", when, err, want)
		}
	}
	const breaks = "breaks the leaf rule: task "
	fine(t, p.Request(r, Write))
	leaf("requested, before the first relaxed access", r.Open(ctx), `resource: open of "r" (read): `+breaks+`has requested "r", and the first relaxed access waits for that: make one before Run, or before the first request`)
	leaf("no request there", other.Open(ctx), "")
	fine(t, p.Acquire(ctx))
	leaf("held", r.ReadRelaxed(ctx, ignore), `resource: relaxed access of "r" (read): `+breaks+`holds an ordered grant of "r": release it first`)
	leaf("held elsewhere, and no request here", other.ReadRelaxed(ctx, ignore), "")
	fine(t, foreign.Request(other, Read))
	leaf("held elsewhere, and a request here", other.WriteRelaxed(ctx, ignore), `resource: relaxed access of "other" (write): `+breaks+`holds an ordered grant of "r": release it first`)
	fine(t, p.Release())
	leaf("nothing held", r.Open(ctx), "")
	fine(t, p.Request(r, Write))
	leaf("requested, after the first relaxed access", r.ReadRelaxed(ctx, ignore), "")

	first, err := r.Relaxed(ctx, Read)
	fine(t, err)
	second, err := other.Relaxed(ctx, Read)
	fine(t, err)
	second.Leave()
	wait := `resource: acquire of "r" (write): ` + breaks + `is inside a relaxed access of "r": leave it first`
	leaf("inside", p.Acquire(ctx), wait)
	leaf("inside, again", p.Acquire(ctx), wait)
	first.Leave()
	leaf("outside", p.Acquire(ctx), "")
	fine(t, q.Request(r, Write))
	in, err := other.Relaxed(background, Read)
	fine(t, err)
	in.Leave()
	fine(t, errors.Join(p.Release(), q.Acquire(ctx), q.Release(), foreign.Cancel()))
}
