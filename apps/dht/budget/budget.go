package budget

import (
	"errors"
	"math"
	"runtime/debug"
	"sync"
)

// ErrNoRoom is what a volume gets that would grow beyond the limit.
var ErrNoRoom = errors.New("budget: no room below the limit")

// Beside is how many bytes the process may have beside the limit, for the program itself: its code, Go's
// runtime, the network between nodes.
const Beside = 64 << 20

// Between is how many bytes more a process may have that is one of several nodes: messages to and from the others,
// which lie in Go's heap and in memory that nodes of one machine share.
const Between = 128 << 20

// ofCode is the share of Beside that Go's runtime does not count: the pages of the program's file.
const ofCode = 24 << 20

// The shares of the limit.
const (
	spareShare  = 8  // volumes leave one of so many bytes to clients
	idleShare   = 16 // idle buffers are at most one of so many bytes
	settleShare = 32 // Go's limit follows by steps of one of so many bytes
)

// Budget is memory that has a limit.
type Budget struct {
	limit int

	mu      sync.Mutex
	keys    int              // bytes of volumes
	taken   int              // bytes of buffers that have an owner
	held    int              // bytes of Go's heap that owners have told of, each counted twice
	idle    int              // bytes of buffers without an owner
	rested  int              // the least that idle was since the last Rest
	buffers map[*byte]int    // sizes of buffers that have an owner
	free    map[int][][]byte // idle buffers by size
	settled int              // the room that Go's limit was last set by
	ofUser  int64            // Go's limit as GOMEMLIMIT set it, 0: Go's limit does not follow
	freed   chan struct{}    // closed when clients give something back; nil: no client waits
}

// New makes a budget of so many bytes.
func New(limit int) *Budget {
	return &Budget{limit: limit, buffers: make(map[*byte]int), free: make(map[int][][]byte)}
}

// Usage is what a budget has given away, in bytes.
type Usage struct {
	Limit int
	Keys  int // of volumes
	Taken int // of buffers that have an owner, and of what is held
	Idle  int // of buffers that have none
}

// Usage tells what is given away now. It is zero for a nil budget.
func (b *Budget) Usage() Usage {
	if b == nil {
		return Usage{}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return Usage{b.limit, b.keys, b.taken + b.held, b.idle}
}

// Govern sets the memory limit of Go's runtime now, and whenever volumes and buffers leave another
// room. A limit that GOMEMLIMIT sets remains if it is lower.
func (b *Budget) Govern() {
	b.mu.Lock()
	b.ofUser, b.settled = debug.SetMemoryLimit(-1), math.MinInt
	b.mu.Unlock()
	b.settle()
}

// settle sets the limit of Go's runtime, if the room for its heap has changed much.
func (b *Budget) settle() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ofUser == 0 {
		return
	}
	room := b.limit
	if outside {
		room -= b.keys + b.taken + b.idle
	}
	if far := room - b.settled; b.settled != math.MinInt && max(far, -far) < b.limit/settleShare {
		return
	}
	b.settled = room
	debug.SetMemoryLimit(min(b.ofUser, int64(room+Beside-ofCode)))
}

// fits makes room for n more bytes of clients, or of volumes, and reports whether there is any. Idle
// buffers that are in the way are dropped: the caller releases them when it has left the mutex.
func (b *Budget) fits(n int, volumes bool) (dropped [][]byte, ok bool) {
	clients := b.taken + b.held
	if volumes {
		clients = max(clients, b.limit/spareShare)
	}
	if n > b.limit-b.keys-clients {
		return nil, false
	}
	// The rest of the room may stay idle.
	return b.drop(b.limit - b.keys - b.taken - b.held - n), true
}

// drop drops idle buffers until at most keep bytes are idle.
func (b *Budget) drop(keep int) (dropped [][]byte) {
	for size, buffers := range b.free {
		for b.idle > keep && len(buffers) > 0 {
			last := len(buffers) - 1
			dropped = append(dropped, buffers[last])
			buffers[last] = nil
			buffers = buffers[:last]
			b.idle -= size
		}
		b.free[size] = buffers
	}
	b.rested = min(b.rested, b.idle)
	return dropped
}

func releaseAll(buffers [][]byte) {
	for _, buffer := range buffers {
		release(buffer)
	}
}

// Hold tells of n bytes of Go's heap, and reports whether there is room for them. Drop takes them back.
func (b *Budget) Hold(n int) bool {
	if b == nil {
		return true
	}
	b.mu.Lock()
	dropped, ok := b.fits(2*n, false)
	if ok {
		b.held += 2 * n
	}
	b.mu.Unlock()
	releaseAll(dropped)
	return ok
}

// Owe is Hold of what is there already: it counts even beyond the limit.
func (b *Budget) Owe(n int) {
	if b == nil {
		return
	}
	b.mu.Lock()
	b.held += 2 * n
	dropped := b.drop(max(0, b.limit-b.keys-b.taken-b.held))
	b.mu.Unlock()
	releaseAll(dropped)
}

// Drop takes back n bytes of Hold or Owe.
func (b *Budget) Drop(n int) {
	if b == nil {
		return
	}
	b.mu.Lock()
	b.held -= 2 * n
	b.tell()
	b.mu.Unlock()
}

// Freed returns a channel that is closed when something is given back.
func (b *Budget) Freed() <-chan struct{} {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.freed == nil {
		b.freed = make(chan struct{})
	}
	return b.freed
}

// tell wakes the clients that wait for room.
func (b *Budget) tell() {
	if b.freed != nil {
		close(b.freed)
		b.freed = nil
	}
}

// Calm reports whether clients take less than half of what volumes leave them. Then they may keep
// their buffers while they wait.
func (b *Budget) Calm() bool {
	if b == nil {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.taken+b.held < b.limit/spareShare/2
}
