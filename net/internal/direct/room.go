package direct

import (
	"sync/atomic"

	"github.com/orwl/go-orwl/net/rma"
)

// Room is where one rank waits. It lies in memory that all ranks share, is
// valid when zeroed, and is written by its rank except for state.
type Room struct {
	// state says whether the rank may have to be woken:
	//
	//	awake ──rank──▶ waiting ──the rank, or whoever makes its condition true──▶ awake
	//
	// Whoever moves it from waiting to awake by CAS owes the rank one wake-up,
	// unless it is the rank itself.
	state atomic.Uint32
	_     uint32

	target atomic.Int64
	disp   atomic.Int64
	mask   atomic.Uint64
	value  atomic.Uint64
	rel    atomic.Uint32
	_      [16]byte // a room is a cache line of its own
}

const (
	awake uint32 = iota
	waiting
)

// expect writes down what the rank waits for. Readers may see a mixture of two
// expectations; the rank looks at its word again after it has announced the
// second, so that a wake-up missed because of the mixture does no harm. Most
// waits differ from the last one in nothing or in the value, and a store that
// other processors have to notice costs more than a look. It reports whether the
// rank was awake, as it is unless two goroutines use its window.
func (r *Room) expect(target rma.Rank, disp rma.Disp, until rma.Until) bool {
	if r.target.Load() != int64(target) {
		r.target.Store(int64(target))
	}
	if r.disp.Load() != int64(disp) {
		r.disp.Store(int64(disp))
	}
	if r.mask.Load() != until.Mask {
		r.mask.Store(until.Mask)
	}
	if r.value.Load() != until.Value {
		r.value.Store(until.Value)
	}
	if r.rel.Load() != uint32(until.Rel) {
		r.rel.Store(uint32(until.Rel))
	}
	return r.state.Swap(waiting) == awake
}

// wants reports whether the rank waits for a word and would go on if it held
// value.
func (r *Room) wants(target rma.Rank, disp rma.Disp, value uint64) bool {
	if r.state.Load() != waiting || r.disp.Load() != int64(disp) || r.target.Load() != int64(target) {
		return false
	}
	until := rma.Until{Mask: r.mask.Load(), Value: r.value.Load(), Rel: rma.Relation(r.rel.Load())}
	return until.Holds(value)
}

// Awaken moves the room from waiting to awake and reports whether the caller
// did it, and so owes the wake-up.
func (r *Room) Awaken() bool { return r.state.CompareAndSwap(waiting, awake) }

// State is the word to sleep on, for a Sleeper that uses the kernel.
func (r *Room) State() *atomic.Uint32 { return &r.state }

// Waiting reports whether the rank still sleeps or is about to.
func (r *Room) Waiting() bool { return r.state.Load() == waiting }
