package resource

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/resource/internal/coherence"
)

// published is the home's half of relaxed access from other nodes: header and bytes in
// memory that is attached to the window of the home's rank.
//
// Only a caller that has the guard, for reading or writing, calls load and end. Only one that
// has it for writing calls store and resize.
//
// A resource that outgrows its memory moves. The old memory stays attached, because
// another node may still know its address, and says in its header where the new memory
// is. Sizes at least double, so all of it together is less than the new memory.
type published struct {
	reach   *Reach
	ended   atomic.Bool // the header says that the resource is broken
	telling atomic.Bool // a goroutine is about to write that

	mu     sync.Mutex // guards the fields below, and is held by load, end and resize
	words  []uint64   // header and bytes
	size   int        // of the bytes
	ends   uint64     // headEnds when the ledger was last the same
	window rma.Window
}

// publish moves the bytes to memory that other nodes reach. There is no request yet.
func (r *Resource) publish(reach *Reach) (*published, error) {
	p := &published{reach: reach, window: reach.Window}
	if err := p.attach(len(r.buffer.Bytes())); err != nil {
		return nil, err
	}
	pages := r.pages()
	r.buffer.MoveTo(p)
	if pages != nil {
		if err := pages.Close(); err != nil {
			return nil, err
		}
	}
	p.store(r)
	return p, nil
}

// published is the home's half of relaxed access from other nodes, or nil.
func (r *Resource) published() *published {
	if g := r.guard.Load(); g != nil {
		return g.published
	}
	return nil
}

// attach attaches memory for size bytes, and tells the others.
func (p *published) attach(size int) error {
	room := size
	if p.words != nil {
		room = max(size, 2*int(p.words[headRoom]))
	}
	region, err := p.window.Attach(headWords + room/8)
	if err != nil {
		return fmt.Errorf("memory for relaxed access from other nodes: %w", err)
	}
	region.Words[headRoom] = uint64(room)
	if p.words != nil {
		region.Words[headEnds] = p.ends
		p.words[headMoved] = uint64(region.Base)
	}
	p.window.Put(p.reach.Home, p.reach.Root, uint64(region.Base))
	p.window.Flush(p.reach.Home)
	p.words, p.size = region.Words, size
	return nil
}

// Bytes are the resource's bytes: published is the store of its buffer.
func (p *published) Bytes() []byte { return coherence.BytesOf(p.words[headWords : headWords+p.size/8]) }

// Resize changes the number of bytes. It keeps the old ones as far as they fit.
func (p *published) Resize(size int) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	old := p.Bytes()
	if uint64(size) > p.words[headRoom] {
		if err := p.attach(size); err != nil {
			return err
		}
		copy(p.Bytes(), old)
		return nil
	}
	p.size = size
	if size > len(old) {
		clear(p.Bytes()[len(old):])
	}
	return nil
}

// end is called before the guard is let go that was held in a mode. A writer's ledger goes to
// the header. The mutex orders all that is done at the home also for the race detector, which
// does not see a lock whose words are in memory that processes share.
func (p *published) end(r *Resource, m Mode) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if m == Write {
		p.store(r)
	}
}

// store writes the ledger to the header.
func (p *published) store(r *Resource) {
	h, l := p.words, &r.ledger
	h[headVersion], h[headFence], h[headState], h[headSize] = l.Version(), l.Fence(), uint64(l.Prior()), uint64(p.size)
	if r.completed.Load()&broken != 0 {
		h[headState] = stateEnded
		if l.Aborted() {
			h[headState] = stateAborted
		}
		p.ended.Store(true)
	}
}

// load reads the header to the ledger, if a writer elsewhere has ended since. It breaks the
// resource if policy Abort says so.
func (p *published) load(r *Resource) {
	if p != nil && p.read(r) {
		r.Break(fmt.Errorf("%w by the failure of a relaxed writer on another node", ErrAborted))
	}
}

func (p *published) read(r *Resource) (aborts bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	h, l := p.words, &r.ledger
	if h[headEnds] == p.ends {
		return false
	}
	p.ends = h[headEnds]
	p.size = int(h[headSize])
	r.buffer.Reload()
	fence := max(l.Fence(), h[headFence])
	if h[headState] == stateAborted {
		l.Abort(fence)
		p.ended.Store(true)
		return true
	}
	// The note of changes has no such version.
	l.Copy(coherence.Stamp{
		Version: h[headVersion], Fence: fence, Prior: coherence.Prior(min(h[headState], uint64(coherence.PriorPoisoned))),
	})
	return false
}
