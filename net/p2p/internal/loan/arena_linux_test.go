package loan

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"github.com/orwl/go-orwl/net/wire"
)

// testArena is one of so many pages behind its head, in a run of 3 nodes.
func testArena(t testing.TB, pages int) *Arena {
	t.Helper()
	a, err := newArena(3, headSize(3, os.Getpagesize())+pages*os.Getpagesize())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	return a
}

// stored is how many bytes of memory a file takes.
func (a *Arena) stored(t *testing.T) int64 {
	var stat unix.Stat_t
	if err := unix.Fstat(int(a.fd.Load()), &stat); err != nil {
		t.Fatal(err)
	}
	return stat.Blocks * 512
}

// held is memory of an arena, as the model knows it.
type held struct {
	bytes     []byte
	fill      byte
	loans     []*Block
	forgotten bool
}

// TestArena makes, lends, settles and forgets at random. A block that is in use, or lent, keeps
// its bytes, whatever is made meanwhile. A new block is zero. In the end all is free again.
func TestArena(t *testing.T) {
	const pages = 60
	rapid.Check(t, func(r *rapid.T) {
		a := testArena(t, pages)
		var all []*held
		check := func() {
			for _, h := range all {
				if i := slices.IndexFunc(h.bytes, func(b byte) bool { return b != h.fill }); i >= 0 {
					r.Fatalf("byte %d of %d is %d, want %d", i, len(h.bytes), h.bytes[i], h.fill)
				}
			}
		}
		drop := func() {
			all = slices.DeleteFunc(all, func(h *held) bool { return h.forgotten && len(h.loans) == 0 })
		}
		next := byte(0)
		fill := func(b []byte) *held {
			next = next%250 + 1
			for i := range b {
				b[i] = next
			}
			h := &held{bytes: b, fill: next}
			all = append(all, h)
			return h
		}
		pick := func(which func(*held) bool) *held {
			var some []*held
			for _, h := range all {
				if which(h) {
					some = append(some, h)
				}
			}
			if len(some) == 0 {
				r.Skip("none")
			}
			return rapid.SampledFrom(some).Draw(r, "which")
		}
		inUse := func(h *held) bool { return !h.forgotten }
		r.Repeat(map[string]func(*rapid.T){
			"": func(*rapid.T) { check() },
			"make": func(r *rapid.T) {
				size := rapid.IntRange(1, 10*a.page).Draw(r, "size")
				b := a.Make(size)
				if b == nil {
					return
				}
				if len(b) != size || cap(b) != size || slices.ContainsFunc(b, func(b byte) bool { return b != 0 }) {
					r.Fatalf("%d bytes, cap %d, of %d, or not all zero", len(b), cap(b), size)
				}
				fill(b)
			},
			"forget": func(*rapid.T) {
				h := pick(inUse)
				a.Forget(h.bytes)
				h.forgotten = true
				drop()
			},
			"lend": func(r *rapid.T) {
				h := pick(inUse)
				from := rapid.IntRange(0, len(h.bytes)-1).Draw(r, "from")
				b, offset := a.Lend(h.bytes[from:], true)
				if &a.bytes[offset] != &h.bytes[from] {
					r.Fatal("what lies in the arena is not lent where it lies")
				}
				h.loans = append(h.loans, b)
			},
			"lend a copy": func(r *rapid.T) {
				own := bytes.Repeat([]byte{7}, rapid.IntRange(1, 5*a.page).Draw(r, "size"))
				if b, offset := a.Lend(own, rapid.Bool().Draw(r, "still")); b != nil {
					h := fill(a.bytes[offset : offset+len(own)])
					h.loans, h.forgotten = []*Block{b}, true
				}
			},
			"settle": func(r *rapid.T) {
				h := pick(func(h *held) bool { return len(h.loans) > 0 })
				a.Settle(h.loans[0])
				h.loans = h.loans[1:]
				drop()
			},
		})
		for _, h := range all {
			if !h.forgotten {
				a.Forget(h.bytes)
			}
			for _, b := range h.loans {
				a.Settle(b)
			}
		}
		spare, blocks := 0, 0
		for _, class := range a.spare {
			blocks += len(class)
			for _, b := range class {
				spare += b.pages
			}
		}
		free := 0
		for _, e := range a.free {
			free += e.N
		}
		if spare+free != pages || spare*a.page != a.kept || len(a.blocks) != blocks {
			r.Fatalf("%d pages are free and %d spare, of %d; %d bytes kept, %d blocks", free, spare, pages, a.kept, len(a.blocks))
		}
	})
}

// TestArenaGivesBack forgets memory: it is the system's again, at once, or when it is
// no longer lent.
func TestArenaGivesBack(t *testing.T) {
	a := testArena(t, 1<<12)
	const size = 1 << 20
	empty := a.stored(t)
	b := a.Make(size)
	if now := a.stored(t); now != empty {
		t.Errorf("memory that nobody has touched takes %d bytes", now-empty)
	}
	fill := func() {
		for i := range b {
			b[i] = 1
		}
	}
	fill()
	loan, _ := a.Lend(b, true)
	a.Forget(b)
	if now := a.stored(t); now-empty < size || b[0] != 1 {
		t.Errorf("memory that is lent takes %d bytes, want %d at least", now-empty, size)
	}
	a.Settle(loan)
	if now := a.stored(t); now != empty {
		t.Errorf("memory that is forgotten takes %d bytes", now-empty)
	}
	if b = a.Make(size); b[0] != 0 {
		t.Error("memory that is made again is not zero")
	}
}

// TestArenaKeepsCopies lends more copies than are kept for the next.
func TestArenaKeepsCopies(t *testing.T) {
	a := testArena(t, 2*mostSpare/os.Getpagesize())
	var copies []*Block
	own := bytes.Repeat([]byte{1}, mostSpare/4)
	for range 6 {
		loan, _ := a.Lend(own, false)
		copies = append(copies, loan)
	}
	empty := a.stored(t) - 6*mostSpare/4
	for _, loan := range copies {
		a.Settle(loan)
	}
	if now := a.stored(t) - empty; a.kept != mostSpare || now != mostSpare {
		t.Errorf("%d bytes are kept for copies, and %d are there, want %d", a.kept, now, mostSpare)
	}
	if loan, _ := a.Lend(own, false); loan != copies[3] || a.kept != mostSpare*3/4 {
		t.Errorf("the last that was kept is not used again, and %d bytes are kept", a.kept)
	}
}

// TestArenaMisuse forgets twice, forgets a part, and sends what was forgotten.
func TestArenaMisuse(t *testing.T) {
	a := testArena(t, 100)
	panics := func(what string, f func()) {
		t.Helper()
		defer func() {
			if recover() == nil {
				t.Errorf("%s does not panic", what)
			}
		}()
		f()
	}
	a.Forget(make([]byte, 10)) // is none of its
	b := a.Make(3 * a.page)
	panics("forgetting a part", func() { a.Forget(b[a.page:]) })
	panics("forgetting within a page", func() { a.Forget(b[1:]) })
	a.Forget(b)
	panics("forgetting twice", func() { a.Forget(b) })
	panics("lending what was forgotten", func() { a.Lend(b, true) })
}

// TestArenaFull has no room: it says so, and the node's memory is ordinary then.
func TestArenaFull(t *testing.T) {
	a := testArena(t, 16)
	if a.Make(17*a.page) != nil {
		t.Error("an arena of 16 pages has made 17")
	}
	if b, _ := a.Lend(make([]byte, 17*a.page), false); b != nil {
		t.Error("an arena of 16 pages has copied 17")
	}
	m := NewMemory(func() *Arena { return a })
	b := m.Make(Worthwhile * 8)
	if _, inside := a.offset(b); inside || len(b) != Worthwhile*8 {
		t.Errorf("%d bytes, in the arena: %t", len(b), inside)
	}
	m.Free(b)
}

// TestArenaIsCollected makes an arena that nothing refers to.
func TestArenaIsCollected(t *testing.T) {
	const size = 1<<30 + 12345<<12
	mapped := func() bool {
		maps, err := os.ReadFile("/proc/self/maps")
		if err != nil {
			t.Fatal(err)
		}
		return bytes.Contains(maps, []byte("memfd:"+arenaName))
	}
	collect := func(what string) {
		t.Helper()
		for begun := time.Now(); mapped(); {
			if runtime.GC(); time.Since(begun) > time.Minute {
				t.Fatalf("%s is still mapped", what)
			}
		}
	}
	collect("an arena of the tests before")
	kept := func() []byte {
		a, err := newArena(2, size)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		b := a.Make(100)
		b[99] = 7
		if !mapped() || b[99] != 7 {
			t.Error("an arena that is used is not there")
		}
		runtime.KeepAlive(a)
		return b
	}()
	collect("the arena")
	if kept[99] != 0 {
		t.Errorf("a slice that was kept for too long reads %d", kept[99])
	}
}

// TestMapArena maps an arena, and what is none, or is not where it should be.
func TestMapArena(t *testing.T) {
	a := testArena(t, 16)
	b := a.Make(Worthwhile / 2)
	copy(b, "hello")
	m, err := Map(a.Offer, 3, 2)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	offset, _ := a.offset(b)
	got, err := m.Borrow(uint64(offset), 5, 100)
	if err != nil || string(got) != "hello" {
		t.Fatalf("borrowed %q, %v", got, err)
	}
	m.GiveBack()
	if a.Notify(2, true); !m.Valid() || m.Keeps() {
		t.Errorf("under notice, what is lent is valid: %t, and node 2 is kept: %t", m.Valid(), m.Keeps())
	}
	if a.Notify(2, false); !m.Keeps() {
		t.Error("a notice that was withdrawn counts")
	}
	for node, want := range []bool{true, true, false} {
		if a.GiveUp(node); m.Valid() != want {
			t.Errorf("after giving up node %d, what is lent to node 2 is valid: %t", node, m.Valid())
		}
	}
	if m.Keeps() {
		t.Error("a node that was given up counts as kept")
	}

	closed := testArena(t, 16)
	closed.Close()
	unsealed, err := unix.MemfdCreate(arenaName, unix.MFD_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(unsealed)
	small := testArena(t, 0)
	pipe, other, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer pipe.Close()
	defer other.Close()
	for what, change := range map[string]func(o *Offer){
		"another token":       func(o *Offer) { o.Token = bytes.Clone(o.Token); o.Token[3]++ },
		"no token":            func(o *Offer) { o.Token = nil },
		"a longer token":      func(o *Offer) { o.Token = append(bytes.Clone(o.Token), 0) },
		"a closed file":       func(o *Offer) { o.FD = closed.Offer.FD },
		"no file":             func(o *Offer) { o.FD = 1<<64 - 1 },
		"another process":     func(o *Offer) { o.PID = uint64(os.Getppid()) },
		"no process":          func(o *Offer) { o.PID = 1<<64 - 1 },
		"a pipe":              func(o *Offer) { o.FD = uint64(pipe.Fd()) },
		"a file that shrinks": func(o *Offer) { o.FD = uint64(unsealed) },
		"another arena":       func(o *Offer) { o.FD = small.Offer.FD },
	} {
		o := a.Offer
		if change(&o); what == "a file that shrinks" {
			if _, err := unix.Write(unsealed, slices.Concat(o.Token, make([]byte, 1<<20))); err != nil {
				t.Fatal(err)
			}
		}
		if m, err := Map(o, 3, 2); err == nil {
			t.Errorf("%s is mapped", what)
			m.Close()
		} else if !errors.Is(err, errNoArena) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := Map(small.Offer, 1<<16, 2); !errors.Is(err, errNoArena) {
		t.Errorf("an arena that is too small for so many nodes: %v", err)
	}
}

// TestBorrowBounds borrows at every bound of an arena.
func TestBorrowBounds(t *testing.T) {
	a := testArena(t, 2)
	m, err := Map(a.Offer, 3, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	const most = 100
	size, head := uint64(len(a.bytes)), uint64(a.head)
	for _, c := range []struct {
		offset uint64
		length int
		want   error
	}{
		{head, 1, nil}, {head, most, nil}, {size - 1, 1, nil}, {size - most, most, nil},
		{head - 1, 1, ErrOutside}, {0, 1, ErrOutside}, {head - 1, most, ErrOutside},
		{size, 1, ErrOutside}, {size - 1, 2, ErrOutside}, {size - most, most + 1, wire.ErrTooLarge},
		{size - most + 1, most, ErrOutside}, {1<<64 - 1, 1, ErrOutside}, {1<<64 - 1, most, ErrOutside},
		{1<<63 + head, 1, ErrOutside}, {head, wire.MaxBulk, wire.ErrTooLarge},
	} {
		b, err := m.Borrow(c.offset, c.length, most)
		if !errors.Is(err, c.want) || err == nil && len(b) != c.length {
			t.Errorf("%d bytes from %d on, of %d: %d bytes, %v, want %v", c.length, c.offset, size, len(b), err, c.want)
		}
		if err == nil {
			fmt.Fprint(io.Discard, b[0], b[len(b)-1]) // which does not fault
			m.GiveBack()
		}
	}
	m.Close()
	if _, err := m.Borrow(head, 1, most); !errors.Is(err, ErrOutside) {
		t.Errorf("borrowed from what is unmapped: %v", err)
	}
}
