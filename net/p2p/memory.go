package p2p

import (
	"sync"
	"sync/atomic"
	"unsafe"
)

// Memory hands out memory of a node that the other nodes of its machine can read where
// it is: what is sent from there, by [Node.Send] with keep set, is not even copied on
// its way. There is no need for it: bytes that lie elsewhere are copied once.
//
// Its memory stays where it is while the Node, or the Memory, can be reached. Its
// methods may be called by any goroutine.
type Memory struct {
	open  func() *arena
	once  sync.Once
	arena atomic.Pointer[arena] // nil until it is needed, and if there is none
}

// worthwhile is the size of memory that is worth its own pages.
const worthwhile = 64 << 10

// Memory is that of the node.
func (n *Node) Memory() *Memory { return &n.memory }

// Make is zeroed memory for any type, of size bytes. If it is not worth it, or cannot
// be had, it is ordinary memory.
func (m *Memory) Make(size int) []byte {
	if size >= worthwhile {
		if a := m.shared(); a != nil {
			if b := a.make(size); b != nil {
				return b
			}
		}
	}
	words := make([]uint64, (size+7)/8)
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), size)
}

// Free takes back what Make gave, whole and once. Nobody may use it afterwards, but
// for those to whom it is being sent.
func (m *Memory) Free(b []byte) {
	if a := m.arena.Load(); a != nil && len(b) > 0 {
		a.forget(b)
	}
}

// shared is the arena, nil if there is none.
func (m *Memory) shared() *arena {
	m.once.Do(func() { m.arena.Store(m.open()) })
	return m.arena.Load()
}

// openArena makes the arena of the node, unless it is to share nothing.
func (n *Node) openArena() *arena {
	if n.options.Remote {
		return nil
	}
	a, err := newArena(n.options.Nodes, arenaSize)
	if err != nil {
		n.log.Debug("no memory to share with nodes of this machine", "why", err)
		return nil
	}
	if n.ctx.Err() != nil { // it is closed, and nobody is to map it
		a.close()
	}
	return a
}
