package faultpage

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"unsafe"
)

// Stale tells each use of a view without the right to it, in all states of the view.
func TestStaleViews(t *testing.T) {
	page := os.Getpagesize()
	var space Space
	p := newMemory(t, &space, "matrix", 2*page)
	newMemory(t, &space, "another", 64)
	must(p.View("bystander"))
	a := must(p.View("north"))

	check := func(when string, view []byte, offset int, m Access, want *StaleViewError) {
		t.Helper()
		recovered := touch(&view[offset], m)
		if want == nil {
			if recovered != nil {
				t.Errorf("%s: access %d to byte %d panicked: %v", when, m, offset, recovered)
			}
			return
		}
		want.Handle, want.Resource, want.Offset = "north", "matrix", offset
		want.Addr = uintptr(unsafe.Pointer(unsafe.SliceData(view))) + uintptr(offset)
		got, found := space.Stale(recovered)
		if !found || *got != *want {
			t.Errorf("%s: access %d to byte %d is %+v (panic %v), want %+v", when, m, offset, got, recovered, want)
		}
	}
	stale, readOnly := &StaleViewError{}, &StaleViewError{Write: true}

	view := must(a.Open(Read))
	check("open for reading", view, 5, Read, nil)
	check("open for reading", view, 5, Write, readOnly)
	check("open for reading", view, 2*page-1, Write, readOnly)
	ok(t, a.Shut())
	for _, m := range []Access{Read, Write} {
		check("shut", view, 0, m, stale)
		check("shut", view, 2*page-1, m, stale)
	}
	check("open for writing", must(a.Open(Write)), 5, Write, nil)
	ok(t, a.Shut())
	check("shut again", view, 5, Read, stale)

	ok(t, p.Resize(8))
	short := must(a.Open(Read))
	check("shrunk", short, 7, Read, nil)
	check("shrunk", view, page, Read, stale)
	check("shrunk", view, page, Write, stale)
	ok(t, a.Shut())
	ok(t, p.Resize(2*page))
	check("as large as before", view, page, Read, stale)

	ok(t, p.Resize(100*page))
	long := must(a.Open(Write))
	check("grown", long, 99*page, Write, nil)
	check("grown, where it was", view, 5, Read, stale)
	check("grown, where it was", view, 2*page-1, Write, stale)
	ok(t, a.Shut())
	check("grown, shut", long, 99*page, Read, stale)
	check("grown, shut, where it was", view, 5, Read, stale)
}

func TestStaleSaysWhat(t *testing.T) {
	for _, c := range []struct {
		e    StaleViewError
		want string
	}{
		{StaleViewError{"north", "matrix", 0x1008, 8, false}, "resource: the view that handle north has of resource matrix was used after its release: " +
			"take a view anew after each acquire (byte 8, address 0x1008)"},
		{StaleViewError{"north", "matrix", 0x1008, 8, true}, "resource: the view that handle north has of resource matrix is for reading and was written to: " +
			"request the handle for writing (byte 8, address 0x1008)"},
	} {
		if got := c.e.Error(); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

// Stale reports no other panic, and no fault outside the Space's views.
func TestStaleKnowsItsOwn(t *testing.T) {
	var space, other Space
	p, q := newMemory(t, &space, "r", 64), newMemory(t, &other, "s", 64)
	a, b := must(p.View("a")), must(q.View("b"))
	ours, theirs := must(a.Open(Read)), must(b.Open(Read))
	ok(t, a.Shut())
	ok(t, b.Shut())
	var none []byte
	for name, recovered := range map[string]any{
		"nothing":              nil,
		"an error":             errors.New("broken"),
		"an index":             func() (r any) { defer func() { r = recover() }(); touched = none[len(ours)]; return }(),
		"nil":                  touch(nil, Read),
		"another's view":       touch(&theirs[0], Read),
		"what is behind views": faultAt(uintptr(unsafe.Pointer(&ours[0])) + uintptr(os.Getpagesize())),
	} {
		if e, found := space.Stale(recovered); found {
			t.Errorf("the panic of %s (%v) is taken for %v", name, recovered, e)
		}
	}
	if _, found := space.Stale(touch(&ours[0], Read)); !found {
		t.Error("its own is not found")
	}
	if _, found := space.Find(uintptr(unsafe.Pointer(&p.Bytes()[0]))); found {
		t.Error("the owner's bytes are taken for a view")
	}
	begin := uintptr(unsafe.Pointer(&ours[0]))
	ok(t, a.Close())
	if _, found := space.Find(begin); found {
		t.Error("a view that is closed is found")
	}
}

// faultAt is a fault at an address, as the runtime reports it.
type faultAt uintptr

func (f faultAt) Addr() uintptr { return uintptr(f) }
func (f faultAt) Error() string { return "fault" }
func (f faultAt) RuntimeError() {}

// A fault ends a program that has not asked for panics.
func TestFaultEndsTheProgram(t *testing.T) {
	const child = "ORWL_TEST_STALE_VIEW"
	if os.Getenv(child) != "" {
		var space Space
		a := must(must(space.NewMemory("r", 8)).View("a"))
		view := must(a.Open(Write))
		must(0, a.Shut())
		view[0] = 1
		fmt.Println("went on")
		return
	}
	c := exec.Command(os.Args[0], "-test.run=^TestFaultEndsTheProgram$")
	c.Env = append(os.Environ(), child+"=1")
	out, err := c.CombinedOutput()
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || !bytes.Contains(out, []byte("unexpected fault address")) || bytes.Contains(out, []byte("went on")) {
		t.Errorf("a program that uses a stale view ends with %v and\n%s", err, out)
	}
}
