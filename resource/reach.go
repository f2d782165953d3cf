package resource

import (
	"context"
	"errors"
	"fmt"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/resource/internal/coherence"
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
		g.add(oneRelaxed)
		g.revoke()
	default:
		g.add(^uint64(oneRelaxed - 1))
	}
}

// reachable makes the guard one of all nodes. There is no request yet.
func (g *guard) reachable() error {
	r, reach := g.r, g.locks.Reach
	if g.locks.Ordered == nil {
		g.word.Store(unowned)
		g.armed.Store(true)
		g.remote = &relaxedRemote{r: r, reach: reach, words: headWords + r.initial/8}
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
