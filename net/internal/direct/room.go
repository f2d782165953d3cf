package direct

import (
	"sync/atomic"

	"github.com/orwl/go-orwl/internal/invariant"
	"github.com/orwl/go-orwl/net/rma"
)

// Room is where one rank waits, and the one line of memory that others look at
// after they have changed a word of that rank. It lies in memory that all ranks
// share, is valid when zeroed, and is written by its rank except for state and
// Watch. That operations on a rank's words read the line in which the rank says
// that it waits costs them a miss after each of its waits; the other lines that
// a hand-over would touch instead cost it more.
type Room struct {
	// state says whether the rank may have to be woken:
	//
	//	awake ──rank──▶ waiting ──the rank, or whoever makes its condition true──▶ awake
	//
	// Whoever moves it from waiting to awake by CAS owes the rank one wake-up,
	// also if it is the rank itself.
	state atomic.Uint32

	rel         uint32
	target      int64
	disp        int64
	mask, value uint64

	// Watch says whether other ranks await a word of this one.
	Watch Watch

	_ [8]byte // a room is a cache line of its own
}

const (
	awake uint32 = iota
	waiting
)

// watchers is the number of counters in a Watch. There is no room for more: a
// word that has its counter in common with one that is awaited costs whoever
// changes it a look at the waiting list, and nothing else.
const watchers = 4

// Watch says, for the words of one segment by displacement modulo 4, how many ranks
// of the waiting list await them, and whether there may be guests.
type Watch [watchers]atomic.Uint32

func (w *Watch) of(disp rma.Disp) *atomic.Uint32 { return &w[disp&(watchers-1)] }

// expect writes down what the rank is going to wait for. Readers may see a
// mixture of two expectations; the rank looks at its word again after it has
// announced the second, so that a wake-up missed because of the mixture does no
// harm. Ordinary stores are enough, since the exchange of the state comes after
// them, but where the race detector looks.
func (r *Room) expect(target rma.Rank, disp rma.Disp, until rma.Until) {
	if invariant.Enabled {
		atomic.StoreInt64(&r.target, int64(target))
		atomic.StoreInt64(&r.disp, int64(disp))
		atomic.StoreUint64(&r.mask, until.Mask)
		atomic.StoreUint64(&r.value, until.Value)
		atomic.StoreUint32(&r.rel, uint32(until.Rel))
		return
	}
	r.target, r.disp, r.mask, r.value, r.rel = int64(target), int64(disp), until.Mask, until.Value, uint32(until.Rel)
}

// concerns reports whether a change of the word at disp of the room's own rank
// may concern somebody: the rank itself, or those that Watch counts.
func (r *Room) concerns(disp rma.Disp) bool {
	return r.state.Load() == waiting && atomic.LoadInt64(&r.disp) == int64(disp) || r.Watch.of(disp).Load() != 0
}

// wants reports whether the rank waits for a word and would go on if it held
// value.
func (r *Room) wants(target rma.Rank, disp rma.Disp, value uint64) bool {
	if r.state.Load() != waiting || atomic.LoadInt64(&r.disp) != int64(disp) || atomic.LoadInt64(&r.target) != int64(target) {
		return false
	}
	until := rma.Until{Mask: atomic.LoadUint64(&r.mask), Value: atomic.LoadUint64(&r.value), Rel: rma.Relation(atomic.LoadUint32(&r.rel))}
	return until.Holds(value)
}

// doze announces that the rank may have to be woken from now on. It exchanges, since
// the race detector makes of a store to memory that Go has not allocated one that
// later loads may overtake, and then a wake-up can be lost.
func (r *Room) doze() { r.state.Swap(waiting) }

// Awaken moves the room from waiting to awake and reports whether the caller
// did it, and so owes the wake-up.
func (r *Room) Awaken() bool { return r.state.CompareAndSwap(waiting, awake) }

// State is the word to sleep on, for a Sleeper that uses the kernel.
func (r *Room) State() *atomic.Uint32 { return &r.state }

// Waiting reports whether the rank still sleeps or is about to.
func (r *Room) Waiting() bool { return r.state.Load() == waiting }
