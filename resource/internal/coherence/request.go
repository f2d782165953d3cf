package coherence

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
	// Spans are the bytes that may have changed, in order and apart; none means all. A
	// change outside of them is not sent, and the node's own copy is wrong then. Bytes that
	// a resize has added are zero unless a span names them.
	Spans []Span
}

// Work is what a step asks its caller to do, in the order of the fields. Steps append to
// it. Its lists are memory of the caller, except for the bytes of the messages.
type Work struct {
	Queue    []Operation // of a home: for its queue
	Events   []Event     // of a mirror: for its node's requests
	Messages []Message   // to send
	// Fault says why the bytes cannot be kept any more: the resource is broken.
	Fault error

	ids   []ID   // of grants in Messages
	bytes []byte // of spans in Messages
}

// Reset empties the work and keeps the room in its lists.
func (w *Work) Reset() {
	clear(w.Messages)
	clear(w.Events)
	w.Queue, w.Events, w.Messages, w.ids = w.Queue[:0], w.Events[:0], w.Messages[:0], w.ids[:0]
	w.bytes = w.bytes[:0]
	w.Fault = nil
}

// Operation is what the home asks its queue to do. Guest is the home's number of a
// mirror's request.
type Operation struct {
	Kind   OperationKind
	Mode   Mode // of the request that is queued or given up
	Guest  int
	Next   int    // Renew: the guest that is queued before Guest is released
	Ticket uint64 // EnqueueReserved, Forgo
}

// OperationKind is what an Operation does.
type OperationKind uint8

const (
	// Enqueue puts a guest into the queue. When the queue has granted it, the caller gives
	// it to [Home.Granted].
	Enqueue OperationKind = iota + 1
	// EnqueueReserved is Enqueue with a ticket that was reserved.
	EnqueueReserved
	// Renew puts Next into the queue and then ends Guest. No request comes in between.
	Renew
	// Release ends a granted guest.
	Release
	// Cancel takes a guest back that waits. The caller answers by [Home.Withdrawn], unless
	// the queue has granted the guest: then [Home.Granted] is the answer.
	Cancel
	// Forgo gives up a reserved ticket, since its node is lost or may not have the access.
	Forgo
	// Break breaks the resource. All guests are forgotten.
	Break
)

// Event is what happens to a request, or to the last write, of a mirror's node.
type Event struct {
	Kind EventKind
	ID   ID
	Tag  any // as given with the request
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
