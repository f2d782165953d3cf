package resource

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/rma"
)

// remote is the half of relaxed access on a node that is not the home. It knows where the
// header and the bytes are, and brings copies of them.
type remote struct {
	r     *Resource
	reach *Reach

	mu     sync.Mutex // guards the window and the fields below
	base   rma.Disp   // where header and bytes are, as far as known; 0 before the first access
	words  int        // how many words that is
	spares []*visited // not in use
}

// visited is a copy of header and bytes, for one access.
type visited struct {
	of    *remote
	words []uint64
	bytes []byte
	had   uint64 // the size in bytes when it was brought
}

// mostSpares is how many copies a node keeps for later accesses.
const mostSpares = 4

// lock waits for the guard, by this node's ranks.
func (a *remote) lock(ctx context.Context, k Relaxed, m Mode, visit Visit) error {
	if m == Write && k.TryLock() || m == Read && k.TryRLock() {
		return nil
	}
	if visit != nil {
		visit.Waiting()
	}
	a.reach.Ask(true)
	defer a.reach.Ask(false)
	if m == Write {
		return k.LockContext(ctx)
	}
	return k.RLockContext(ctx)
}

// fetch brings header and bytes. The caller has the guard. An error breaks the resource.
func (a *remote) fetch() (*visited, error) {
	v, err := a.bring()
	if err != nil {
		a.r.Break(err)
		return nil, a.r.brokenError()
	}
	return v, nil
}

func (a *remote) bring() (*visited, error) {
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
		w.GetBytes(home, a.base, bytesOf(v.words))
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
		case int(h[headSize])/8+headWords > len(h):
			a.words = int(h[headSize])/8 + headWords
		default:
			a.words = int(h[headSize])/8 + headWords
			v.had = h[headSize]
			v.show(int(v.had))
			return v, nil
		}
	}
}

var errOver = errors.New("it is broken at its home")

// lost is the error of an access if the window has failed: the loss of any node of the
// guard's fabric breaks the lock for good.
func (a *remote) lost(why error) error {
	return &locks.BrokenError{Lock: fmt.Sprintf("guard of %q", a.r.name), Rank: a.reach.Window.Rank(), Cause: why}
}

// spare is a copy that is not in use.
func (a *remote) spare() *visited {
	if n := len(a.spares); n > 0 {
		v := a.spares[n-1]
		a.spares = a.spares[:n-1]
		return v
	}
	return &visited{of: a}
}

// done takes a copy back.
func (a *remote) done(v *visited) {
	a.mu.Lock()
	defer a.mu.Unlock()
	v.bytes = nil
	if len(a.spares) < mostSpares {
		a.spares = append(a.spares, v)
	}
}

// show makes the first size bytes of the copy the resource's bytes.
func (v *visited) show(size int) {
	v.bytes = bytesOf(v.words[headWords : headWords+size/8])
}

// resize changes the number of bytes. New ones are zero.
func (v *visited) resize(size int) error {
	if uint64(size) > v.words[headRoom] {
		return ErrNoRoom
	}
	old := len(v.bytes)
	if n := headWords + size/8; n > len(v.words) {
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
func (v *visited) prior() error { return Stamp{Prior: Prior(v.words[headState])}.Err() }

// commit puts the bytes, as a new version.
func (v *visited) commit() {
	v.words[headVersion]++
	v.words[headState] = uint64(PriorReleased)
	v.put(headWords + len(v.bytes)/8)
}

// fail notes that the writer has failed. The bytes at the home stay the last committed ones.
func (v *visited) fail() {
	v.words[headFence]++
	v.words[headSize] = v.had
	switch policy := v.of.r.ledger.policy; {
	case policy == Abort:
		v.words[headState] = stateAborted
	case policy == Poison || v.words[headState] == uint64(PriorPoisoned):
		v.words[headState] = uint64(PriorPoisoned)
	default:
		v.words[headState] = uint64(PriorLost)
	}
	v.put(headWords)
}

// put puts the first n words of header and bytes, and completes that. If it cannot, it
// breaks the resource.
func (v *visited) put(n int) {
	v.words[headEnds]++
	if err := v.of.put(v.words[:n]); err != nil {
		v.of.r.Break(err)
	}
}

func (a *remote) put(words []uint64) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.words = headWords + int(words[headSize])/8
	w := a.reach.Window
	w.PutBytes(a.reach.Home, a.base, bytesOf(words))
	w.Flush(a.reach.Home) // the lock's release completes what its own rank did, and this is another rank
	if err := w.Err(); err != nil {
		return a.lost(err)
	}
	return nil
}
