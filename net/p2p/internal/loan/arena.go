package loan

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/orwl/go-orwl/net/internal/extents"
)

// Arena is memory of this node that the other nodes of its machine map too, to read.
// It is a file that has no name and takes no space until it is touched:
//
//	┌──────────────────────────┬─────────┬──────┬─────────┬──────┬─ ─ ─
//	│ token │ line of each node│ block   │ free │ block   │ free │
//	└──────────────────────────┴─────────┴──────┴─────────┴──────┴─ ─ ─
//	 head, whole pages           whole pages each
//
// A block belongs to its maker until it is forgotten. A copy of bytes that lie elsewhere is
// a block that was forgotten as soon as it was made. Other nodes still read what is lent.
// So a block is used again when it is forgotten and all loans of it are settled: then no
// node reads it. A loan is settled when its borrower has said that it has taken it. A loan
// to a node that was given up is never settled, because that node may still read it.
//
// The owner of a block may change it when it is told that the borrower is lost. So the arena
// first says in its head that it has given that node up. A
// borrower looks there when it has made its copy. The same word gives notice to a node
// that is about to be lost: see lease.Tenure.
type Arena struct {
	arenaFile
	head int // bytes
	page int

	mu     sync.Mutex
	free   extents.Extents // pages
	blocks []*Block        // in use, by place
	spare  [spareSizes][]*Block
	kept   int // bytes of spare
}

// Block is some pages of the arena.
type Block struct {
	at, pages int
	copied    bool // it was made for a loan
	forgotten bool
	loans     int // the loans that are not settled
}

const (
	// Size is the size of the file: of addresses, not of memory.
	Size   = min(64<<30, maxInt/4)
	maxInt = int(^uint(0) >> 1)

	// spareSizes is how many sizes copies have, in pages: powers of two.
	spareSizes = 20
	// mostSpare is how many bytes are kept for copies to come.
	mostSpare = 32 << 20

	tokenSize = 16
	// headFixed is the size of the first part of the head. Then each node has a part of headEach bytes: a line of
	// the cache, since two processes use it.
	headFixed = 64
	headEach  = 64
	// At attentionAt the head says whether its node looks at its rings. At readAt of a node's part it says how far the ring
	// of that node is read.
	attentionAt = 32
	readAt      = 8
)

// The bits of a node's word in the head.
const (
	givenUp     uint32 = 1 << iota // the owner has given it up, and may change what is lent to it
	underNotice                    // it is about to be lost: see lease.Tenure
)

// headSize is the size of the head of an arena, in a run of so many nodes.
func headSize(nodes, page int) int { return (headFixed + headEach*nodes + page - 1) / page * page }

// books begins the books of an arena whose file is mapped.
func (a *Arena) books(nodes, page int) {
	a.head, a.page = headSize(nodes, page), page
	first := a.head / page
	a.free = extents.Extents{{At: first, N: len(a.bytes)/page - first}}
}

// word is a node's word in the head of an arena.
func word(bytes []byte, node int) *atomic.Uint32 {
	return (*atomic.Uint32)(unsafe.Pointer(&bytes[headFixed+headEach*node]))
}

// readOf is how far the owner of an arena has read the ring of a node, and attentionOf whether it looks.
func readOf(bytes []byte, node int) *atomic.Uint64 {
	return (*atomic.Uint64)(unsafe.Pointer(&bytes[headFixed+headEach*node+readAt]))
}

func attentionOf(bytes []byte) *atomic.Uint32 {
	return (*atomic.Uint32)(unsafe.Pointer(&bytes[attentionAt]))
}

// GiveUp says that what is lent to a node may change from now on.
func (a *Arena) GiveUp(node int) { word(a.bytes, node).Or(givenUp) }

// Notify gives a node notice, or withdraws it.
func (a *Arena) Notify(node int, notice bool) {
	if notice {
		word(a.bytes, node).Or(underNotice)
	} else {
		word(a.bytes, node).And(^underNotice)
	}
}

// Make is zeroed memory of a size, nil if there is none.
func (a *Arena) Make(size int) []byte {
	a.mu.Lock()
	defer a.mu.Unlock()
	b := a.take((size + a.page - 1) / a.page)
	if b == nil {
		return nil
	}
	return a.memory(b)[:size:size]
}

// take makes a block of zeroed pages, nil if there are not so many. a.mu is held.
func (a *Arena) take(pages int) *Block {
	at, ok := a.free.Take(max(1, pages))
	if !ok {
		return nil
	}
	b := &Block{at: at, pages: max(1, pages)}
	i, _ := a.search(at)
	a.blocks = slices.Insert(a.blocks, i, b)
	a.reached(int64(at+b.pages) * int64(a.page))
	return b
}

// search is where among the blocks one that begins at a page is, or would be.
func (a *Arena) search(at int) (int, bool) {
	return slices.BinarySearchFunc(a.blocks, at, func(b *Block, at int) int { return cmp.Compare(b.at, at) })
}

func (a *Arena) memory(b *Block) []byte { return a.bytes[b.at*a.page : (b.at+b.pages)*a.page] }

// offset is where in the arena memory begins, if it does.
func (a *Arena) offset(b []byte) (int, bool) {
	at := uintptr(unsafe.Pointer(unsafe.SliceData(b))) - uintptr(unsafe.Pointer(unsafe.SliceData(a.bytes)))
	return int(at), at < uintptr(len(a.bytes)) // huge if it is before
}

// Forget takes back what make gave. Other memory it leaves alone.
func (a *Arena) Forget(memory []byte) {
	at, inside := a.offset(memory)
	if !inside {
		return
	}
	a.mu.Lock()
	i, found := a.search(at / a.page)
	if !found || at%a.page != 0 || a.blocks[i].forgotten {
		a.mu.Unlock()
		panic(fmt.Sprintf("p2p: %d bytes are forgotten that Memory.Make has not given, or twice", len(memory)))
	}
	b := a.blocks[i]
	b.forgotten = true
	a.retire(b)
}

// Lend makes a loan of bytes, where they are if they lie in a block, or else of a copy
// of them; nil if there is no memory for that.
func (a *Arena) Lend(bulk []byte, still bool) (b *Block, offset int) {
	at, inside := a.offset(bulk)
	if inside && still {
		a.mu.Lock()
		defer a.mu.Unlock()
		i, found := a.search(at / a.page)
		if !found {
			i--
		}
		if i >= 0 {
			b = a.blocks[i]
		}
		if b == nil || b.forgotten || at+len(bulk) > (b.at+b.pages)*a.page {
			panic(fmt.Sprintf("p2p: %d bytes are sent that were forgotten", len(bulk)))
		}
		b.loans++
		return b, at
	}
	a.mu.Lock()
	b = a.forCopy(len(bulk))
	a.mu.Unlock()
	if b == nil {
		return nil, 0
	}
	copy(a.memory(b), bulk)
	return b, b.at * a.page
}

// forCopy is a block for a copy of so many bytes, with one loan.
func (a *Arena) forCopy(size int) *Block {
	class := bits.Len(uint((size - 1) / a.page))
	if class >= spareSizes {
		return nil
	}
	var b *Block
	if last := len(a.spare[class]) - 1; last >= 0 {
		b = a.spare[class][last]
		a.spare[class] = a.spare[class][:last]
		a.kept -= b.pages * a.page
	} else if b = a.take(1 << class); b == nil {
		return nil
	}
	b.copied, b.forgotten, b.loans = true, true, 1
	return b
}

// Settle ends a loan.
func (a *Arena) Settle(b *Block) {
	a.mu.Lock()
	b.loans--
	a.retire(b)
}

// retire lets go of a.mu, and of a block if it is not needed any more.
func (a *Arena) retire(b *Block) {
	if !b.forgotten || b.loans > 0 {
		a.mu.Unlock()
		return
	}
	if size := b.pages * a.page; b.copied && a.kept+size <= mostSpare {
		class := bits.Len(uint(b.pages - 1))
		a.spare[class] = append(a.spare[class], b)
		a.kept += size
		a.mu.Unlock()
		return
	}
	i, _ := a.search(b.at)
	a.blocks = slices.Delete(a.blocks, i, i+1)
	a.mu.Unlock()
	a.punch(a.memory(b))
	a.mu.Lock()
	a.free.Give(b.at, b.pages)
	a.mu.Unlock()
}

// NewArena makes the arena of a node, in a run of so many nodes.
func NewArena(nodes int) (*Arena, error) { return newArena(nodes, Size) }

// Condition is what the kernel knows of a process.
type Condition uint8

// The conditions. A process that waits runs, whatever it waits for.
const (
	Runs    Condition = iota
	Stopped           // by a signal or a debugger; or the kernel does not say
	Ended
)
