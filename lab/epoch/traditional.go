package epoch

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/orwl/go-orwl/net/rma"
)

// ErrNotExposed matches the error of Expose at every rank if one of them could not
// expose its memory.
var ErrNotExposed = errors.New("a rank could not expose its memory")

// Exposure makes traditional windows (foMPI, §2.2): each rank shows all others a
// slice that it owns. Allocated memory has one displacement for all ranks. Here
// every rank stores the displacement of every other rank: P entries on each of P
// ranks, which does not scale. Use it for memory that already exists. For new
// memory, Alloc and Attach are better.
//
// The entries travel with the signals of a fence, which makes the fence an
// allgather (Bruck et al. 1997). In round r a rank sends on the 2^r entries that it
// knows. So a rank sends ⌈log₂ P⌉ messages with P entries in total. Fences of odd
// and of even number use different directories. So a rank that is ahead never
// writes where a slower one still reads:
//
//	  directory 0                directory 1
//	┌────────┬─────┬──────────┬────────┬─────┬──────────┐              ┌──────┬───────┐
//	│ rank 0 │ ... │ rank P-1 │ rank 0 │ ... │ rank P-1 │ of entries   │ base │ words │
//	└────────┴─────┴──────────┴────────┴─────┴──────────┘              └──────┴───────┘
//
// Each process makes an Exposure once, as one of its allocations. One Exposure
// makes any number of traditional windows.
type Exposure struct {
	fabric      rma.Exposer
	ranks       int
	directories rma.Disp
}

const (
	entryWords = 2
	entryBytes = 8 * entryWords
	refused    = ^uint64(0) // number of words of a rank that could not expose
)

// NewExposure allocates the directories: at each rank, 4 words for every rank.
func NewExposure(f rma.Exposer) (*Exposure, error) {
	ranks := f.Topology().Ranks()
	directories, err := f.Alloc(2 * entryWords * ranks)
	if err != nil {
		return nil, err
	}
	rma.Label(f, directories, 2*entryWords*ranks, "exposure.directory")
	return &Exposure{fabric: f, ranks: ranks, directories: directories}, nil
}

// Traditional is one rank's view of a traditional window.
type Traditional struct {
	e        *Sync
	exposure *Exposure
	entries  []entry // by rank
	own      entry
	why      error // why this rank could not expose its slice
	open     bool
}

// entry describes a rank's slice to the others. If words is 0, base has no meaning.
type entry struct {
	base  rma.Disp
	words uint64
}

// Base is the displacement of rank p's slice, for all ranks. If Words(p) is 0, it
// has no meaning.
func (t *Traditional) Base(p rma.Rank) rma.Disp { return t.entries[p].base }

// Words is the length of rank p's slice.
func (t *Traditional) Words(p rma.Rank) int { return int(t.entries[p].words) }

// Expose makes a traditional window. All ranks call it, each with the slice that it
// shows. The slice may be empty. Expose is also a Fence: all ranks call Fence and
// Expose in the same order. While the window exists, every access to memory follows
// the contract of package rma.
//
// If a rank cannot expose its slice, Expose fails at every rank with ErrNotExposed.
// At that rank, the error also says why.
//
// An Expose cannot be withdrawn. If ctx ends while it waits, call it again. It
// resumes with the slice of the first call.
func (x *Exposure) Expose(ctx context.Context, e *Sync, memory []uint64) (*Traditional, error) {
	const operation = "Expose"
	if err := e.enterFence(ctx, operation); err != nil {
		return nil, err
	}
	if e.exposing == nil {
		e.exposing = x.begin(e, memory)
	}
	t := e.exposing
	if t.exposure != x {
		return nil, e.misuse(operation, ErrOpen, "an Expose of another Exposure was interrupted: call that one again first")
	}
	directory := x.directory(e)
	err := e.meet(ctx, operation, func(round int, to rma.Rank) { x.handOn(e.w, directory, round, to) })
	if err != nil {
		return nil, e.failed(operation, err)
	}
	e.exposing = nil
	if err := t.learn(directory); err != nil {
		return nil, err
	}
	return t, nil
}

// begin exposes this rank's slice and writes its entry.
func (x *Exposure) begin(e *Sync, memory []uint64) *Traditional {
	me := e.w.Rank()
	t := &Traditional{e: e, exposure: x, entries: make([]entry, x.ranks), open: true}
	t.own.words = uint64(len(memory))
	if len(memory) > 0 {
		if t.own.base, t.why = x.fabric.Expose(me, memory); t.why != nil {
			t.own = entry{words: refused}
		}
	}
	var bytes [entryBytes]byte
	binary.NativeEndian.PutUint64(bytes[:], uint64(t.own.base))
	binary.NativeEndian.PutUint64(bytes[8:], t.own.words)
	e.w.PutBytes(me, x.directory(e)+entryWords*rma.Disp(me), bytes[:])
	e.w.FlushAll()
	return t
}

// directory is the directory that e's next fence uses.
func (x *Exposure) directory(e *Sync) rma.Disp {
	return x.directories + rma.Disp(e.fence.passed%2)*entryWords*rma.Disp(x.ranks)
}

// handOn puts the entries that this rank knows into the directory of rank to. In
// round r these are the entries of 2^r ranks up to this one. It leaves out entries
// that rank to already knows.
func (x *Exposure) handOn(w rma.Window, directory rma.Disp, round int, to rma.Rank) {
	known := min(1<<round, x.ranks-1<<round)
	first := int(w.Rank()) - known + 1
	if first < 0 {
		x.copyEntries(w, directory, first+x.ranks, -first, to)
		known, first = known+first, 0
	}
	x.copyEntries(w, directory, first, known, to)
}

// copyEntries puts n of this rank's entries into the directory of rank to.
func (x *Exposure) copyEntries(w rma.Window, directory rma.Disp, first, n int, to rma.Rank) {
	bytes := make([]byte, n*entryBytes)
	w.GetBytes(w.Rank(), directory+entryWords*rma.Disp(first), bytes)
	w.PutBytes(to, directory+entryWords*rma.Disp(first), bytes)
}

// learn reads the directory. If a rank could not expose its slice, every rank
// hides its own again.
func (t *Traditional) learn(directory rma.Disp) error {
	const operation = "Expose"
	bytes := make([]byte, len(t.entries)*entryBytes)
	t.e.w.GetBytes(t.e.w.Rank(), directory, bytes)
	var err error
	for p := range t.entries {
		at := bytes[p*entryBytes:]
		t.entries[p] = entry{base: rma.Disp(binary.NativeEndian.Uint64(at)), words: binary.NativeEndian.Uint64(at[8:])}
		if t.entries[p].words == refused && err == nil {
			err = t.e.misuse(operation, ErrNotExposed, fmt.Sprintf("the error of rank %d says why", p))
		}
	}
	switch {
	case t.why != nil:
		err = t.e.failed(operation, fmt.Errorf("%w: %w", ErrNotExposed, t.why))
	case err == nil:
		return t.e.result(operation)
	}
	return errors.Join(err, t.hide())
}

// hide ends the exposure of this rank's slice.
func (t *Traditional) hide() error {
	t.open = false
	if t.own.words == 0 || t.why != nil {
		return nil
	}
	return t.e.w.Detach(t.own.base)
}

// Withdraw ends the window. All ranks call it. It is also a Fence: every access is
// complete before a rank hides its slice.
//
// A Withdraw cannot be undone. If ctx ends while it waits, call it again.
func (t *Traditional) Withdraw(ctx context.Context) error {
	const operation = "Withdraw"
	if err := t.e.enterFence(ctx, operation); err != nil {
		return err
	}
	if !t.open {
		return t.e.misuse(operation, ErrNotOpen, "the window is already withdrawn")
	}
	t.e.w.FlushAll()
	if err := t.e.meet(ctx, operation, nil); err != nil {
		return t.e.failed(operation, err)
	}
	return t.hide()
}
