package p2p

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"github.com/orwl/go-orwl/net/wire"
)

// testArena is one of so many pages behind its head, in a run of 3 nodes.
func testArena(t testing.TB, pages int) *arena {
	t.Helper()
	a, err := newArena(3, headSize(3, os.Getpagesize())+pages*os.Getpagesize())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.close)
	return a
}

// stored is how many bytes of memory a file takes.
func (a *arena) stored(t *testing.T) int64 {
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
	loans     []*block
	forgotten bool
}

// TestArena makes, lends, settles and forgets at random. What is in use, or lent, stays
// what it is, whatever is made meanwhile; what is made is zero; and in the end all is
// free again.
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
				b := a.make(size)
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
				a.forget(h.bytes)
				h.forgotten = true
				drop()
			},
			"lend": func(r *rapid.T) {
				h := pick(inUse)
				from := rapid.IntRange(0, len(h.bytes)-1).Draw(r, "from")
				b, offset := a.lend(h.bytes[from:], true)
				if &a.bytes[offset] != &h.bytes[from] {
					r.Fatal("what lies in the arena is not lent where it lies")
				}
				h.loans = append(h.loans, b)
			},
			"lend a copy": func(r *rapid.T) {
				own := bytes.Repeat([]byte{7}, rapid.IntRange(1, 5*a.page).Draw(r, "size"))
				if b, offset := a.lend(own, rapid.Bool().Draw(r, "still")); b != nil {
					h := fill(a.bytes[offset : offset+len(own)])
					h.loans, h.forgotten = []*block{b}, true
				}
			},
			"settle": func(r *rapid.T) {
				h := pick(func(h *held) bool { return len(h.loans) > 0 })
				a.settle(h.loans[0])
				h.loans = h.loans[1:]
				drop()
			},
		})
		for _, h := range all {
			if !h.forgotten {
				a.forget(h.bytes)
			}
			for _, b := range h.loans {
				a.settle(b)
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
	b := a.make(size)
	if now := a.stored(t); now != empty {
		t.Errorf("memory that nobody has touched takes %d bytes", now-empty)
	}
	fill := func() {
		for i := range b {
			b[i] = 1
		}
	}
	fill()
	loan, _ := a.lend(b, true)
	a.forget(b)
	if now := a.stored(t); now-empty < size || b[0] != 1 {
		t.Errorf("memory that is lent takes %d bytes, want %d at least", now-empty, size)
	}
	a.settle(loan)
	if now := a.stored(t); now != empty {
		t.Errorf("memory that is forgotten takes %d bytes", now-empty)
	}
	if b = a.make(size); b[0] != 0 {
		t.Error("memory that is made again is not zero")
	}
}

// TestArenaKeepsCopies lends more copies than are kept for the next.
func TestArenaKeepsCopies(t *testing.T) {
	a := testArena(t, 2*mostSpare/os.Getpagesize())
	var copies []*block
	own := bytes.Repeat([]byte{1}, mostSpare/4)
	for range 6 {
		loan, _ := a.lend(own, false)
		copies = append(copies, loan)
	}
	empty := a.stored(t) - 6*mostSpare/4
	for _, loan := range copies {
		a.settle(loan)
	}
	if now := a.stored(t) - empty; a.kept != mostSpare || now != mostSpare {
		t.Errorf("%d bytes are kept for copies, and %d are there, want %d", a.kept, now, mostSpare)
	}
	if loan, _ := a.lend(own, false); loan != copies[3] || a.kept != mostSpare*3/4 {
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
	a.forget(make([]byte, 10)) // is none of its
	b := a.make(3 * a.page)
	panics("forgetting a part", func() { a.forget(b[a.page:]) })
	panics("forgetting within a page", func() { a.forget(b[1:]) })
	a.forget(b)
	panics("forgetting twice", func() { a.forget(b) })
	panics("lending what was forgotten", func() { a.lend(b, true) })
}

// TestArenaFull has no room: it says so, and the node's memory is ordinary then.
func TestArenaFull(t *testing.T) {
	a := testArena(t, 16)
	if a.make(17*a.page) != nil {
		t.Error("an arena of 16 pages has made 17")
	}
	if b, _ := a.lend(make([]byte, 17*a.page), false); b != nil {
		t.Error("an arena of 16 pages has copied 17")
	}
	m := Memory{open: func() *arena { return a }}
	b := m.Make(worthwhile * 8)
	if _, inside := a.offset(b); inside || len(b) != worthwhile*8 {
		t.Errorf("%d bytes, in the arena: %t", len(b), inside)
	}
	m.Free(b)
}

// TestArenaIsCollected makes an arena that nobody can reach.
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
		for ctx := soon(t); mapped(); {
			if runtime.GC(); ctx.Err() != nil {
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
		defer a.close()
		b := a.make(100)
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
	b := a.make(worthwhile / 2)
	copy(b, "hello")
	m, err := mapArena(a.offer, 3, 2)
	if err != nil {
		t.Fatal(err)
	}
	defer m.close()
	offset, _ := a.offset(b)
	got, err := m.borrow(&wire.Loan{Offset: uint64(offset), Length: 5}, 100)
	if err != nil || string(got) != "hello" {
		t.Fatalf("borrowed %q, %v", got, err)
	}
	m.giveBack()
	if a.notify(2, true); !m.valid() || m.keeps() {
		t.Errorf("under notice, what is lent is valid: %t, and node 2 is kept: %t", m.valid(), m.keeps())
	}
	if a.notify(2, false); !m.keeps() {
		t.Error("a notice that was withdrawn counts")
	}
	for node, want := range []bool{true, true, false} {
		if a.giveUp(node); m.valid() != want {
			t.Errorf("after giving up node %d, what is lent to node 2 is valid: %t", node, m.valid())
		}
	}
	if m.keeps() {
		t.Error("a node that was given up counts as kept")
	}

	closed := testArena(t, 16)
	closed.close()
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
	for what, change := range map[string]func(o *offer){
		"another token":       func(o *offer) { o.token = bytes.Clone(o.token); o.token[3]++ },
		"no token":            func(o *offer) { o.token = nil },
		"a longer token":      func(o *offer) { o.token = append(bytes.Clone(o.token), 0) },
		"another machine":     func(o *offer) { o.boot = "00000000-0000-0000-0000-000000000000" },
		"no machine":          func(o *offer) { o.boot = "" },
		"a closed file":       func(o *offer) { o.fd = closed.offer.fd },
		"no file":             func(o *offer) { o.fd = 1<<64 - 1 },
		"another process":     func(o *offer) { o.pid = uint64(os.Getppid()) },
		"no process":          func(o *offer) { o.pid = 1<<64 - 1 },
		"a pipe":              func(o *offer) { o.fd = uint64(pipe.Fd()) },
		"a file that shrinks": func(o *offer) { o.fd = uint64(unsealed) },
		"another arena":       func(o *offer) { o.fd = small.offer.fd },
	} {
		o := a.offer
		if change(&o); what == "a file that shrinks" {
			if _, err := unix.Write(unsealed, slices.Concat(o.token, make([]byte, 1<<20))); err != nil {
				t.Fatal(err)
			}
		}
		if m, err := mapArena(o, 3, 2); err == nil {
			t.Errorf("%s is mapped", what)
			m.close()
		} else if elsewhere := what == "another machine" || what == "no machine"; errors.Is(err, errElsewhere) != elsewhere || errors.Is(err, errNoArena) == elsewhere {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := mapArena(small.offer, 1<<16, 2); !errors.Is(err, errNoArena) {
		t.Errorf("an arena that is too small for so many nodes: %v", err)
	}
}

// TestBorrowBounds borrows at every bound of an arena.
func TestBorrowBounds(t *testing.T) {
	a := testArena(t, 2)
	m, err := mapArena(a.offer, 3, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer m.close()
	const most = 100
	size, head := uint64(len(a.bytes)), uint64(a.head)
	for _, c := range []struct {
		offset uint64
		length int
		want   error
	}{
		{head, 1, nil}, {head, most, nil}, {size - 1, 1, nil}, {size - most, most, nil},
		{head - 1, 1, ErrProtocol}, {0, 1, ErrProtocol}, {head - 1, most, ErrProtocol},
		{size, 1, ErrProtocol}, {size - 1, 2, ErrProtocol}, {size - most, most + 1, wire.ErrTooLarge},
		{size - most + 1, most, ErrProtocol}, {1<<64 - 1, 1, ErrProtocol}, {1<<64 - 1, most, ErrProtocol},
		{1<<63 + head, 1, ErrProtocol}, {head, wire.MaxBulk, wire.ErrTooLarge},
	} {
		b, err := m.borrow(&wire.Loan{Offset: c.offset, Length: c.length}, most)
		if !errors.Is(err, c.want) || err == nil && len(b) != c.length {
			t.Errorf("%d bytes from %d on, of %d: %d bytes, %v, want %v", c.length, c.offset, size, len(b), err, c.want)
		}
		if err == nil {
			fmt.Fprint(io.Discard, b[0], b[len(b)-1]) // which does not fault
			m.giveBack()
		}
	}
	m.close()
	if _, err := m.borrow(&wire.Loan{Offset: head, Length: 1}, most); !errors.Is(err, ErrProtocol) {
		t.Errorf("borrowed from what is unmapped: %v", err)
	}
}
