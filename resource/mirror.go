package resource

import "fmt"

// Places are the accesses of a node, as its mirror sees them. What it calls must
// not call it.
type Places interface {
	// Granted says that the bytes are in the mirror's memory, and the request's.
	Granted(ID, Stamp)
	// Ended says that a request, or an access, is over before its time, and why. A
	// place that uses the memory leaves it before the mirror's Rejoin.
	Ended(ID, error)
	// WriteLost says that the home may not have the last write that was released here,
	// and why.
	WriteLost(error)
}

// Access is an access that ends.
type Access struct {
	ID    ID
	Fence uint64 // of its grant
	// Wrote says that the bytes were open for writing, or resized. If they were not,
	// they are not sent, and there is no new version.
	Wrote bool
	// Abandoned says that the holder is lost. Nothing that it may have written is
	// sent, and those after it are told.
	Abandoned bool
	// Spans are those bytes that may have changed, in order and apart; none means
	// all. What is changed and not named is not written, and the node's own copy is
	// wrong then. What a resize has added is zero unless it is named.
	Spans []Range
}

// Mirror is a node's half of the protocol between a resource's home and its
// mirrors, as a step function: a node's requests and the home's messages in,
// messages, grants and bytes in its memory out. It is used by one goroutine at a
// time.
//
//	Places ──Request──▶ Mirror ──Request──▶ Home
//	Places ◀──Granted── Mirror ◀───Grant─── Home
//
// The node has one copy of the bytes, however many of its places read it.
type Mirror struct {
	places Places
	memory Memory
	o      MirrorOptions

	got, sent uint64
	requests  map[ID]place
	holders   int   // how many of them are granted
	over      error // why this life is over, or nil

	known   uint64 // one more than the version in memory, 0 if it is none
	wrote   uint64 // fence of the last write that was released and is not confirmed, 0 if none
	queried bool   // the home was asked to confirm it
	ahead   bool   // it was pushed, and the request that it is for is not granted
	alone   bool   // nobody else had requested, the home has said last
	keeps   bool   // the release of kept, which is all that this node has
	size    int    // when it was last granted
	scratch []byte // the bytes of spans
	kept    Access
}

// place is a request of this node.
type place struct {
	mode  Mode
	stage stage
	fence uint64

	// Nothing to the mirror itself: see mirrored.
	w    *waiter // to be woken, nil if it has been
	by   *Place
	in   bool   // by uses the bytes
	came uint64 // bytes that had come to the mirror when it was requested, or for it
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
	// Node is whose mirror it is.
	Node Node
	// Incarnation is this life of the mirror, from 1, which is the default. See
	// Message.
	Incarnation uint64
	// Epoch is the home's life, from 1, which is the default.
	Epoch uint64
	// Limit is the greatest size in bytes, a multiple of 8. The default is 1 GiB.
	Limit int
	// Keep says that a release may wait for the request that mostly comes next, and
	// then is one message with it, as long as nobody else wants the access and nothing
	// was written. Whoever owns the mirror has it settled after a while.
	Keep bool
}

func (o MirrorOptions) withDefaults() MirrorOptions {
	if o.Limit == 0 {
		o.Limit = defaultLimit
	}
	if o.Incarnation == 0 {
		o.Incarnation = 1
	}
	if o.Epoch == 0 {
		o.Epoch = 1
	}
	return o
}

func (o MirrorOptions) validate() error { return checkLimit("MirrorOptions", o.Limit) }

// NewMirror makes a mirror that has no bytes yet.
func NewMirror(places Places, memory Memory, o MirrorOptions) (*Mirror, error) {
	o = o.withDefaults()
	if err := o.validate(); err != nil {
		return nil, err
	}
	return &Mirror{places: places, memory: memory, o: o}, nil
}

// Request queues a request up. Its ID must not be that of one that is queued here,
// nor of one that was cancelled, until the home's answer is there: best a new one.
func (r *Mirror) Request(id ID, m Mode, out []Message) ([]Message, error) {
	if err := r.mayRequest(id); err != nil {
		return out, err
	}
	r.add(id, m)
	kind := RequestMessage
	if r.keeps && r.kept.ID != id {
		kind, r.keeps = RenewMessage, false
	}
	out = r.Settle(out)
	out, msg := r.to(kind, out)
	msg.ID, msg.Mode, msg.Known = id, m, r.known
	if kind == RenewMessage {
		msg.Old, msg.Fence = r.kept.ID, r.kept.Fence
	}
	return out, nil
}

// Renew ends an access and has requested next before: one message, and nobody's
// request comes in between.
func (r *Mirror) Renew(a Access, next ID, m Mode, out []Message) ([]Message, error) {
	if err := r.mayRelease(a); err != nil {
		return out, err
	}
	if err := r.mayRequest(next); err != nil {
		return out, err
	}
	out, msg := r.to(RenewMessage, out)
	msg.ID, msg.Old, msg.Mode = next, a.ID, m
	r.release(a, msg)
	msg.Known = r.known
	r.add(next, m)
	return out, nil
}

func (r *Mirror) add(id ID, m Mode) {
	if r.requests == nil {
		r.requests = make(map[ID]place)
	}
	r.requests[id] = place{mode: m}
}

// Release ends an access.
func (r *Mirror) Release(a Access, out []Message) ([]Message, error) {
	if err := r.mayRelease(a); err != nil {
		return out, err
	}
	if r.keep(a) {
		return out, nil
	}
	out, msg := r.to(ReleaseMessage, out)
	msg.ID = a.ID
	r.release(a, msg)
	return out, nil
}

// Cancel takes back a request that waits: its place hears no more of it. If the
// request is granted already it is an error, ErrGranted, and the place releases.
func (r *Mirror) Cancel(id ID, out []Message) ([]Message, error) {
	p, queued := r.requests[id]
	switch {
	case !queued || p.stage == leaving:
		return out, r.unknown(id)
	case p.stage == holding:
		return out, fmt.Errorf("%w: %d", ErrGranted, id)
	}
	p.stage = leaving
	r.requests[id] = p
	out, msg := r.to(CancelMessage, out)
	msg.ID = id
	return out, nil
}

// mayRequest reports why an ID cannot be requested, if it cannot.
func (r *Mirror) mayRequest(id ID) error {
	if r.over != nil {
		return r.over
	}
	if _, queued := r.requests[id]; queued {
		return fmt.Errorf("%w: %d", ErrQueued, id)
	}
	return nil
}

// mayRelease reports what is wrong with the end of an access, if anything.
func (r *Mirror) mayRelease(a Access) error {
	p, queued := r.requests[a.ID]
	switch {
	case !queued:
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
	size := len(r.memory.Bytes())
	if !a.Wrote {
		if size != r.size {
			return fmt.Errorf("%w: %d has resized to %d bytes: say that it wrote", ErrContents, a.ID, size)
		}
		return nil
	}
	if size%8 != 0 || size > r.o.Limit {
		return fmt.Errorf("%w: %d bytes, want a multiple of 8 up to %d", ErrContents, size, r.o.Limit)
	}
	_, err := checkSpans(a.Spans, size)
	return err
}

// unknown is the mistake of naming a request that is not there.
func (r *Mirror) unknown(id ID) error {
	if r.over != nil {
		return fmt.Errorf("%w: %d: %w", ErrNotQueued, id, r.over)
	}
	return fmt.Errorf("%w: %d", ErrNotQueued, id)
}

// release puts the end of an access into a message. The mirror keeps the number of a write
// until the home has confirmed it, and none of its bytes: see Confirm.
func (r *Mirror) release(a Access, msg *Message) {
	p := r.requests[a.ID]
	delete(r.requests, a.ID)
	r.holders--
	msg.Fence = a.Fence
	if a.Abandoned {
		msg.Reason = Abandoned
		if p.mode == Write {
			r.known = 0
		}
		return
	}
	if !a.Wrote {
		return
	}
	r.known++
	r.wrote, r.queried = a.Fence, false
	all := r.memory.Bytes()
	r.size = len(all)
	msg.Wrote, msg.Size = true, len(all)
	if len(a.Spans) == 0 {
		msg.Whole, msg.Bytes = true, all
		return
	}
	r.scratch = r.scratch[:0]
	for _, s := range a.Spans {
		r.scratch = append(r.scratch, all[s.Off:][:s.Len]...)
	}
	msg.Spans, msg.Bytes = a.Spans, r.scratch
}

// to appends a message to the home.
func (r *Mirror) to(k Kind, out []Message) ([]Message, *Message) {
	r.sent++
	out = append(out, Message{
		Kind: k, Resource: r.o.Resource, Epoch: r.o.Epoch,
		Node: r.o.Node, Incarnation: r.o.Incarnation, Seq: r.sent,
	})
	return out, &out[len(out)-1]
}
