package budget

import (
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
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

// Region is addresses for volumes, one beside the other. An address takes no memory before its first
// use.
type Region struct {
	budget *Budget
	pages  []byte // nil where volumes lie in Go's heap
	most   int    // bytes of a volume
	count  int64
	made   atomic.Int64 // volumes
}

// Reserve reserves addresses for count volumes that may grow to most bytes each. The system may refuse
// very many addresses: then volumes may grow less, as Most tells, but to at least the limit divided by
// count.
func (b *Budget) Reserve(count, most int) (*Region, error) {
	r := &Region{budget: b, most: pageUp(most), count: int64(count)}
	least := pageUp(max(1, min(most, b.limit/count)))
	if !outside {
		return r, nil
	}
	for {
		pages, err := reserve(count * r.most)
		if err == nil {
			r.pages = pages
			// A volume keeps its region, and who uses a volume's bytes keeps the volume.
			runtime.AddCleanup(r, release, pages)
			return r, nil
		}
		if r.most == least {
			return nil, fmt.Errorf("budget: no addresses for %d volumes of %d bytes: %w: see vm.overcommit_memory and ulimit -v", count, least, err)
		}
		r.most = max(least, pageUp(r.most/2))
	}
}

// Most is how many bytes a volume of the region may have.
func (r *Region) Most() int { return r.most }

// Volume makes the next volume, of so many zeroed bytes.
func (r *Region) Volume(size int) (*Volume, error) {
	n := r.made.Add(1) - 1
	if n >= r.count {
		return nil, fmt.Errorf("budget: all %d volumes of the region are made", r.count)
	}
	v := &Volume{region: r}
	if r.pages != nil {
		from := int(n) * r.most
		v.pages = r.pages[from : from+r.most : from+r.most]
	}
	return v, v.Resize(size)
}

// Volume is memory that grows and shrinks where it is. It is a resource.Store.
type Volume struct {
	region  *Region
	pages   []byte // all its addresses, nil in Go's heap
	bytes   []byte
	counted int // bytes of the budget
}

// Bytes are all bytes. The addresses behind an earlier slice stay valid.
func (v *Volume) Bytes() []byte { return v.bytes }

// errTooLarge is a volume that has no addresses left.
var errTooLarge = errors.New("budget: volume is as large as its region allows")

// Resize makes the volume grow, with zeroed bytes, or shrink. If there is no room it is ErrNoRoom, and
// nothing has changed.
func (v *Volume) Resize(size int) error {
	if size > v.region.most {
		return errTooLarge
	}
	b, whole := v.region.budget, pageUp(size)
	if more := whole - v.counted; more > 0 {
		b.mu.Lock()
		dropped, ok := b.fits(more, true)
		if ok {
			b.keys += more
		}
		b.mu.Unlock()
		releaseAll(dropped)
		if !ok {
			return ErrNoRoom
		}
	}
	v.set(size, whole)
	if less := v.counted - whole; less > 0 {
		b.mu.Lock()
		b.keys -= less
		b.tell()
		b.mu.Unlock()
	}
	v.counted = whole
	b.settle()
	return nil
}

// set changes the bytes. Bytes behind the end are always zero.
func (v *Volume) set(size, whole int) {
	if v.pages == nil {
		old := v.bytes
		v.bytes = make([]byte, size)
		copy(v.bytes, old)
		return
	}
	if size < len(v.bytes) {
		clear(v.pages[size:min(whole, len(v.bytes))])
	}
	if whole < v.counted {
		discard(v.pages[whole:v.counted])
	}
	v.bytes = v.pages[:size:size]
	large(v.pages, v.counted, whole)
}

// pageUp is n rounded up to whole pages.
func pageUp(n int) int {
	page := os.Getpagesize()
	return (n + page - 1) / page * page
}
