package metrics

import (
	"sync/atomic"

	"github.com/orwl/go-orwl/internal/queue"
)

// record is shared by the places of a resource. Now and then one of them asks for something
// that others see. Only then do they all write here.
type record struct {
	wants  atomic.Uint32
	places atomic.Uint32
	asked  atomic.Uint32 // how often a place called ask

	// The last release since a place asked: when it was, and how many were through before.
	left    atomic.Int64
	through atomic.Uint64

	// For the writer that holds: how many were through when it asked, and for how many
	// groups that stands.
	before queue.State
	stands uint64
}

// The values of wants, added up.
const (
	wantsLeft  = 1 << iota // when the one before lets go
	wantsGroup             // how many readers come until the next writer
)

// ask has releases tell when they come, and reports whether it was possible. As each
// of them looks at a clock until there is an answer, every place asks seldom.
func (r *record) ask() bool {
	if r.asked.Add(1)%max(1, r.places.Load()) != 0 {
		return false
	}
	r.left.Store(0)
	return r.wants.Or(wantsLeft)&wantsLeft == 0
}

// answer is when the release was that has let the asker in, 0 if that is not known:
// it may have come from another node.
func (r *record) answer(of *queue.Resource, mode queue.Mode) int64 {
	left, through, now := r.left.Load(), r.through.Load(), of.Inspect()
	r.wants.And(^uint32(wantsLeft))
	if mode == queue.Read {
		// Other readers of the group may be through already.
		now.Readers.Through = uint32(through)
	}
	if both(now) != through+1<<32 && both(now) != through+1 {
		return 0
	}
	return left
}

// both are the writers and the readers that are through.
func both(t queue.State) uint64 {
	return uint64(t.Writers.Through)<<32 | uint64(t.Readers.Through)
}

// tell answers what other places want, before the place of w releases.
func (r *record) tell(w *watch, p *queue.Place) {
	wants := r.wants.Load()
	if wants&wantsLeft != 0 {
		r.through.Store(both(p.Resource().Inspect()))
		r.left.Store(w.m.now())
	}
	if wants&wantsGroup != 0 && w.mode == queue.Write {
		r.wants.And(^uint32(wantsGroup))
		t := p.Resource().Inspect()
		readers := t.Readers.Through - r.before.Readers.Through
		if t.Writers.Through-r.before.Writers.Through == 1 && readers > 0 {
			w.m.groups.observe(int64(readers), r.stands)
		}
	}
}

// group has the next writer tell how many readers were before it. It is for the writer
// that holds.
func (r *record) group(of *queue.Resource, stands uint64) {
	r.before, r.stands = of.Inspect(), stands
	r.wants.Or(wantsGroup)
}
