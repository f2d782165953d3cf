package resource

import (
	"fmt"
	"maps"
	"slices"
)

// Lost says that the home is lost, or the link to it. Every request is over, and a write
// that the home has not confirmed may be lost. The mirror takes no request until Rejoin.
func (r *Mirror) Lost(err error) {
	if err == nil {
		err = ErrLost
	}
	if r.over != nil {
		return
	}
	r.over = err
	// What was sent and perhaps did not arrive, and what a writer has made of the
	// memory, is no version of the home's.
	spoilt := r.wrote != 0
	if spoilt {
		r.places.WriteLost(err)
	}
	for _, id := range slices.Sorted(maps.Keys(r.requests)) {
		p := r.requests[id]
		spoilt = spoilt || p.stage == holding && p.mode == Write
		if p.stage != leaving {
			r.places.Ended(id, err)
		}
	}
	if spoilt {
		r.known = 0
	}
	clear(r.requests)
	r.holders = 0
	r.ahead, r.alone, r.keeps = false, false, false
	r.wrote = 0
}

// forget says that the home has begun anew, so that what is here is no version of
// its bytes.
func (r *Mirror) forget() { r.known = 0 }

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
func (r *Mirror) Join(out []Message) []Message {
	out, msg := r.to(JoinMessage, out)
	msg.Known = r.known
	return out
}

// Over is why the mirror takes no request until Rejoin, or nil.
func (r *Mirror) Over() error { return r.over }

// ended takes the home's word that this life of the mirror is over.
func (r *Mirror) ended(m *Message) error {
	why := ErrEnded
	switch m.Reason {
	case Stale:
		why = ErrStale
	case Broken:
		why = fmt.Errorf("%w at its home", ErrBroken)
	case AnotherEpoch:
		why = fmt.Errorf("%w: it lives in epoch %d", ErrLost, m.Epoch)
	}
	r.Lost(why)
	return r.over
}
