package faultpage

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

// touch reads or writes a byte, and returns the value that recover returns.
func touch(b *byte, m Access) (recovered any) {
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

// must is the result of a call that must not fail.
func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// mapped counts the mappings and open files of fault pages that the process has.
func mapped(t *testing.T) (mappings, files int) {
	t.Helper()
	mappings = strings.Count(string(must(os.ReadFile("/proc/self/maps"))), "memfd:orwl resource")
	for _, fd := range must(os.ReadDir("/proc/self/fd")) {
		if name, _ := os.Readlink("/proc/self/fd/" + fd.Name()); strings.Contains(name, "memfd:orwl resource") {
			files++
		}
	}
	return mappings, files
}

func newMemory(t *testing.T, space *Space, resource string, size int) *Memory {
	t.Helper()
	p, err := space.NewMemory(resource, size)
	ok(t, err)
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func TestViewsShareTheBytes(t *testing.T) {
	var space Space
	p := newMemory(t, &space, "r", 16)
	a, b := must(p.View("a")), must(p.View("b"))
	inA, inB := must(a.Open(Write)), must(b.Open(Read))
	for _, view := range [][]byte{p.Bytes(), inA, inB} {
		if !bytes.Equal(view, make([]byte, 16)) || cap(view) != 16 {
			t.Fatalf("at first there are %x and room for %d, want 16 zeros", view, cap(view))
		}
	}
	inA[3] = 7
	p.Bytes()[4] = 8
	if inB[3] != 7 || inB[4] != 8 || inA[4] != 8 || p.Bytes()[3] != 7 {
		t.Errorf("what a view and the owner wrote is %x to them, %x to the owner, %x to another view", inA, p.Bytes(), inB)
	}
	for _, view := range [][]byte{p.Bytes(), inA, inB} {
		if at := uintptr(unsafe.Pointer(&view[0])); at%8 != 0 {
			t.Errorf("bytes at %#x: not aligned", at)
		}
	}
}

func TestMisuse(t *testing.T) {
	var space Space
	p := newMemory(t, &space, "matrix", 64)
	a := must(p.View("north"))
	refuse := func(what string, err, is error, says string) {
		t.Helper()
		if !errors.Is(err, is) || err.Error() != is.Error()+says {
			t.Errorf("%s: %v, want %v%s", what, err, is, says)
		}
	}
	const handle, resource = " (handle north of resource matrix)", " (resource matrix)"
	for _, size := range []int{-8, -1, mostBytes + 1} {
		_, err := space.NewMemory("matrix", size)
		refuse("NewMemory", err, ErrSize, fmt.Sprintf(": resource matrix cannot have %d bytes", size))
		refuse("Resize", p.Resize(size), ErrSize, fmt.Sprintf(": resource matrix cannot have %d bytes", size))
	}
	refuse("Shut of what was never open", a.Shut(), ErrShut, handle)
	must(a.Open(Read))
	_, err := a.Open(Write)
	refuse("Open of what is open", err, ErrOpen, handle)
	refuse("Resize while a view is open", p.Resize(8), ErrOpen, resource)
	ok(t, a.Shut())
	refuse("Shut of what is shut", a.Shut(), ErrShut, handle)
	if len(p.Bytes()) != 64 {
		t.Errorf("refused, it has %d bytes", len(p.Bytes()))
	}

	must(a.Open(Read))
	ok(t, a.Close())
	ok(t, a.Close())
	refuse("Shut of what is closed", a.Shut(), ErrClosed, handle)
	_, err = a.Open(Read)
	refuse("Open of what is closed", err, ErrClosed, handle)
	ok(t, p.Resize(8)) // nothing is open any more

	b := must(p.View("north"))
	must(b.Open(Read))
	ok(t, p.Close())
	ok(t, p.Close())
	ok(t, b.Close())
	_, err = b.Open(Read)
	refuse("Open after all is closed", err, ErrClosed, handle)
	_, err = p.View("north")
	refuse("View of what is closed", err, ErrClosed, resource)
	refuse("Resize of what is closed", p.Resize(8), ErrClosed, resource)
	if len(p.Bytes()) != 0 {
		t.Errorf("closed, it has %d bytes", len(p.Bytes()))
	}
}

// Close leaves no mapping, no file and no entry behind.
func TestCloseUnmapsAll(t *testing.T) {
	page := os.Getpagesize()
	mappings, files := mapped(t)
	var space Space
	p := must(space.NewMemory("r", page))
	a, b := must(p.View("a")), must(p.View("b"))
	for size := page; size <= 8*page; size += page {
		ok(t, p.Resize(size))
		must(a.Open(Write))[size-1]++
		ok(t, a.Shut())
	}
	must(b.Open(Read))
	if len(a.left) != 3 { // at 1, 2 and 4 pages, of 8 or more in all
		t.Errorf("a view that grew page by page has left %d places, want 3", len(a.left))
	}
	if m, f := mapped(t); m < mappings+3 || f != files+1 {
		t.Fatalf("%d mappings and %d files more: does the test know them?", m-mappings, f-files)
	}
	ok(t, a.Close())
	ok(t, p.Close())
	if m, f := mapped(t); m != mappings || f != files {
		t.Errorf("after Close there are %d mappings and %d files more", m-mappings, f-files)
	}
	if len(space.memories)+len(p.views) != 0 {
		t.Errorf("after Close %d memories and %d views are known", len(space.memories), len(p.views))
	}
}

// Where the system has no room, a failed step leaves the memory as it was.
func TestNoRoom(t *testing.T) {
	var space Space
	small := newMemory(t, &space, "small", 64)
	copy(small.Bytes(), "kept")
	a := must(small.View("a"))
	var err error
	var mappings, files int
	for i := 0; err == nil; i++ {
		if i == 4 {
			t.Skip("the address space has room for more than 256 TiB")
		}
		mappings, files = mapped(t)
		var p *Memory
		if p, err = space.NewMemory("large", mostBytes); err == nil {
			t.Cleanup(func() { ok(t, p.Close()) })
		}
	}
	for what, err := range map[string]error{"NewMemory": err, "Resize": small.Resize(mostBytes)} {
		if !errors.Is(err, unix.ENOMEM) || !strings.Contains(err.Error(), "vm.max_map_count") {
			t.Errorf("%s where there is no room: %v, want ENOMEM and what to do", what, err)
		}
	}
	if m, f := mapped(t); m != mappings || f != files || len(small.Bytes()) != 64 || string(small.Bytes()[:4]) != "kept" {
		t.Errorf("after that there are %d mappings and %d files more, and %q", m-mappings, f-files, small.Bytes())
	}
	if view := must(a.Open(Read)); string(view[:4]) != "kept" || len(view) != 64 {
		t.Errorf("after that a view has %q", view)
	}
}

// A Memory and its views do the same as a slice with rights, in any order of steps.
func TestMemoryIsASlice(t *testing.T) {
	page := os.Getpagesize()
	rapid.Check(t, func(t *rapid.T) {
		var space Space
		draw := rapid.OneOf(rapid.IntRange(0, 3), rapid.IntRange(0, page), rapid.IntRange(0, 3*page))
		size := func() int { return draw.Draw(t, "size") }
		model := make([]byte, size())
		p := must(space.NewMemory("r", len(model)))
		defer func() { must(0, p.Close()) }()
		type side struct {
			view  *View
			bytes []byte // the last ones that it gave
			may   Access // Read, Write, or none
		}
		sides := make([]side, 3)
		for i := range sides {
			sides[i].view = must(p.View(fmt.Sprint(i)))
		}
		open := 0
		for range 30 {
			s := &sides[rapid.IntRange(0, len(sides)-1).Draw(t, "side")]
			switch step := rapid.SampledFrom([]string{"open", "shut", "resize", "owner"}).Draw(t, "step"); {
			case step == "open" && s.may == 0:
				m := rapid.SampledFrom([]Access{Read, Write}).Draw(t, "mode")
				s.bytes = must(s.view.Open(m))
				s.may = m
				open++
			case step == "shut" && s.may != 0:
				must(0, s.view.Shut())
				s.may = 0
				open--
			case step == "resize" && open == 0:
				next := make([]byte, size())
				copy(next, model)
				model = next
				must(0, p.Resize(len(model)))
			case step == "owner" && len(model) > 0:
				i := rapid.IntRange(0, len(model)-1).Draw(t, "byte")
				model[i]++
				p.Bytes()[i]++
			}
			if !bytes.Equal(p.Bytes(), model) {
				t.Fatalf("the owner's %d bytes differ from the model's %d", len(p.Bytes()), len(model))
			}
			for k := range sides {
				s := &sides[k]
				if s.may > 0 && !bytes.Equal(s.bytes, model) {
					t.Fatalf("view %d has %d bytes that differ from the model's %d", k, len(s.bytes), len(model))
				}
				if len(s.bytes) == 0 {
					continue
				}
				i := rapid.IntRange(0, len(s.bytes)-1).Draw(t, "touched")
				for _, m := range []Access{Read, Write} {
					recovered := touch(&s.bytes[i], m)
					if may := s.may >= m; may != (recovered == nil) {
						t.Fatalf("access %d to byte %d in view %d: %v, allowed is %v", m, i, k, recovered, may)
					}
					if recovered == nil && m == Write {
						model[i]++
					} else if recovered != nil {
						e, found := space.Stale(recovered)
						if !found || e.Handle != fmt.Sprint(k) || e.Offset != i || e.Write != (s.may == Read) {
							t.Fatalf("access %d to byte %d in view %d, which may %d: %+v", m, i, k, s.may, e)
						}
					}
				}
			}
		}
	})
}

// The views of many goroutines come and go in one Space.
func TestViewsOfManyGoroutines(t *testing.T) {
	var space Space
	p := newMemory(t, &space, "r", 512)
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for round := range byte(50) {
				a := must(p.View(fmt.Sprint(i)))
				view := must(a.Open(Write))
				view[64*i] = round
				must(0, a.Shut())
				if e, found := space.Stale(touch(&view[64*i], Read)); !found || e.Handle != fmt.Sprint(i) {
					t.Errorf("goroutine %d used a stale view and found %v", i, e)
				}
				must(0, a.Close())
				q := must(space.NewMemory("own", 8))
				must(0, q.Resize(8192))
				must(0, q.Close())
			}
		})
	}
	wg.Wait()
	for i := range 4 {
		if p.Bytes()[64*i] != 49 {
			t.Errorf("goroutine %d left %d", i, p.Bytes()[64*i])
		}
	}
}

// BenchmarkView is the cost of fault pages for one access.
func BenchmarkView(b *testing.B) {
	for _, size := range []int{4 << 10, 1 << 20} {
		b.Run(fmt.Sprintf("%dKiB", size>>10), func(b *testing.B) {
			var space Space
			p := must(space.NewMemory("r", size))
			defer p.Close()
			a := must(p.View("a"))
			page := os.Getpagesize()
			for _, touching := range []bool{false, true} {
				b.Run(map[bool]string{false: "open, shut", true: "open, touch all, shut"}[touching], func(b *testing.B) {
					for b.Loop() {
						view := must(a.Open(Write))
						for i := 0; touching && i < len(view); i += page {
							view[i]++
						}
						must(0, a.Shut())
					}
				})
			}
			b.Run("touch all, always open", func(b *testing.B) {
				view := must(a.Open(Write))
				for b.Loop() {
					for i := 0; i < len(view); i += page {
						view[i]++
					}
				}
				must(0, a.Shut())
			})
		})
	}
}
