package coherence

import (
	"cmp"
	"fmt"
	"slices"
)

// Lost says that the home is lost, or the link to it. Every request is over, and a write
// that the home has not confirmed may be lost. The mirror takes no request until Rejoin.
func (r *Mirror) Lost(err error, w *Work) {
	if err == nil {
		err = ErrLost
	}
	if r.over != nil {
		return
	}
	r.over = err
	// A write that perhaps did not arrive, and bytes that a writer was changing, are no
	// version of the home's.
	spoilt := r.wrote != 0
	if spoilt {
		w.Events = append(w.Events, Event{Kind: WriteLost, Stamp: Stamp{Fence: r.wrote}, Err: err})
	}
	slices.SortFunc(r.requests.all, func(a, b entry[request]) int { return cmp.Compare(a.id, b.id) })
	for _, e := range r.requests.all {
		id, p := e.id, e.value
		spoilt = spoilt || p.stage == holding && p.mode == Write
		if p.stage != leaving {
			w.Events = append(w.Events, Event{
				Kind: RequestEnded, ID: id, Tag: p.tag, Stamp: Stamp{Fence: p.fence}, Held: p.stage == holding, Err: err,
			})
		}
	}
	if spoilt {
		r.known = 0
	}
	r.requests.clear()
	r.holders = 0
	r.ahead, r.retention, r.keeps = false, noRetention, false
	r.wrote = 0
}

// Forget says that the home has begun anew, so that the buffer has no version of its bytes.
func (r *Mirror) Forget() { r.known = 0 }

// Rejoin begins a new life, with a greater incarnation, with a home in the epoch
// given. In the same epoch the bytes are still good.
func (r *Mirror) Rejoin(incarnation, epoch uint64) error {
	if r.over == nil {
		return fmt.Errorf("resource: node %d rejoins resource %d, which is not lost", r.o.Node, r.o.Resource)
	}
	if incarnation <= r.o.Incarnation || epoch < r.o.Epoch {
		return fmt.Errorf("%w: node %d rejoins resource %d as life %d of epoch %d after life %d of epoch %d",
			ErrOtherLife, r.o.Node, r.o.Resource, incarnation, epoch, r.o.Incarnation, r.o.Epoch)
	}
	if epoch > r.o.Epoch {
		r.known = 0
	}
	r.o.Incarnation, r.o.Epoch = incarnation, epoch
	r.got, r.sent, r.over = 0, 0, nil
	return nil
}

// Join tells the home that this life has begun, and the one before is over.
func (r *Mirror) Join(w *Work) { r.to(JoinMessage, w).Known = r.known }

// Suspect ends this life and begins a new one, since the home may have given up this node.
// A mirror without requests holds nothing of the home, so its life goes on, and what it has
// released still arrives. It reports whether it has begun a new life.
func (r *Mirror) Suspect(why error, incarnation, epoch uint64, w *Work) bool {
	if len(r.requests.all) == 0 {
		return false
	}
	if r.wrote != 0 {
		r.buffer.Lend() // the bytes of the last release may still be under way
	}
	r.Lost(why, w)
	if r.Rejoin(incarnation, max(epoch, r.o.Epoch)) == nil {
		r.Join(w)
	}
	return true
}

// Over is why the mirror takes no request until Rejoin, or nil.
func (r *Mirror) Over() error { return r.over }

// Epoch is the home's life that the mirror belongs to.
func (r *Mirror) Epoch() uint64 { return r.o.Epoch }
