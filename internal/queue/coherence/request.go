package coherence

import "github.com/orwl/go-orwl/internal/invariant"

// The halves of the protocol and their caller have these in common: requests, the end of an access,
// and the work that a step asks for. A register holds a half's requests.

// Node names a node of the run.
type Node uint32

// Mode is the requested access mode.
type Mode uint8

const (
	// Read shares the resource with other readers.
	Read Mode = iota
	// Write excludes all others.
	Write
)

func (m Mode) String() string {
	if m == Write {
		return "write"
	}
	return "read"
}

// ID names a request. The caller chooses an ID that is not in use.
type ID uint64

// Access is an access of a mirror's node that ends.
type Access struct {
	ID    ID
	Fence uint64 // of its grant
	// Wrote says that the bytes were open for writing, or resized. Otherwise they are not
	// sent, and there is no new version.
	Wrote bool
	// Abandoned says that the holder has failed. Nothing that it has written is sent, and
	// the next holders are told.
	Abandoned bool
}

// Work is what a step asks its caller to do, in the order of the fields. Steps append to
// it. Its lists are memory of the caller, except for the bytes of the messages.
type Work struct {
	Queue    []Operation // of a home: for its queue
	Events   []Event     // of a mirror: for its node's requests
	Messages []Message   // to send
	// Fault says why the bytes cannot be kept any more: the resource is broken.
	Fault error

	ids []ID // of grants in Messages
}

// Reset empties the work and keeps the room in its lists.
func (w *Work) Reset() {
	clear(w.Messages)
	clear(w.Events)
	w.Queue, w.Events, w.Messages, w.ids = w.Queue[:0], w.Events[:0], w.Messages[:0], w.ids[:0]
	w.Fault = nil
}

// Operation is what the home asks its queue to do. Guest is the home's number of a
// mirror's request.
type Operation struct {
	Kind  OperationKind
	Mode  Mode // of the request that is queued
	Guest int
	Next  int // Renew: the guest that is queued before Guest is released
}

// OperationKind is what an Operation does.
type OperationKind uint8

const (
	// Enqueue puts a guest into the queue. When the queue has granted it, the caller gives
	// it to [Home.Granted].
	Enqueue OperationKind = iota + 1
	// Renew puts Next into the queue and then ends Guest. No request comes in between.
	Renew
	// Release ends a granted guest.
	Release
	// Cancel takes a guest back that waits. The caller answers by [Home.Withdrawn], unless
	// the queue has granted the guest: then [Home.Granted] is the answer.
	Cancel
)

// Event is what happens to a request, or to the last write, of a mirror's node.
type Event struct {
	Kind EventKind
	ID   ID
	Tag  any // the tag that came with the request
	Stamp
	Held bool  // RequestEnded: it was granted
	Err  error // RequestEnded, WriteLost: why
}

// EventKind is what an Event tells.
type EventKind uint8

const (
	// RequestGranted: the request is granted, and its bytes are in the buffer.
	RequestGranted EventKind = iota + 1
	// RequestEnded: the request, or the access, is over before its time. An access that uses the
	// bytes must end before the node requests again.
	RequestEnded
	// WriteLost: the home may not have the last write that was released here. Stamp.Fence
	// is the fence of that write.
	WriteLost
)

// register holds values by the ID of a request. Most nodes have a few requests of a
// resource, so a search looks through a slice. A register that once had many has an index.
// An idle register keeps room for a few.
type register[T any] struct {
	all   []entry[T]
	index map[ID]int // nil while there are few
}

type entry[T any] struct {
	id    ID
	value T
}

// few is how many entries need no index.
const few = 16

// find is where the value of an ID is, and the value, good until the next change; nil if
// there is none.
func (r *register[T]) find(id ID) (at int, value *T) {
	if r.index != nil {
		if at, found := r.index[id]; found {
			return at, &r.all[at].value
		}
		return -1, nil
	}
	for at := range r.all {
		if r.all[at].id == id {
			return at, &r.all[at].value
		}
	}
	return -1, nil
}

// add adds a value. The ID is new.
func (r *register[T]) add(id ID, value T) {
	r.all = append(r.all, entry[T]{id, value})
	switch {
	case r.index != nil:
		r.index[id] = len(r.all) - 1
	case len(r.all) > few:
		invariant.Sometimes(true, "a register gets an index")
		r.index = make(map[ID]int, 2*len(r.all))
		for at := range r.all {
			r.index[r.all[at].id] = at
		}
	}
}

// remove removes the value of an ID, if there is one. The last takes its place.
func (r *register[T]) remove(id ID) {
	at, value := r.find(id)
	if value == nil {
		return
	}
	last := len(r.all) - 1
	if r.index != nil {
		r.index[r.all[last].id] = at
		delete(r.index, id)
	}
	r.all[at] = r.all[last]
	r.all[last] = entry[T]{}
	if r.all = r.all[:last]; last == 0 && r.index != nil {
		r.all, r.index = nil, nil
	}
}

func (r *register[T]) clear() { r.all, r.index = nil, nil }
