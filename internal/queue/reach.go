package queue

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/orwl/go-orwl/internal/queue/coherence"
	"github.com/orwl/go-orwl/net/rma"
)

// Relaxed access from every node of a run. The guard is then a lock of a fabric over the
// nodes, and the home keeps the bytes in memory that the other nodes read and write by
// their windows:
//
//	home     FIFO ─ enter ─▶ ┌───────┐        ┌────────┬───────┐
//	home     relaxed ──────▶ │ guard │        │ header │ bytes │  attached at the home
//	others   relaxed ──────▶ └───────┘        └────────┴───────┘
//	            └──── GetBytes, PutBytes ─────────▲
//
// The header goes before the bytes, so that one Get brings both. It is the ledger as the
// other nodes see it. The guard protects it as it protects the bytes:
//
//	the FIFO, or a relaxed writer at the home, lets go    the ledger is written to the header
//	the FIFO, or a relaxed access at the home, comes in   the header is read to the ledger,
//	                                                      if a writer elsewhere has ended
//	a relaxed access elsewhere comes in                   it gets header and bytes
//	a relaxed writer elsewhere lets go                    it puts header and bytes, and flushes
//
// So a mirror gets new bytes with its next grant: their version is another one.
//
// # Cost
//
// A read at another node, while no writer has the guard, is one Get. With RMA-RW and one
// counter a node the lock costs it no message. A write is the lock's writer, one Get, one
// Put and one Flush. The FIFO keeps the guard while no relaxed access wants it. So the first relaxed
// access after ordered ones asks the home to give it up, by one message more.
//
// The bytes have no fault pages, and messages to mirrors copy them.

// Reach is what a guard needs so that relaxed access works from every node.
type Reach struct {
	// Window is of a rank of this node that serves this guard only, and not its lock. At the
	// home it is the one of rank Home.
	Window rma.Window
	// Home is the rank whose memory has the bytes.
	Home rma.Rank
	// Root is a word in Home's symmetric memory. It says where the bytes are.
	Root rma.Disp
	// Aside calls f in a goroutine of its own. Needed at the home, where messages of other
	// nodes make steps of the guard. Those must not wait for the lock, which may need
	// other messages.
	Aside func(f func())
	// Ask tells the home that one relaxed access more, or less, waits on this node: see
	// [Resource.RelaxedWaits]. Needed on the other nodes.
	Ask func(waits bool)
}

// The words of the header.
const (
	headVersion = iota
	headFence
	headState // a Prior, or one of the following
	headSize  // of the bytes, in bytes
	headRoom  // for bytes, in bytes
	headEnds  // counts the writers elsewhere that have ended
	headMoved // where header and bytes are now, or 0
	headSpare // so that the bytes begin with a cache line
	headWords
)

const (
	stateEnded   = uint64(coherence.PriorPoisoned) + 1 + iota // the resource is broken
	stateAborted                                              // by its policy
)

// ErrNoRoom is the growth of a resource beyond the largest size that it has had, by a relaxed
// writer on another node than the home.
var ErrNoRoom = errors.New("resource cannot grow so by a relaxed writer on another node than its home: resize it at the home, or by a place")

// RelaxedWaits tells the home that one relaxed access more, or less, waits on another
// node, as [Reach.Ask] says there. It never waits.
func (r *Resource) RelaxedWaits(waits bool) {
	g := r.guard.Load()
	switch {
	case g == nil || g.published == nil:
	case waits:
		r.add(&g.word, oneRelaxed)
		g.revoke()
	default:
		r.add(&g.word, ^uint64(oneRelaxed-1))
	}
}

// reachable makes the guard one of all nodes. There is no request yet.
func (g *guard) reachable() error {
	r, reach := g.r, g.locks.Reach
	if g.locks.Ordered == nil {
		g.word.Store(unowned)
		g.armed.Store(true)
		g.remote = &relaxedRemote{r: r, reach: reach, words: headWords + coherence.WordsFor(r.initial)}
		return nil
	}
	if r.outstanding() {
		return fmt.Errorf("%w: %q: its relaxed access from other nodes begins before the first request", ErrUsed, r.name)
	}
	p, err := r.publish(reach)
	if err != nil {
		return err
	}
	g.published = p
	g.word.Store(unowned) // other nodes do not see that the FIFO owns it
	g.armed.Store(true)
	r.completed.Or(guarded)
	r.requested.Or(guarded)
	return nil
}

// leaveOrdered releases the lock that the FIFO owns in a mode.
func (g *guard) leaveOrdered(mode uint64) {
	switch mode {
	case reading:
		g.published.end(g.r, Read)
		g.locks.Ordered.ReleaseRead()
	case writing:
		g.published.end(g.r, Write)
		g.locks.Ordered.Release()
	}
}

// tellEnd has the other nodes learn that the resource is broken. It does nothing while the
// word is busy, or the FIFO owns the lock: then the end of that does it.
func (g *guard) tellEnd() {
	r, p := g.r, g.published
	if p == nil || p.ended.Load() || r.load(&r.completed)&broken == 0 {
		return
	}
	v := g.load()
	if v&busy != 0 || v&modeMask != unowned || !p.telling.CompareAndSwap(false, true) {
		return
	}
	p.reach.Aside(func() {
		in, err := g.admit(context.Background(), v, Write)
		switch {
		case !in && err == nil:
			p.telling.Store(false) // another caller has the lock
		case in && g.leave():
			g.decide(0)
		case in:
			g.revoke()
		}
	})
}

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
	region, err := p.window.Attach(headWords + coherence.WordsFor(room))
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
func (p *published) Bytes() []byte {
	return coherence.BytesOf(p.words[headWords : headWords+coherence.WordsFor(p.size)])[:p.size]
}

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
	l.Copy(coherence.Stamp{
		Version: h[headVersion], Fence: fence, Prior: coherence.Prior(min(h[headState], uint64(coherence.PriorPoisoned))),
	})
	return false
}
