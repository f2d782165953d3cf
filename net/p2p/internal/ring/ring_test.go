package ring

import (
	"bytes"
	"errors"
	"math"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"
)

// pair is both ends of a ring.
type pair struct {
	written, read atomic.Uint64
	attention     atomic.Uint32
	w             *Writer
	r             *Reader
}

// newPair makes a ring that begins behind so many bytes.
func newPair(from uint64) *pair {
	p := new(pair)
	memory := make([]byte, Size)
	p.read.Store(from)
	p.w = NewWriter(memory, &p.written, &p.read, &p.attention)
	p.r = NewReader(memory, &p.written, &p.read, p.w.At())
	return p
}

// TestBytes writes and reads at random, and compares with a slice.
func TestBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from := rapid.SampledFrom([]uint64{0, 1, Size - 3, 5 * Size, math.MaxUint64 - 1000}).Draw(t, "from")
		p := newPair(from)
		sizes := rapid.OneOf(rapid.IntRange(0, 10), rapid.IntRange(0, Size+10), rapid.IntRange(Size-1, Size+1))
		var there []byte
		wrote := 0
		t.Repeat(map[string]func(*rapid.T){
			"": func(t *rapid.T) {
				if room := p.w.Room(); room != Size-len(there) {
					t.Fatalf("room for %d bytes, want %d", room, Size-len(there))
				}
				if p.r.Empty() != (len(there) == 0) {
					t.Fatalf("%d bytes are there, empty is %t", len(there), p.r.Empty())
				}
				if at := p.w.At(); at != from+uint64(wrote) || p.written.Load() != at || p.read.Load() != at-uint64(len(there)) {
					t.Fatalf("at %d, %d written, %d read, want %d, and %d to read", at, p.written.Load(), p.read.Load(), from+uint64(wrote), len(there))
				}
			},
			"write": func(t *rapid.T) {
				n := sizes.Draw(t, "bytes")
				b := filling[wrote%(Size-20):][:n]
				if got, want := p.w.Write(b), min(n, Size-len(there)); got != want {
					t.Fatalf("%d bytes of %d written, want %d", got, n, want)
				} else {
					there = append(there, b[:got]...)
					wrote += got
				}
			},
			"read": func(t *rapid.T) {
				b := make([]byte, sizes.Draw(t, "bytes"))
				n, err := p.r.Read(b)
				if err != nil || n != min(len(b), len(there)) || !bytes.Equal(b[:n], there[:n]) {
					t.Fatalf("read %d bytes into %d, %v, of %d, or other ones", n, len(b), err, len(there))
				}
				there = there[n:]
			},
		})
	})
}

// TestNextStream has a second writer and reader of one ring: they begin where the first ones have ended.
func TestNextStream(t *testing.T) {
	p := newPair(0)
	p.w.Write(filling[:100])
	at := p.w.At()
	p.r = NewReader(p.r.bytes, &p.written, &p.read, at) // the last 100 bytes are of a stream that has broken
	if p.w.Room() != Size || !p.r.Empty() {
		t.Errorf("room for %d bytes, want %d", p.w.Room(), Size)
	}
	p.w.Write(filling[:5])
	again := NewWriter(p.w.bytes, &p.written, &p.read, &p.attention)
	if again.At() != at || p.written.Load() != at {
		t.Errorf("a writer begins at %d, and says %d, want %d", again.At(), p.written.Load(), at)
	}
}

// TestReaderOfTooMuch has a writer that counts what cannot be.
func TestReaderOfTooMuch(t *testing.T) {
	for there, want := range map[uint64]error{Size: nil, Size + 1: ErrRange, 1 << 63: ErrRange, math.MaxUint64: ErrRange} {
		p := newPair(100)
		p.written.Store(100 + there)
		b := make([]byte, 2*Size)
		n, err := p.r.Read(b)
		if !errors.Is(err, want) || err != nil && n != 0 || err == nil && uint64(n) != there {
			t.Errorf("%d bytes are said to be there, and %d are read, %v, want %v", there, n, err, want)
		}
		if read := p.read.Load(); read != 100+uint64(n) {
			t.Errorf("%d are read, want %d", read, 100+n)
		}
	}
}

// TestWriterToTooMuch has a reader that counts what cannot be: nothing more is written.
func TestWriterToTooMuch(t *testing.T) {
	for read, want := range map[uint64]int{Size: Size, Size - 1: Size - 1, 0: 0, Size + 1: 0, 1 << 63: 0, math.MaxUint64: 0} {
		p := newPair(Size)
		p.read.Store(read)
		if n := p.w.Write(filling[:Size]); n != want {
			t.Errorf("%d are said to be read, of %d, and %d are written, want %d", read, Size, n, want)
		}
	}
}

// TestRings plays the attention of the other node: each line is its word, and whether the writer rings.
func TestRings(t *testing.T) {
	p := newPair(0)
	for i, c := range []struct {
		word  uint32
		rings bool
	}{{0, false}, {1, true}, {1, false}, {2, false}, {2, false}, {3, true}, {3, false}, {7, true}, {8, false}, {9, true}, {9, false}} {
		p.attention.Store(c.word)
		if got := p.w.Rings(); got != c.rings {
			t.Errorf("line %d, at %d: rings is %t, want %t", i, c.word, got, c.rings)
		}
	}
}

// TestAttention plays who looks: each line is a step, what the word is then, and whether End says that nobody looks.
func TestAttention(t *testing.T) {
	type step struct {
		what   string
		word   uint32
		nobody bool
	}
	for name, steps := range map[string][]step{
		"in before": {
			{"in", 1, false}, {"begin", 2, false}, {"begin", 2, false}, {"end", 2, false}, {"begin", 2, false},
			{"end", 2, false}, {"end", 3, true}, {"begin", 4, false}, {"end", 5, true},
		},
		"in while one looks": {
			{"begin", 0, false}, {"end", 0, false}, {"begin", 0, false}, {"in", 0, false},
			{"begin", 0, false}, {"end", 0, false}, {"end", 1, true}, {"begin", 2, false},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var a Attention
			var word atomic.Uint32
			for i, s := range steps {
				nobody := false
				switch s.what {
				case "in":
					a.In(&word)
				case "begin":
					a.Begin()
				case "end":
					nobody = a.leave()
				}
				if word.Load() != s.word || nobody != s.nobody {
					t.Errorf("step %d, %s: the word is %d, nobody is %t, want %d, %t", i, s.what, word.Load(), nobody, s.word, s.nobody)
				}
			}
		})
	}
}

// TestLateReader has the reader of a former ring say how far it has read, after the new one has begun. The new one says it again.
func TestLateReader(t *testing.T) {
	p := newPair(5 * Size)
	p.read.Store(3)
	if p.w.Room() != 0 {
		t.Errorf("room for %d bytes by a count that cannot be", p.w.Room())
	}
	if !p.r.Empty() || p.w.Room() != Size {
		t.Errorf("an empty ring has room for %d bytes", p.w.Room())
	}
}
