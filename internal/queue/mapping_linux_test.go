package queue

import (
	"errors"
	"os"
	"runtime/debug"
	"strings"
	"testing"
)

// touch reads or writes a byte, and returns the value that recover returns.
func touch(b *byte, m Mode) (recovered any) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() { recovered = recover() }()
	if m == Write {
		*b++
	} else {
		touched = *b
	}
	return nil
}

var touched byte

// mapped counts the mappings and open files of fault pages that the process has.
func mapped(t *testing.T) (mappings, files int) {
	t.Helper()
	maps, err := os.ReadFile("/proc/self/maps")
	fine(t, err)
	fds, err := os.ReadDir("/proc/self/fd")
	fine(t, err)
	for _, fd := range fds {
		if name, _ := os.Readlink("/proc/self/fd/" + fd.Name()); strings.Contains(name, "memfd:orwl resource") {
			files++
		}
	}
	return strings.Count(string(maps), "memfd:orwl resource"), files
}

// faultingResource is a resource with fault pages.
func faultingResource(t *testing.T, g *FaultPages, size int) *Resource {
	t.Helper()
	r, err := NewWith("grid", size, Options{FaultPages: g})
	fine(t, err)
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// stale checks that an access to b faults, and that Stale tells whose view it was.
func stale(t *testing.T, g *FaultPages, b *byte, m Mode, want StaleViewError) {
	t.Helper()
	got, found := g.Stale(touch(b, m))
	if !found {
		t.Errorf("a %v of a view of %s passed", m, want.Handle)
		return
	}
	got.Addr = 0
	if *got != want {
		t.Errorf("got %+v, want %+v", *got, want)
	}
}

// A view faults from the release on, whatever ends the grant. The next view works.
func TestViewsEndWithTheGrant(t *testing.T) {
	var g FaultPages
	for name, leave := range map[string]func(p *Place, r *Resource){
		"release": func(p *Place, r *Resource) { fine(t, p.Release()); fine(t, p.Request(r, Write)) },
		"renew":   func(p *Place, r *Resource) { fine(t, p.Renew()) },
		"release of what is broken": func(p *Place, r *Resource) {
			r.Break(errFire)
			fine(t, p.Release())
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := faultingResource(t, &g, 16)
			var p Place
			p.Call("north")
			fine(t, p.Request(r, Write))
			fine(t, p.Acquire(t.Context()))
			b, err := p.Writable()
			fine(t, err)
			b[9]++
			leave(&p, r)
			stale(t, &g, &b[9], Read, StaleViewError{Handle: "north", Resource: "grid", Offset: 9})
			stale(t, &g, &b[15], Write, StaleViewError{Handle: "north", Resource: "grid", Offset: 15})
			if r.reason.Load() != nil {
				return
			}
			fine(t, p.Acquire(t.Context()))
			b, err = p.Bytes()
			fine(t, err)
			if len(b) != 16 || b[9] != 1 {
				t.Errorf("the bytes are %v", b)
			}
			stale(t, &g, &b[9], Write, StaleViewError{Handle: "north", Resource: "grid", Offset: 9, Write: true})
			again, err := p.Bytes()
			if err != nil || &again[0] != &b[0] {
				t.Errorf("another view: %v", err)
			}
			// A writer may map for writing after reading. The view for reading stays valid.
			w, err := p.Writable()
			fine(t, err)
			w[9]++
			if b[9] != 2 {
				t.Errorf("byte 9 is %d, want 2", b[9])
			}
			// Mapping for reading afterwards does not end the right to write.
			if _, err := p.Bytes(); err != nil || touch(&w[8], Write) != nil {
				t.Errorf("a writer cannot write after it has read: %v", err)
			}
			fine(t, p.Release())
			if n := p.Version(); n != 0 {
				t.Errorf("version %d of what is not held", n)
			}
			fine(t, p.Request(r, Read))
			fine(t, p.Acquire(t.Context()))
			if p.Version() != 2 {
				t.Errorf("version %d, want 2", p.Version())
			}
			fine(t, p.Release())
		})
	}
}

// A resize ends older views and keeps the bytes.
func TestResizeEndsFaultingViews(t *testing.T) {
	var g FaultPages
	r := faultingResource(t, &g, 8)
	var p Place
	p.Call("north")
	fine(t, p.Request(r, Write))
	fine(t, p.Acquire(t.Context()))
	old, err := p.Writable()
	fine(t, err)
	old[7] = 7
	size := 3 * os.Getpagesize()
	fine(t, p.Resize(size))
	stale(t, &g, &old[7], Read, StaleViewError{Handle: "north", Resource: "grid", Offset: 7})
	b, err := p.Writable()
	if err != nil || len(b) != size || b[7] != 7 || b[size-1] != 0 || p.Size() != size {
		t.Errorf("%d bytes, %v, of which number 7 is %d", len(b), err, b[7])
	}
	if err := p.Resize(-12); !errors.Is(err, ErrSize) || b[7] != 7 {
		t.Errorf("a resize to -12: %v", err)
	}
	fine(t, p.Release())
	stale(t, &g, &b[size-1], Write, StaleViewError{Handle: "north", Resource: "grid", Offset: size - 1})
}

// A place goes from one resource with fault pages to the next and keeps its name.
func TestPlaceOfTwoFaultingResources(t *testing.T) {
	mappings, _ := mapped(t)
	var g FaultPages
	rs := []*Resource{faultingResource(t, &g, 8), faultingResource(t, &g, 8)}
	var p Place
	p.Call("north")
	var left []byte
	for i := range 6 {
		r := rs[i%2]
		fine(t, p.Request(r, Write))
		fine(t, p.Acquire(t.Context()))
		b, err := p.Writable()
		fine(t, err)
		if b[0] != byte(i/2) {
			t.Errorf("turn %d: byte 0 is %d", i, b[0])
		}
		b[0]++
		left = b
		fine(t, p.Release())
	}
	stale(t, &g, &left[0], Read, StaleViewError{Handle: "north", Resource: "grid"})
	// Two owners, one view.
	if now, _ := mapped(t); now != mappings+3 {
		t.Errorf("%d mappings, want 3", now-mappings)
	}
	fine(t, rs[1].Close())
	fine(t, rs[1].Close())
	fine(t, rs[0].Close())
	if now, files := mapped(t); now != mappings || files != 0 {
		t.Errorf("%d mappings and %d files are left", now-mappings, files)
	}
}

// The rules for sizes are the same with and without fault pages.
func TestFaultPagesSizes(t *testing.T) {
	var g FaultPages
	if _, err := NewWith("grid", -12, Options{FaultPages: &g}); !errors.Is(err, ErrSize) {
		t.Error(err)
	}
	r := faultingResource(t, &g, 0)
	var p Place
	fine(t, p.Request(r, Write))
	fine(t, p.Acquire(t.Context()))
	if b, err := p.Writable(); err != nil || len(b) != 0 {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	fine(t, p.Release())
}

// A place that cannot map the bytes returns an error, and can release.
func TestClosedFaultPages(t *testing.T) {
	var g FaultPages
	r := faultingResource(t, &g, 8)
	var p Place
	fine(t, p.Request(r, Read))
	fine(t, p.Acquire(t.Context()))
	fine(t, r.Close())
	_, err := p.Bytes()
	var e *PlaceError
	if !errors.Is(err, ErrFaultPagesClosed) || !errors.As(err, &e) || e.Op != "map" {
		t.Errorf("got %v, want ErrFaultPagesClosed", err)
	}
	fine(t, p.Release())
}
