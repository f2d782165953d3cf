package queue

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/orwl/go-orwl/internal/queue/coherence"
	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/rma"
)

// relaxedRemote is the half of relaxed access on a node that is not the home. It knows where the
// header and the bytes are, and brings copies of them.
type relaxedRemote struct {
	r     *Resource
	reach *Reach

	mu     sync.Mutex     // guards the window and the fields below
	base   rma.Disp       // where header and bytes are, as far as known; 0 before the first access
	words  int            // how many words that is
	spares []*relaxedCopy // not in use
}

// relaxedCopy is a copy of header and bytes, for one access.
type relaxedCopy struct {
	of    *relaxedRemote
	words []uint64
	bytes []byte
	had   uint64 // the size in bytes when it was brought
}

// mostSpares is how many copies a node keeps for later accesses.
const mostSpares = 4

// lock waits for the guard, by this node's ranks.
func (a *relaxedRemote) lock(ctx context.Context, k Relaxed, m Mode, number uint64) error {
	if m == Write && k.TryLock() || m == Read && k.TryRLock() {
		return nil
	}
	a.r.tellRelaxed(RelaxedWaiting, number, m, nil)
	a.reach.Ask(true)
	defer a.reach.Ask(false)
	if m == Write {
		return k.LockContext(ctx)
	}
	return k.RLockContext(ctx)
}

// fetch brings header and bytes. The caller has the guard. An error breaks the resource.
func (a *relaxedRemote) fetch() (*relaxedCopy, error) {
	v, err := a.bring()
	if err != nil {
		a.r.Break(err)
		return nil, a.r.brokenError()
	}
	return v, nil
}

func (a *relaxedRemote) bring() (*relaxedCopy, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	v := a.spare()
	w, home := a.reach.Window, a.reach.Home
	if a.base == 0 {
		a.base = rma.Disp(w.Get(home, a.reach.Root))
	}
	for {
		if cap(v.words) < a.words {
			v.words = make([]uint64, a.words)
		}
		v.words = v.words[:a.words]
		if err := w.Err(); err != nil {
			return nil, a.lost(err)
		}
		w.GetBytes(home, a.base, coherence.BytesOf(v.words))
		if err := w.Err(); err != nil {
			return nil, a.lost(err)
		}
		switch h := v.words; {
		case h[headMoved] != 0: // after a resize
			a.base = rma.Disp(h[headMoved])
		case h[headState] == stateAborted:
			return nil, ErrAborted
		case h[headState] == stateEnded:
			return nil, errOver
		case headWords+coherence.WordsFor(int(h[headSize])) > len(h):
			a.words = headWords + coherence.WordsFor(int(h[headSize]))
		default:
			a.words = headWords + coherence.WordsFor(int(h[headSize]))
			v.had = h[headSize]
			v.show(int(v.had))
			return v, nil
		}
	}
}

var errOver = errors.New("it is broken at its home")

// lost is the error of an access if the window has failed: the loss of any node of the
// guard's fabric breaks the lock for good.
func (a *relaxedRemote) lost(why error) error {
	return &locks.BrokenError{Lock: fmt.Sprintf("guard of %q", a.r.name), Rank: a.reach.Window.Rank(), Cause: why}
}

// spare is a copy that is not in use.
func (a *relaxedRemote) spare() *relaxedCopy {
	if n := len(a.spares); n > 0 {
		v := a.spares[n-1]
		a.spares = a.spares[:n-1]
		return v
	}
	return &relaxedCopy{of: a}
}

// done takes a copy back.
func (a *relaxedRemote) done(v *relaxedCopy) {
	a.mu.Lock()
	defer a.mu.Unlock()
	v.bytes = nil
	if len(a.spares) < mostSpares {
		a.spares = append(a.spares, v)
	}
}

// show makes the first size bytes of the copy the resource's bytes.
func (v *relaxedCopy) show(size int) {
	v.bytes = coherence.BytesOf(v.words[headWords : headWords+coherence.WordsFor(size)])[:size]
}

// resize changes the number of bytes. New ones are zero.
func (v *relaxedCopy) resize(size int) error {
	if uint64(size) > v.words[headRoom] {
		return ErrNoRoom
	}
	old := len(v.bytes)
	if n := headWords + coherence.WordsFor(size); n > len(v.words) {
		more := make([]uint64, n)
		copy(more, v.words)
		v.words = more
	}
	v.show(size)
	if size > old {
		clear(v.bytes[old:])
	}
	v.words[headSize] = uint64(size)
	return nil
}

// prior tells what happened to a writer before.
func (v *relaxedCopy) prior() error {
	return coherence.Stamp{Prior: coherence.Prior(v.words[headState])}.Err()
}

// commit puts the bytes, as a new version.
func (v *relaxedCopy) commit() {
	v.words[headVersion]++
	v.words[headState] = uint64(coherence.PriorReleased)
	v.put(headWords + coherence.WordsFor(len(v.bytes)))
}

// fail notes that the writer has failed. The bytes at the home stay the last committed ones.
func (v *relaxedCopy) fail() {
	v.words[headFence]++
	v.words[headSize] = v.had
	switch policy := v.of.r.ledger.Policy(); {
	case policy == Abort:
		v.words[headState] = stateAborted
	case policy == Poison || v.words[headState] == uint64(coherence.PriorPoisoned):
		v.words[headState] = uint64(coherence.PriorPoisoned)
	default:
		v.words[headState] = uint64(coherence.PriorLost)
	}
	v.put(headWords)
}

// put puts the first n words of header and bytes, and completes that. If it cannot, it
// breaks the resource.
func (v *relaxedCopy) put(n int) {
	v.words[headEnds]++
	if err := v.of.put(v.words[:n]); err != nil {
		v.of.r.Break(err)
	}
}

func (a *relaxedRemote) put(words []uint64) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.words = headWords + coherence.WordsFor(int(words[headSize]))
	w := a.reach.Window
	w.PutBytes(a.reach.Home, a.base, coherence.BytesOf(words))
	w.Flush(a.reach.Home) // the lock's release completes what its own rank did, and this is another rank
	if err := w.Err(); err != nil {
		return a.lost(err)
	}
	return nil
}
