package coherence

import (
	"sync/atomic"
	"unsafe"

	"github.com/orwl/go-orwl/internal/hugepage"
	"github.com/orwl/go-orwl/internal/invariant"
)

// Buffer is the bytes of a resource on one node, and the rules by which they are changed,
// lent and replaced. Their number is any. The memory below them is whole words, so that a view of any
// type is aligned.
//
//   - The one writer that holds the resource changes the bytes, or a half that takes a
//     message for it. Before the first change it calls Own.
//   - A message lends the bytes to a transport. Mostly the protocol says when the transport
//     is done with them: the next message of the other node follows it. When a node's life
//     ends and its lanes go on, nothing says so. Then Lend notes that the memory may still be
//     read, and Own replaces it by other memory with the same contents.
//   - A message that brings the whole contents may exchange its memory with the buffer's, so
//     that there is no copy.
type Buffer struct {
	bytes []byte
	size  atomic.Int64 // for those who do not hold the resource
	kind  *kind        // nil: ordinary memory that was never lent
}

// kind is what few buffers have.
type kind struct {
	lent   bool      // a transport may still read the bytes, and nothing says until when
	away   bool      // the bytes are not in memory of the Allocator yet
	store  Store     // nil: the buffer chooses the memory
	memory Allocator // nil: ordinary memory
}

// Store is memory that stays where it is, with rules of its own. A transport copies bytes
// from there.
type Store interface {
	// Bytes are all bytes, good until the next Resize.
	Bytes() []byte
	// Resize keeps what fits, and new bytes are zero. If it fails, nothing has changed.
	Resize(size int) error
}

// Allocator provides memory for the bytes of large resources. A node's transport can
// send them from there at less cost. Any goroutine may call its methods.
type Allocator interface {
	// Make returns size bytes of zeroed memory, aligned for any type.
	Make(size int) []byte
	// Free takes back what Make returned. A message may still be reading the bytes, so
	// they must not change yet.
	Free(b []byte)
}

// housed is the smallest size in bytes that uses an Allocator.
const housed = 64 << 10

// Init makes a buffer of size zeroed bytes.
func (b *Buffer) Init(size int) {
	b.bytes = b.make(size)
	b.size.Store(int64(size))
}

// MoveTo makes the buffer use a store, which has the same number of bytes. It copies the
// contents.
func (b *Buffer) MoveTo(s Store) {
	old := b.bytes
	b.bytes = s.Bytes()
	copy(b.bytes, old)
	b.free(old)
	b.special().store = s
	b.size.Store(int64(len(b.bytes)))
}

// Bytes are all bytes, good until the next change of their size and the next message.
func (b *Buffer) Bytes() []byte { return b.bytes }

// Size is how many bytes there are, for those who do not hold the resource.
func (b *Buffer) Size() int { return int(b.size.Load()) }

// Plain reports whether the bytes are ordinary memory that no transport may read.
func (b *Buffer) Plain() bool { return b.kind == nil }

// Store is the store that the buffer uses, or nil.
func (b *Buffer) Store() Store {
	if b.kind == nil {
		return nil
	}
	return b.kind.store
}

// memory is the Allocator for size bytes, or nil.
func (b *Buffer) memory(size int) Allocator {
	if b.kind == nil || size < housed {
		return nil
	}
	return b.kind.memory
}

func (b *Buffer) special() *kind {
	if b.kind == nil {
		b.kind = new(kind)
	}
	return b.kind
}

// House makes the buffer use memory of a. keep says that the contents matter. Then they stay where
// they are until Sent has given them to a transport: most contents never leave their node.
func (b *Buffer) House(a Allocator, keep bool) {
	if a == nil || b.Store() != nil {
		return
	}
	k := b.special()
	k.memory = a
	if len(b.bytes) < housed {
		return
	}
	if k.away = keep; !keep {
		b.bytes = a.Make(len(b.bytes))
	}
}

// Sent are all bytes, for a transport. Bytes that were sent once are mostly sent again: so the next Own moves the
// bytes to memory of the Allocator.
func (b *Buffer) Sent() []byte {
	if b.kind != nil && b.kind.away {
		b.kind.lent = true
	}
	return b.bytes
}

// Resize changes the number of bytes. It keeps what fits, and new bytes are zero. The
// caller has the resource for itself. Slices of the old bytes keep their contents, except
// in a store.
func (b *Buffer) Resize(size int) error {
	if s := b.Store(); s != nil {
		if err := s.Resize(size); err != nil {
			return err
		}
		b.bytes = s.Bytes()
	} else {
		old := b.bytes
		b.bytes = b.make(size)
		copy(b.bytes, old)
		b.free(old)
	}
	b.size.Store(int64(size))
	return nil
}

// make returns zeroed memory, aligned for a view of any type, and in large pages if it is large.
func (b *Buffer) make(size int) []byte {
	if a := b.memory(size); a != nil {
		return a.Make(size)
	}
	words := make([]uint64, WordsFor(size))
	hugepage.Advise(words)
	return BytesOf(words)[:size]
}

// WordsFor is how many words have room for so many bytes.
func WordsFor(size int) int { return (size + 7) / 8 }

// BytesOf are words as bytes.
func BytesOf(words []uint64) []byte {
	if len(words) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), 8*len(words))
}

// free gives memory back that make has given.
func (b *Buffer) free(old []byte) {
	if a := b.memory(len(old)); a != nil && !b.kind.away {
		a.Free(old)
	}
	if b.kind != nil {
		b.kind.away = false
	}
}

// Lend notes that a transport may read the bytes for as long as it likes.
func (b *Buffer) Lend() { b.special().lent = true }

// Own makes the bytes safe to change.
func (b *Buffer) Own() {
	if b.kind != nil && b.kind.lent {
		b.replace()
	}
}

func (b *Buffer) replace() {
	b.kind.lent, b.kind.away = false, false
	if b.Store() != nil {
		return // a transport copies them
	}
	// The old memory does not go back to an Allocator: nothing says when it may be used
	// again.
	old := b.bytes
	b.bytes = b.make(len(old))
	copy(b.bytes, old)
}

// take makes what a message brings the bytes. The contents are checked.
func (b *Buffer) take(m *Message) error {
	if b.swap(m) {
		return nil
	}
	b.Own()
	if len(b.bytes) != m.Size {
		if err := b.Resize(m.Size); err != nil {
			return err
		}
	}
	copy(b.bytes, m.Bytes)
	return nil
}

// swap exchanges the memory of a message with the buffer's, if the message allows it.
func (b *Buffer) swap(m *Message) bool {
	aligned := uintptr(unsafe.Pointer(unsafe.SliceData(m.Bytes)))%8 == 0
	if !m.Swap || len(m.Bytes) != len(b.bytes) || b.Store() != nil || !aligned {
		return false
	}
	invariant.Sometimes(true, "memory is swapped")
	b.bytes, m.Bytes = m.Bytes, b.bytes
	if b.kind != nil && (b.kind.lent || b.kind.away) { // others may still read that memory, or it is not the Allocator's
		invariant.Sometimes(b.kind.lent, "memory that is lent is swapped")
		b.kind.lent, b.kind.away, m.Bytes = false, false, nil
	}
	return true
}
