package loan

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/orwl/go-orwl/net/p2p/internal/ring"
)

// The ring of a node for another is a block of its arena. How far it is written stands before its bytes.
const ringHead = 64

// writtenOf is how far a ring is written.
func writtenOf(b []byte) *atomic.Uint64 { return (*atomic.Uint64)(unsafe.Pointer(&b[0])) }

// Ring makes the ring of this node for another one, and returns where in the arena it is; nil if there is no
// memory, or nothing would wake the other node. It stays for as long as the arena.
func (a *Arena) Ring(to *Mapping) (w *ring.Writer, offset int) {
	if to.bell < 0 {
		return nil, 0
	}
	b := a.Make(ringHead + ring.Size)
	if b == nil {
		return nil, 0
	}
	offset, _ = a.offset(b)
	return ring.NewWriter(b[ringHead:], writtenOf(b), to.read, to.attention), offset
}

// Attention is the word that says whether this node looks at the rings of others.
func (a *Arena) Attention() *atomic.Uint32 { return attentionOf(a.bytes) }

// Ring is the ring of the other node, of a number, for this one.
func (m *Mapping) Ring(a *Arena, number int, offset, at uint64) (*ring.Reader, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	size := uint64(len(m.bytes))
	if offset < uint64(m.head) || offset%ringHead != 0 || size < ringHead+ring.Size || offset > size-ringHead-ring.Size {
		return nil, fmt.Errorf("%w: a ring at %d, of an arena of %d", ErrOutside, offset, size)
	}
	b := m.bytes[offset : offset+ringHead+ring.Size]
	return ring.NewReader(b[ringHead:], writtenOf(b), readOf(a.bytes, number), at), nil
}
