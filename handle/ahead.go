package handle

import (
	"errors"
	"fmt"
	"iter"
	"sync/atomic"

	"github.com/orwl/go-orwl/resource"
)

// MostAhead is the greatest number of turns that a pair announces ahead.
const MostAhead = 1 << 10

// ErrAhead is a wrong use of [Pair.Ahead].
var ErrAhead = errors.New("handle: wrong turns ahead")

// Ahead makes the pair announce k turns more than the one that it is in. The queue then
// knows the next k turns while this one goes on. Call Ahead while the pair is idle. The
// default is 0: the next turn is announced as this one ends.
//
// The pair then takes k+1 first requests, one for each turn. Each call of Request announces
// the next turn:
//
//	p.Ahead(2)
//	q.Ahead(2)
//	for range 3 {
//		p.Request(r, resource.Write)
//		q.Request(r, resource.Write) // p and q take turns
//	}
//
// Next announces the turn after the last one that is announced. Drain announces none, and
// the announced ones stay. Release, Cancel and Abandon take them back. Give the same k to
// all pairs of a resource that is written: a pair with more would have several turns in a
// row.
//
// This gains something for a turn that waits for no other pair: if all read, the grant of
// the next turn travels while this one goes on. A turn that waits for another pair was
// announced in time anyway, since the pair announced it before the other one was granted.
func (p *Pair) Ahead(k int) error {
	switch {
	case k < 0 || k > MostAhead:
		return fmt.Errorf("%w: %d: want 0 to %d", ErrAhead, k, MostAhead)
	case p.busy():
		return fmt.Errorf("%w: call Ahead before the first request: %q is %w", ErrAhead, p.held().place.Resource().Name(), resource.ErrRequested)
	}
	p.extra().turns = nil
	if k > 0 {
		p.more.turns = &turns{handles: make([]Handle, k+1)}
	}
	return nil
}

// Depth is how many turns the pair announces ahead.
func (p *Pair) Depth() int {
	if t := p.turns(); t != nil {
		return len(t.handles) - 1
	}
	return 0
}

// Places are the pair's requests, and the first one is the request of this turn. Any
// goroutine may look at them.
func (p *Pair) Places() iter.Seq[*resource.Place] {
	return func(yield func(*resource.Place) bool) {
		t := p.turns()
		if t == nil {
			yield(&p.place)
			return
		}
		all, at := t.handles, int(t.at.Load())
		for i := range all {
			if !yield(&all[(at+i)%len(all)].place) {
				return
			}
		}
	}
}

// Prepare calls f once for each place of an idle pair. Meanwhile Place returns that place.
// Use it to give each place a bed or an observer.
func (p *Pair) Prepare(f func()) {
	t := p.turns()
	if t == nil {
		f()
		return
	}
	for range t.handles {
		f()
		t.step()
	}
}

// turns are the handles of a pair that announces turns ahead, as a ring:
//
//	handles   │ turn 3 │ turn 4 │ turn 2 │      the pair is in turn 2,
//	                               at           and announces two turns ahead
//
// Each handle serves one turn. Its place renews itself at the end of the turn: so it
// announces the turn after all that are announced, and the pair goes on to the next
// handle. A handle that Drain has released is idle, and the pair passes it over.
type turns struct {
	handles []Handle
	at      atomic.Int32 // of this turn; others read it for reports
	first   int          // first requests
	goes    bool         // the pair has ended a turn, and takes no more first requests
}

// turns are the handles of a pair that announces turns ahead, or nil.
func (h *Handle) turns() *turns {
	if h.more == nil {
		return nil
	}
	return h.more.turns
}

// turn is the handle of this turn: the handle itself, unless it is a pair with Ahead.
func (h *Handle) turn() *Handle {
	if h.more == nil || h.more.turns == nil {
		return h
	}
	return &h.more.turns.handles[h.more.turns.at.Load()]
}

// idle reports whether the handle has no request and holds nothing.
func (h *Handle) idle() bool { return !h.place.Held() && !h.place.Requested() }

// busy reports whether a turn of the pair is not idle.
func (p *Pair) busy() bool {
	if t := p.turns(); t != nil {
		return t.next() != nil
	}
	return !p.idle()
}

// next is the first handle from this turn on that is not idle, or nil.
func (t *turns) next() *Handle {
	at := int(t.at.Load())
	for i := range t.handles {
		if h := &t.handles[(at+i)%len(t.handles)]; !h.idle() {
			return h
		}
	}
	return nil
}

// step goes on to the next handle.
func (t *turns) step() { t.at.Store((t.at.Load() + 1) % int32(len(t.handles))) }

// advance goes on to the next turn that is announced.
func (t *turns) advance() {
	t.goes = true
	t.step()
	for range t.handles {
		if !t.handles[t.at.Load()].idle() {
			return
		}
		t.step()
	}
}

// opens returns the handle that takes the pair's next first request. If the pair takes none,
// that is one that refuses it.
func (p *Pair) opens(r *resource.Resource, m resource.Mode) (*Handle, error) {
	t := p.turns()
	if t == nil {
		return &p.Handle, nil
	}
	busy := t.next()
	if busy == nil {
		t.at.Store(0)
		t.first, t.goes = 0, false
		return &t.handles[0], nil
	}
	if t.goes || busy.place.Held() || t.first == len(t.handles) {
		return busy, nil
	}
	if r != busy.place.Resource() || m != busy.place.Mode() {
		return nil, fmt.Errorf("%w: the turns announced so far %v %q, not %v %q: announce the same access for all", ErrAhead,
			busy.place.Mode(), busy.place.Resource().Name(), m, r.Name())
	}
	return &t.handles[t.first], nil
}

// withdraw takes back the turns that are announced after this one, the last one first.
func (h *Handle) withdraw() (errs error) {
	t := h.turns()
	if t == nil {
		return nil
	}
	at := int(t.at.Load())
	for i := len(t.handles) - 1; i > 0; i-- {
		if other := &t.handles[(at+i)%len(t.handles)]; other.place.Requested() {
			errs = errors.Join(errs, other.Cancel())
		}
	}
	return errs
}

// cancel is Cancel of a pair with turns ahead.
func (h *Handle) cancel() error {
	now := h.turn()
	if now.place.Held() || h.turns().next() == nil {
		return now.Cancel() // it fails
	}
	err := h.withdraw()
	if now.place.Requested() {
		err = errors.Join(err, now.Cancel())
	}
	return err
}

// abandon is Abandon of a pair with turns ahead.
func (h *Handle) abandon(reason error) error {
	now := h.turn()
	if now.idle() && h.turns().next() != nil {
		return h.withdraw() // this turn was lost
	}
	return errors.Join(h.withdraw(), now.Abandon(reason))
}
