package coherence

import (
	"bytes"
	"errors"
	"testing"
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

// Memory is exchanged only for contents of the same size, aligned, where the
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
		"a message": func(b *Buffer) error { return b.take(&Message{Size: 16, Whole: true, Bytes: make([]byte, 16)}) },
		"a writer":  func(b *Buffer) error { b.Own(); b.bytes[0] = 0; return nil },
	} {
		b := buffered(16, 'x')
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

// fixed is a store that can become unable to change its size.
type fixed struct {
	bytes []byte
	full  bool
}

func (f *fixed) Bytes() []byte { return f.bytes }

func (f *fixed) Resize(size int) error {
	if f.full {
		return errors.New("full")
	}
	f.bytes = append(f.bytes, make([]byte, size)...)[:size]
	return nil
}

// The bytes stay in their store, since a transport copies them. Their size may change there.
func TestBufferOfStore(t *testing.T) {
	store := &fixed{bytes: make([]byte, 8)}
	b := buffered(8, 'x')
	b.MoveTo(store)
	at := &b.bytes[0]
	b.Lend()
	if b.Own(); &b.bytes[0] != at || at != &store.bytes[0] || *at != 'x' || b.Size() != 8 {
		t.Errorf("other memory for %d bytes", b.Size())
	}
	b.House(new(vault), true)
	if err := b.Resize(16); err != nil || b.Size() != 16 || &b.bytes[0] != &store.bytes[0] {
		t.Fatalf("%v, %d bytes", err, b.Size())
	}
}

// A buffer gives its memory back when it moves to a store, and stays there.
func TestBufferMovesToStore(t *testing.T) {
	v := new(vault)
	b := buffered(housed, 'x')
	b.House(v, false)
	store := &fixed{bytes: make([]byte, housed)}
	if b.MoveTo(store); v.made != 1 || v.freed != 1 {
		t.Errorf("%d made, %d freed", v.made, v.freed)
	}
	if b.House(v, false); &b.bytes[0] != &store.bytes[0] || v.made != 1 {
		t.Errorf("it leaves the store: %d made", v.made)
	}
	b = new(Buffer)
	if b.MoveTo(&fixed{bytes: make([]byte, 16)}); b.Size() != 16 || len(b.Bytes()) != 16 {
		t.Errorf("%d bytes, want the 16 of the store", b.Size())
	}
}

// Memory that is not the Allocator's does not go to a transport, which would give it back there.
func TestBufferSwapsBeforeItMoves(t *testing.T) {
	v := new(vault)
	b := buffered(housed, 'x')
	b.House(v, true)
	m := Message{Swap: true, Whole: true, Bytes: v.Make(housed), Size: housed}
	if err := b.take(&m); err != nil || m.Bytes != nil {
		t.Errorf("%v: %d bytes come back", err, len(m.Bytes))
	}
	if err := b.Resize(8); err != nil || v.made != 1 || v.freed != 1 {
		t.Errorf("%v: %d made, %d freed", err, v.made, v.freed)
	}
}

// Large bytes that matter move to an Allocator's memory when they change after they were sent for the first
// time. Others live there from the first on. They go back to it once.
func TestBufferHouses(t *testing.T) {
	for _, keep := range []bool{true, false} {
		for _, size := range []int{8, housed - 8, housed} {
			for _, sent := range []bool{false, true} {
				v := new(vault)
				b := buffered(size, 'x')
				at := &b.bytes[0]
				b.House(v, keep)
				large := size >= housed
				if b.Own(); (v.made == 1) != (large && !keep) || len(b.bytes) != size || (b.bytes[0] == 'x') != (keep || !large) {
					t.Errorf("%d bytes, keep %t: %d made, %q", size, keep, v.made, b.bytes[0])
				}
				if sent {
					lent := b.Sent()
					if &lent[0] != &b.bytes[0] || len(lent) != size || keep && &lent[0] != at {
						t.Errorf("%d bytes, keep %t: other bytes are sent", size, keep)
					}
					for range 2 {
						b.Own()
						b.Sent()
					}
					if keep && large == (&b.bytes[0] == at) || lent[0] != b.bytes[0] {
						t.Errorf("%d bytes, keep %t: %q was sent, %q was to change", size, keep, lent[0], b.bytes[0])
					}
				}
				inside := large && (!keep || sent)
				if (v.made == 1) != inside {
					t.Errorf("%d bytes, keep %t, sent %t: %d made", size, keep, sent, v.made)
				}
				if err := b.Resize(2 * housed); err != nil || (v.freed == 1) != inside || v.made != 1+v.freed {
					t.Errorf("%d bytes resized: %v, %d made, %d freed", size, err, v.made, v.freed)
				}
				if err := b.Resize(3 * housed); err != nil || v.made != 1+v.freed {
					t.Errorf("%d bytes resized again: %v, %d made, %d freed", size, err, v.made, v.freed)
				}
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
		Fault: ErrBroken, ids: []ID{1},
	}
	w.Reset()
	if len(w.Queue)+len(w.Events)+len(w.Messages)+len(w.ids) != 0 || w.Fault != nil {
		t.Errorf("%+v", w)
	}
	if w.Events[:1][0].Tag != nil || w.Messages[:1][0].Bytes != nil || cap(w.ids) == 0 || cap(w.Queue) < 2 {
		t.Errorf("what was reset refers to %+v, %+v", w.Events[:1], w.Messages[:1])
	}
}
