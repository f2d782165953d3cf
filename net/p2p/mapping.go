package p2p

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"

	"github.com/orwl/go-orwl/net/wire"
)

// offer is how the arena of another node is found.
type offer struct {
	boot    string // of the machine that it is on
	pid, fd uint64 // who has it open, and as what
	token   []byte // that it begins with
}

// Why an arena cannot be mapped.
var (
	errElsewhere = errors.New("the node is on another machine")
	errNoArena   = errors.New("there is no such arena")
)

// mapping is the arena of another node, as this one sees it, and that node's process.
// This node only reads it.
type mapping struct {
	head  int
	word  *atomic.Uint32 // what the other node says of this one
	fence atomic.Uint32
	check func() bool // valid

	mu      sync.RWMutex
	bytes   []byte // nil when it is unmapped
	process peerProcess
}

// newMapping is what is mapped of a process, for node me.
func newMapping(bytes []byte, of peerProcess, nodes, me int) *mapping {
	m := &mapping{bytes: bytes, process: of, head: headSize(nodes, os.Getpagesize()), word: word(bytes, me)}
	m.check = m.valid
	return m
}

// valid reports whether all that was read from the mapping until now, of what is lent
// to this node, is what its owner has lent: the owner says that it has given this node
// up before it lets anybody change anything. It is asked while the mapping is borrowed
// from.
func (m *mapping) valid() bool {
	m.fence.Add(1) // the loads before are done before the one behind
	return m.word.Load()&givenUp == 0
}

// keeps reports whether the other node has neither given this one up nor given it
// notice.
func (m *mapping) keeps() bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.bytes != nil && m.word.Load() == 0
}

// condition is that of the other node's process.
func (m *mapping) condition() condition {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if m.bytes == nil {
		return stopped // it is over, and nobody knows
	}
	return m.process.condition()
}

// borrow is what a loan names, until giveBack.
func (m *mapping) borrow(f *wire.Loan, most int) ([]byte, error) {
	if f.Length > most {
		return nil, fmt.Errorf("%w: %d bytes are lent, at most %d are allowed", wire.ErrTooLarge, f.Length, most)
	}
	m.mu.RLock()
	size, length := uint64(len(m.bytes)), uint64(f.Length)
	if f.Offset < uint64(m.head) || f.Offset > size || length > size-f.Offset {
		m.mu.RUnlock()
		return nil, protocolError("%d bytes are lent from %d on, of an arena of %d", f.Length, f.Offset, size)
	}
	return m.bytes[f.Offset : f.Offset+length : f.Offset+length], nil
}

func (m *mapping) giveBack() { m.mu.RUnlock() }

// close unmaps it, when nobody borrows.
func (m *mapping) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.bytes != nil {
		m.process.close()
		unmap(m.bytes)
		m.bytes = nil
	}
}
