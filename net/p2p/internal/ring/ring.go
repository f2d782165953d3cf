package ring

import (
	"errors"
	"fmt"
	"sync/atomic"
)

// Size is how many bytes a ring has: a power of two, more than the largest frame.
const Size = 2 << 20

// ErrRange is a ring whose writer counts bytes that cannot be there.
var ErrRange = errors.New("more bytes are written to a ring than it has")

// Writer writes to the ring of another node. One goroutine uses it at a time.
type Writer struct {
	bytes     []byte
	written   *atomic.Uint64 // its own word
	read      *atomic.Uint64 // of the other node
	attention *atomic.Uint32 // of the other node
	at        uint64
	rung      uint32 // the attention for which it has rung
	steps
}

// NewWriter makes the writer of a ring. It begins where the other node has read to.
func NewWriter(bytes []byte, written, read *atomic.Uint64, attention *atomic.Uint32) *Writer {
	w := &Writer{bytes: bytes, written: written, read: read, attention: attention, at: read.Load()}
	written.Store(w.at)
	return w
}

// At is how many bytes it has written.
func (w *Writer) At() uint64 { return w.at }

// Room is how many bytes Write would take. If the other node counts more than is written, or less than there
// can be, it is 0.
func (w *Writer) Room() int {
	w.point()
	return Size - int(min(Size, w.at-w.saw(w.read.Load())))
}

// Write writes as many bytes as there is room for, and returns how many.
func (w *Writer) Write(b []byte) int {
	n := min(len(b), w.Room())
	at := int(w.at % Size)
	w.point()
	copy(w.bytes, b[copy(w.bytes[at:], b[:n]):n])
	w.at += uint64(n)
	releases()
	w.point()
	w.written.Store(w.at)
	return n
}

// Rings reports whether the writer must ring: the other node does not look, and this one has not rung since it stopped. Call
// it after Write.
func (w *Writer) Rings() bool {
	w.point()
	now := uint32(w.saw(uint64(w.attention.Load())))
	rings := now%2 == 1 && now != w.rung
	if rings {
		w.rung = now
	}
	return rings
}

// Reader reads the ring of another node. One goroutine uses it at a time.
type Reader struct {
	bytes   []byte
	written *atomic.Uint64 // of the other node
	read    *atomic.Uint64 // its own word
	at      uint64
	steps
}

// NewReader makes the reader of a ring whose writer begins behind so many bytes.
func NewReader(bytes []byte, written, read *atomic.Uint64, at uint64) *Reader {
	read.Store(at)
	return &Reader{bytes: bytes, written: written, read: read, at: at}
}

// Empty reports whether Read would find nothing. It says once more how far the ring is read, if need be: the reader of a former
// ring of that node may have been late.
func (r *Reader) Empty() bool {
	if r.point(); r.saw(r.read.Load()) != r.at {
		r.point()
		r.read.Store(r.at)
	}
	return r.there() == 0
}

// there is how many bytes it has not read.
func (r *Reader) there() uint64 {
	r.point()
	return r.saw(r.written.Load()) - r.at
}

// Read reads what is there, and returns how many bytes. It does not wait.
func (r *Reader) Read(b []byte) (int, error) {
	there := r.there()
	if there > Size {
		return 0, fmt.Errorf("%w: %d", ErrRange, there)
	}
	acquires()
	n := min(len(b), int(there))
	at := int(r.at % Size)
	r.point()
	k := copy(b[:n], r.bytes[at:])
	copy(b[k:n], r.bytes)
	r.at += uint64(n)
	r.point()
	r.read.Store(r.at)
	return n, nil
}
