package coherence

import (
	"fmt"
	"iter"
)

// Mirror is a node's half of the protocol, for a resource that has its home elsewhere. The
// node has one copy of the bytes, however many of its requests read it. One goroutine at a
// time uses a Mirror.
//
//	node ──Request──▶ Mirror ──Request──▶ home
//	node ◀──granted── Mirror ◀───Grant─── home
//
// A release tells its writer nothing about the home: the bytes are under way. The mirror
// learns that a write is committed from what the home sends next.
//
//	mirror ──Release, wrote──▶ home        home ──Grant, or bytes──▶ mirror   confirmed
//	mirror ──Confirm─────────▶ home        home ──Confirmed────────▶ mirror   confirmed
//	                                       the life of the mirror ends        WriteLost
//
// At most one write is not confirmed at a time: the next writer on this node needs a grant,
// and the grant confirms the write before. Only a node that sends no further request, or
// waits behind others, has to ask.
type Mirror struct {
	buffer *Buffer
	o      MirrorOptions

	got, sent uint64
	requests  register[request]
	holders   int   // how many of them are granted
	over      error // why this life is over, or nil

	known   uint64 // one more than the version in the buffer, 0 if it is none
	size    int    // of that version
	wrote   uint64 // fence of the last write that was released and is not confirmed, 0 if none
	queried bool   // the home was asked to confirm it
}

// request is a request of this node.
type request struct {
	mode  Mode
	stage stage
	fence uint64
	tag   any
}

// stage is how far a request has come.
type stage uint8

const (
	asked   stage = iota // the home
	holding              // has been granted
	leaving              // cancelled: the home's answer is under way
)

// MirrorOptions describe a mirror.
type MirrorOptions struct {
	// Resource is in all messages.
	Resource uint64
	// Node is the node of the mirror.
	Node Node
	// Incarnation is this life of the mirror, from 1. See Message.
	Incarnation uint64
	// Limit is the greatest size in bytes.
	Limit int
}

// NewMirror makes a mirror that has no bytes yet.
func NewMirror(buffer *Buffer, o MirrorOptions) *Mirror { return &Mirror{buffer: buffer, o: o} }

// Request queues a request. Events of the request bring the tag. The ID is not in use here:
// no request with it is queued, and the home has answered its last cancel.
func (r *Mirror) Request(id ID, m Mode, tag any, w *Work) error {
	if err := r.queue(id, m, tag); err != nil {
		return err
	}
	msg := r.to(RequestMessage, w)
	msg.ID, msg.Mode, msg.Known = id, m, r.known
	return nil
}

// Renew requests next, and then ends an access: one message, and no other request comes
// in between.
func (r *Mirror) Renew(a Access, next ID, m Mode, tag any, w *Work) error {
	if err := r.mayRelease(a); err != nil {
		return err
	}
	if err := r.queue(next, m, tag); err != nil {
		return err
	}
	msg := r.to(RenewMessage, w)
	msg.ID, msg.Old, msg.Mode = next, a.ID, m
	r.release(a, msg)
	msg.Known = r.known
	return nil
}

// Release ends an access.
func (r *Mirror) Release(a Access, w *Work) error {
	if err := r.mayRelease(a); err != nil {
		return err
	}
	msg := r.to(ReleaseMessage, w)
	msg.ID = a.ID
	r.release(a, msg)
	return nil
}

// Cancel takes back a request that waits. No event of it follows. If the request is granted
// already, Cancel fails, and the caller releases.
func (r *Mirror) Cancel(id ID, w *Work) error {
	_, p := r.requests.find(id)
	switch {
	case p == nil || p.stage == leaving:
		return r.unknown(id)
	case p.stage == holding:
		return fmt.Errorf("%w: %d", ErrGranted, id)
	}
	p.stage, p.tag = leaving, nil
	r.to(CancelMessage, w).ID = id
	return nil
}

// Confirm asks the home whether it has the last write. It asks nothing if that is known, or
// was asked before.
func (r *Mirror) Confirm(w *Work) {
	if r.wrote != 0 && !r.queried {
		r.queried = true
		r.to(ConfirmMessage, w).Fence = r.wrote
	}
}

// Unconfirmed is the fence of the last write that was released and that the home has not
// confirmed, 0 if there is none.
func (r *Mirror) Unconfirmed() uint64 { return r.wrote }

// Holds reports whether a request is granted.
func (r *Mirror) Holds(id ID) bool {
	_, p := r.requests.find(id)
	return p != nil && p.stage == holding
}

// Waiting yields the tags of the requests that wait.
func (r *Mirror) Waiting() iter.Seq[any] {
	return func(yield func(any) bool) {
		for _, e := range r.requests.all {
			if e.value.stage == asked && !yield(e.value.tag) {
				return
			}
		}
	}
}

// Here reports whether the bytes of the next grant are here already.
func (r *Mirror) Here() bool { return r.holders > 0 }

// queue notes a request, unless it cannot be made.
func (r *Mirror) queue(id ID, m Mode, tag any) error {
	if r.over != nil {
		return r.over
	}
	if _, queued := r.requests.find(id); queued != nil {
		return fmt.Errorf("%w: %d", ErrQueued, id)
	}
	r.requests.add(id, request{mode: m, tag: tag})
	return nil
}

// mayRelease reports what is wrong with the end of an access, if anything.
func (r *Mirror) mayRelease(a Access) error {
	_, p := r.requests.find(a.ID)
	switch {
	case p == nil:
		return r.unknown(a.ID)
	case p.stage != holding:
		return fmt.Errorf("%w: %d", ErrNotGranted, a.ID)
	case p.fence != a.Fence:
		return fmt.Errorf("%w: %d with fence %d, now it has %d", ErrStale, a.ID, a.Fence, p.fence)
	case a.Wrote && p.mode == Read:
		return fmt.Errorf("%w: %d", ErrReaderWrote, a.ID)
	case a.Abandoned:
		return nil
	}
	size := len(r.buffer.Bytes())
	if !a.Wrote {
		if size != r.size {
			return fmt.Errorf("%w: %d has resized to %d bytes: say that it wrote", ErrContents, a.ID, size)
		}
		return nil
	}
	if size > r.o.Limit {
		return fmt.Errorf("%w: %d bytes, want at most %d", ErrContents, size, r.o.Limit)
	}
	return nil
}

// unknown is the mistake of naming a request that is not there.
func (r *Mirror) unknown(id ID) error {
	if r.over != nil {
		return fmt.Errorf("%w: %d: %w", ErrNotQueued, id, r.over)
	}
	return fmt.Errorf("%w: %d", ErrNotQueued, id)
}

// release puts the end of an access into a message. The mirror keeps the number of a write
// until the home has confirmed it, and none of its bytes.
func (r *Mirror) release(a Access, msg *Message) {
	msg.Fence = a.Fence
	if a.Abandoned {
		msg.Reason = Abandoned
		if _, p := r.requests.find(a.ID); p.mode == Write {
			r.known = 0
		}
	}
	r.requests.remove(a.ID)
	r.holders--
	if a.Abandoned || !a.Wrote {
		return
	}
	r.known++
	r.wrote, r.queried = a.Fence, false
	all := r.buffer.Bytes()
	r.size = len(all)
	msg.Wrote, msg.Size, msg.Whole, msg.Bytes = true, len(all), true, all
}

// to appends a message to the home. It is good until the next one.
func (r *Mirror) to(k Kind, w *Work) *Message {
	r.sent++
	w.Messages = append(w.Messages, Message{
		Kind: k, Resource: r.o.Resource,
		Node: r.o.Node, Incarnation: r.o.Incarnation, Seq: r.sent,
	})
	return &w.Messages[len(w.Messages)-1]
}
