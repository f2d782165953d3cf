package loan

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"

	"github.com/orwl/go-orwl/net/wire"
)

// Offer is how the arena of another node is found.
type Offer struct {
	PID, FD uint64 // the process that has it open, and its number there
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
	head  int
	word  *atomic.Uint32 // the other node's word about this one
	fence atomic.Uint32
	// Check is Valid, as a value that is made once.
	Check func() bool

	mu      sync.RWMutex
	bytes   []byte // nil when it is unmapped
	process peerProcess
}

// newMapping is what is mapped of a process, for node me.
func newMapping(bytes []byte, of peerProcess, nodes, me int) *Mapping {
	m := &Mapping{bytes: bytes, process: of, head: headSize(nodes, os.Getpagesize()), word: word(bytes, me)}
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
		unmap(m.bytes)
		m.bytes = nil
	}
}
