package loan

import (
	"sync"
	"sync/atomic"
	"unsafe"
)

// Memory hands out memory of a node that the other nodes of its machine can read where
// it is: what is sent from there, by the node that it belongs to, is not even copied on
// its way. There is no need for it: bytes that lie elsewhere are copied once.
//
// Its memory stays where it is while the node, or the Memory, can be reached. Its
// methods may be called by any goroutine.
type Memory struct {
	open  func() *Arena
	once  sync.Once
	arena atomic.Pointer[Arena] // nil until it is needed, and if there is none
}

// NewMemory is memory of an arena that open makes when it is first needed. Open
// returns nil if there can be none.
func NewMemory(open func() *Arena) *Memory { return &Memory{open: open} }

// Arena is the arena, if it was needed already, or nil.
func (m *Memory) Arena() *Arena { return m.arena.Load() }

// Worthwhile is the size of memory that is worth its own pages.
const Worthwhile = 64 << 10

// Make is zeroed memory for any type, of size bytes. If it is not worth it, or cannot
// be had, it is ordinary memory.
func (m *Memory) Make(size int) []byte {
	if size >= Worthwhile {
		if a := m.Shared(); a != nil {
			if b := a.Make(size); b != nil {
				return b
			}
		}
	}
	words := make([]uint64, (size+7)/8)
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), size)
}

// Free takes back what Make gave, whole and once. Only the nodes that it is being sent to
// may use it afterwards.
func (m *Memory) Free(b []byte) {
	if a := m.arena.Load(); a != nil && len(b) > 0 {
		a.Forget(b)
	}
}

// Shared is the arena, nil if there is none.
func (m *Memory) Shared() *Arena {
	m.once.Do(func() { m.arena.Store(m.open()) })
	return m.arena.Load()
}
