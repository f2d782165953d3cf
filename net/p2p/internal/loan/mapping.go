package loan

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/orwl/go-orwl/net/wire"
)

// Offer is how the arena of another node is found.
type Offer struct {
	PID, FD uint64 // the process that has it open, and its number there
	Bell    uint64 // a pipe of the process: a byte in it wakes the process; 0 if there is none
	Token   []byte // the bytes that the arena begins with
}

// Why an arena cannot be mapped, or borrowed from.
var (
	// ErrOutside is a loan that does not lie in the arena.
	ErrOutside = errors.New("the loan lies outside the arena")
	errNoArena = errors.New("there is no such arena")
)

// Mapping is the arena of another node, as this one sees it, and that node's process.
// This node only reads it.
type Mapping struct {
	head      int
	word      *atomic.Uint32 // the other node's word about this one
	read      *atomic.Uint64 // how far it has read the ring of this one
	attention *atomic.Uint32 // its word that says whether it looks at its rings
	bell      int            // a file, -1 if there is none
	fence     atomic.Uint32
	// Check is Valid, as a value that is made once.
	Check func() bool

	mu      sync.RWMutex
	bytes   []byte // nil when it is unmapped
	process peerProcess
}

// newMapping is what is mapped of a process, for node me.
func newMapping(bytes []byte, of peerProcess, bell, nodes, me int) *Mapping {
	m := &Mapping{
		bytes: bytes, process: of, bell: bell, head: headSize(nodes, os.Getpagesize()),
		word: word(bytes, me), read: readOf(bytes, me), attention: attentionOf(bytes),
	}
	m.Check = m.Valid
	return m
}

// Valid reports whether all that was read from the mapping until now, of what is lent
// to this node, is what its owner has lent: the owner says that it has given this node
// up before it lets its owner change anything. It is asked while the mapping is borrowed
// from.
func (m *Mapping) Valid() bool {
	m.fence.Add(1) // the loads before are done before the one behind
	return m.word.Load()&givenUp == 0
}

// Keeps reports whether the other node has neither given this one up nor given it
// notice.
func (m *Mapping) Keeps() bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.bytes != nil && m.word.Load() == 0
}

// Condition is the condition of the other node's process.
func (m *Mapping) Condition() Condition {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if m.bytes == nil {
		return Stopped // it is over, and its process is unknown
	}
	return m.process.Condition()
}

// Borrow is what a loan names, until giveBack.
func (m *Mapping) Borrow(offset uint64, length, most int) ([]byte, error) {
	if length > most {
		return nil, fmt.Errorf("%w: %d bytes are lent, at most %d are allowed", wire.ErrTooLarge, length, most)
	}
	m.mu.RLock()
	size, n := uint64(len(m.bytes)), uint64(length)
	if offset < uint64(m.head) || offset > size || n > size-offset {
		m.mu.RUnlock()
		return nil, fmt.Errorf("%w: %d bytes from %d on, of an arena of %d", ErrOutside, length, offset, size)
	}
	return m.bytes[offset : offset+n : offset+n], nil
}

// GiveBack ends the borrowing that Borrow has begun.
func (m *Mapping) GiveBack() { m.mu.RUnlock() }

// Close unmaps it, when no loan is being read.
func (m *Mapping) Close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.bytes != nil {
		m.process.Close()
		closeBell(m.bell)
		unmap(m.bytes)
		m.bytes = nil
	}
}

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

// Spares is memory that a stream's reader has for large bulk. A receiver may keep what
// bulk was read into, and give other memory of the same size for it: so a block is not
// copied once more between the stream and where it belongs. The streams of a node share
// blocks that are larger than BulkKept.
type Spares struct {
	own pile
	all *Hoard
}

// Hoard is a pile that the streams of a node share, of blocks that are larger than
// BulkKept. To touch as much new memory takes half as long as to read it.
type Hoard struct {
	mu   sync.Mutex
	pile pile // hoarded bytes at most
}

// hoarded is how many bytes a node keeps for bulk that is larger than BulkKept.
const hoarded = 128 << 20

// pile is memory that was used, so many bytes at most. The last that came is the last.
type pile struct {
	memory *Memory
	most   int
	kept   [][]byte
	bytes  int
}

// NewHoard is an empty one, of a memory.
func NewHoard(memory *Memory) *Hoard { return &Hoard{pile: pile{memory: memory, most: hoarded}} }

// BulkKept is the size of the largest bulk for which a stream keeps its own memory.
const BulkKept = 4 << 20

// NewSpares makes the spares of one stream, beside the hoard of its node.
func NewSpares(hoard *Hoard) Spares {
	return Spares{own: pile{memory: hoard.pile.memory, most: BulkKept}, all: hoard}
}

// Room is memory of just that size, as far as it can be had before any of the bulk has
// come: its size is only what the other node says, and memory of the arena costs
// nothing until it is touched. Else it is nil.
func (s *Spares) Room(size int) []byte {
	if b := s.take(size); b != nil {
		return b
	}
	if a := s.own.memory.Shared(); a != nil {
		return a.Make(size)
	}
	return nil
}

func (s *Spares) take(size int) []byte {
	if size <= BulkKept {
		return s.own.take(size)
	}
	s.all.mu.Lock()
	defer s.all.mu.Unlock()
	return s.all.pile.take(size)
}

// Put keeps memory for the next bulk of its size.
func (s *Spares) Put(b []byte) {
	switch {
	case len(b) < Worthwhile:
		s.own.memory.Free(b)
	case len(b) <= BulkKept:
		s.own.put(b)
	default:
		s.all.mu.Lock()
		s.all.pile.put(b)
		s.all.mu.Unlock()
	}
}

// End gives all that the stream has back.
func (s *Spares) End() { s.own.trim(0) }

// take is memory of just that size, nil if there is none.
func (p *pile) take(size int) []byte {
	for i := len(p.kept) - 1; i >= 0; i-- {
		if b := p.kept[i]; len(b) == size {
			p.kept = append(p.kept[:i], p.kept[i+1:]...)
			p.bytes -= size
			return b
		}
	}
	return nil
}

// put keeps memory, in the place of what was not used for longest.
func (p *pile) put(b []byte) {
	p.kept = append(p.kept, b)
	p.bytes += len(b)
	p.trim(p.most)
}

// trim gives memory back until there are so many bytes at most.
func (p *pile) trim(most int) {
	for p.bytes > most {
		p.bytes -= len(p.kept[0])
		p.memory.Free(p.kept[0])
		p.kept = append(p.kept[:0], p.kept[1:]...)
	}
}
