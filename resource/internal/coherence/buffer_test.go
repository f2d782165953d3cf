package coherence

import (
	"bytes"
	"errors"
	"testing"

	"github.com/orwl/go-orwl/internal/faultpage"
)

// vault is an Allocator that counts.
type vault struct{ made, freed int }

func (v *vault) Make(size int) []byte { v.made++; return make([]byte, size) }
func (v *vault) Free([]byte)          { v.freed++ }

func buffered(size int, fill byte) *Buffer {
	b := new(Buffer)
	b.Init(size)
	copy(b.bytes, bytes.Repeat([]byte{fill}, size))
	return b
}

// Memory is exchanged only for the whole contents, of the same size, aligned, where the
// message allows it. Memory that others may read is not given away.
func TestBufferSwaps(t *testing.T) {
	all := append(make([]byte, 0, 40), make([]byte, 32)...)
	for name, c := range map[string]struct {
		m    Message
		size int
		want bool
	}{
		"swapped":      {Message{Swap: true, Whole: true, Bytes: all[:16], Size: 16}, 16, true},
		"not allowed":  {Message{Whole: true, Bytes: all[:16], Size: 16}, 16, false},
		"spans":        {Message{Swap: true, Bytes: all[:16], Size: 16, Spans: []Span{{0, 16}}}, 16, false},
		"another size": {Message{Swap: true, Whole: true, Bytes: all[:16], Size: 16}, 24, false},
		"not aligned":  {Message{Swap: true, Whole: true, Bytes: all[1:17], Size: 16}, 16, false},
	} {
		b := buffered(c.size, 'x')
		before, brought := &b.bytes[0], &c.m.Bytes[0]
		if err := b.take(&c.m); err != nil {
			t.Fatal(err)
		}
		if swapped := &b.bytes[0] == brought; swapped != c.want || swapped != (&c.m.Bytes[0] == before) || len(b.bytes) != 16 || b.bytes[0] != 0 {
			t.Errorf("%s: swapped %t, %q", name, swapped, b.bytes)
		}
	}
	b := buffered(16, 'x')
	b.Lend()
	read := b.bytes
	m := Message{Swap: true, Whole: true, Bytes: all[:16], Size: 16}
	if err := b.take(&m); err != nil || m.Bytes != nil || b.kind.lent || read[0] != 'x' {
		t.Errorf("%v: memory that is lent comes back as %q", err, m.Bytes)
	}
	after := &b.bytes[0]
	if b.Own(); &b.bytes[0] != after {
		t.Error("the new memory is taken for lent")
	}
}

// Nothing changes memory that is lent.
func TestBufferOwns(t *testing.T) {
	for name, change := range map[string]func(b *Buffer) error{
		"a message with spans": func(b *Buffer) error { return b.take(&Message{Size: 16, Bytes: []byte("y"), Spans: []Span{{3, 1}}}) },
		"a whole message":      func(b *Buffer) error { return b.take(&Message{Size: 16, Whole: true, Bytes: make([]byte, 16)}) },
		"a writer":             func(b *Buffer) error { b.Own(); b.bytes[0] = 0; return nil },
		"what was saved": func(b *Buffer) error {
			b.Restore()
			return nil
		},
	} {
		b := buffered(16, 'x')
		b.Save()
		b.kind.before[0] = 'z'
		b.Lend()
		read := b.bytes
		if err := change(b); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(read, bytes.Repeat([]byte{'x'}, 16)) || bytes.Equal(b.bytes, read) {
			t.Errorf("%s changes memory that is lent to %q, the bytes are %q", name, read, b.bytes)
		}
		now := &b.bytes[0]
		if b.Own(); &b.bytes[0] != now {
			t.Errorf("%s: the new memory is taken for lent", name)
		}
	}
}

// Restore takes back all changes, of the size too.
func TestBufferRestores(t *testing.T) {
	b := buffered(16, 'x')
	b.Save()
	for _, size := range []int{16, 24, 8} {
		if err := b.Resize(size); err != nil {
			t.Fatal(err)
		}
		clear(b.bytes)
		if !b.Restore() || string(b.bytes) != "xxxxxxxxxxxxxxxx" || b.Size() != 16 {
			t.Errorf("of %d bytes: %q, %d", size, b.bytes, b.Size())
		}
	}
}

// Fault pages stay the bytes' memory, since a transport copies them.
func TestBufferOfPages(t *testing.T) {
	pages, err := new(faultpage.Space).NewMemory("r", 8)
	if errors.Is(err, faultpage.ErrUnsupported) {
		t.Skip("there are no fault pages on this system")
	}
	if err != nil {
		t.Fatal(err)
	}
	b := new(Buffer)
	b.InitPages(pages)
	at := &b.bytes[0]
	b.Lend()
	if b.Own(); &b.bytes[0] != at || b.Size() != 8 {
		t.Errorf("other memory for %d bytes", b.Size())
	}
	b.Save()
	if err := b.Resize(16); err != nil {
		t.Fatal(err)
	}
	if err := pages.Close(); err != nil {
		t.Fatal(err)
	}
	if b.Restore() {
		t.Error("restored in memory that is gone")
	}
}

// Large bytes live in an Allocator's memory from the first on, and go back to it once.
func TestBufferHouses(t *testing.T) {
	for _, keep := range []bool{true, false} {
		for _, size := range []int{8, housed - 8, housed} {
			v := new(vault)
			b := buffered(size, 'x')
			b.House(v, keep)
			large := size >= housed
			if (v.made == 1) != large || len(b.bytes) != size || (b.bytes[0] == 'x') != (keep || !large) {
				t.Errorf("%d bytes, keep %t: %d made, %q", size, keep, v.made, b.bytes[0])
			}
			if err := b.Resize(2 * housed); err != nil || (v.freed == 1) != large || v.made != 1+v.freed {
				t.Errorf("%d bytes resized: %v, %d made, %d freed", size, err, v.made, v.freed)
			}
		}
	}
	b := buffered(housed, 'x')
	if b.House(nil, true); b.kind != nil {
		t.Error("no allocator makes the buffer a special one")
	}
}

// A Work that was reset has nothing of before, and keeps its room.
func TestWorkResets(t *testing.T) {
	w := Work{
		Queue: make([]Operation, 2), Events: []Event{{Tag: "tag"}}, Messages: []Message{{Bytes: []byte("x")}},
		Fault: ErrBroken, ids: []ID{1}, bytes: []byte("x"),
	}
	w.Reset()
	if len(w.Queue)+len(w.Events)+len(w.Messages)+len(w.ids)+len(w.bytes) != 0 || w.Fault != nil {
		t.Errorf("%+v", w)
	}
	if w.Events[:1][0].Tag != nil || w.Messages[:1][0].Bytes != nil || cap(w.ids) == 0 || cap(w.bytes) == 0 || cap(w.Queue) < 2 {
		t.Errorf("what was reset refers to %+v, %+v", w.Events[:1], w.Messages[:1])
	}
}
