package coherence

import (
	"errors"
	"fmt"
	"strings"
)

// Message is what a mirror and the home of a resource tell each other. Only the two halves
// make one. A transport moves it.
//
// The lists and the bytes of a message that a half has made are memory of the half. Whole
// contents are good until the access that they belong to ends, all else until the half's
// next step. The transport encodes at once. A half keeps nothing of what it is given.
type Message struct {
	Kind Kind
	Mode Mode // Request, Renew, Grant

	Resource uint64 // in all messages

	// Node is the mirror's, in both directions. The transport has checked it.
	Node Node
	// Incarnation is the life of the mirror that the message is from, or for. It grows each
	// time the node starts, and each time it comes back after it was lost.
	Incarnation uint64
	// Seq counts the messages of either half to the other from 1, anew in each life. The
	// refusal of a whole life is not counted: 0.
	Seq uint64

	ID  ID   // Request, Renew: what is queued; Release, Cancel, Refused
	Old ID   // Renew: what is released
	IDs []ID // Grant: all that are granted to this mirror

	// Stamp is of a Grant. A Release or Renew has the fence of
	// the grant that it ends, a Confirm or Confirmed the fence of the write that it names.
	Stamp

	// Known is one more than a version of the bytes, 0 if there is none. A Request, Renew or Join
	// names the version that the mirror has: the home needs it once in a life.
	Known uint64

	// These fields describe the contents that were written or are granted.
	Wrote bool // Release, Renew: there is a new version
	Whole bool // the message has the contents
	Size  int  // of the contents
	Bytes []byte
	// Valid reports whether Bytes are still what was sent; nil: they are.
	Valid func() bool
	// Swap says that the receiver may keep the memory of Bytes and give other memory of
	// that size, or nil, in its place.
	Swap bool

	Reason Reason // Refused; Release, if it is Abandoned
}

// Kind is what a message says.
type Kind uint8

const (
	// From a mirror to the home:

	// RequestMessage queues ID.
	RequestMessage Kind = iota + 1
	// RenewMessage queues ID, then releases Old: one message for an iteration of a pair.
	RenewMessage
	// ReleaseMessage ends an access, with what was written.
	ReleaseMessage
	// CancelMessage takes back a request. A refusal answers it, or it crosses the grant:
	// then the mirror releases the grant unused.
	CancelMessage
	// JoinMessage begins a life, so that the home drops all requests of the life before. A
	// life may as well begin with a request.
	JoinMessage
	// ConfirmMessage asks the home to confirm a write. It follows the release.
	ConfirmMessage

	// From the home to a mirror:

	// GrantMessage grants IDs, and brings what the mirror does not have of the bytes.
	GrantMessage
	// RefusedMessage ends a request, or all of a life.
	RefusedMessage
	// ConfirmedMessage answers a ConfirmMessage. The home has taken everything before the
	// question, so the write is committed, or a refusal precedes the answer.
	ConfirmedMessage
)

// Reason is why something was refused.
type Reason uint8

const (
	// Cancelled: the request was taken back in time. It answers a CancelMessage.
	Cancelled Reason = iota + 1
	// Stale: what was released is not held with that fence. Its bytes are dropped.
	Stale
	// Ended: the home has given up this life of the mirror. Not counted by Seq.
	Ended
	// Broken: the resource is, at its home. Not counted by Seq.
	Broken
	// Abandoned: the holder failed, and its node did not. The home drops what the holder
	// wrote. A mirror gives this reason in a release.
	Abandoned
)

// A half returns one of these errors for a message that it does not take. The message
// has changed nothing. The home answers some of them by a refusal.
var (
	// ErrReplayed is a message that was taken before: leave it at that.
	ErrReplayed = errors.New("resource: message was taken before")
	// ErrOtherLife is a message from or for a life of the mirror that is over: leave it at
	// that.
	ErrOtherLife = errors.New("resource: message of another life")
	// ErrGap is a message that came while earlier ones are missing. Do not trust the
	// stream: close it, and tell the half that the other is lost.
	ErrGap = errors.New("resource: messages are missing")
	// ErrMalformed is a message that no correct half sends. Do as for ErrGap.
	ErrMalformed = errors.New("resource: malformed message")
)

// Requests and accesses end with these errors when something breaks.
var (
	// ErrBroken is the end of a request because the resource was broken for good.
	ErrBroken = errors.New("resource is broken")
	// ErrLost is the end of a request by the loss of the link between mirror and home.
	ErrLost = errors.New("resource: home is lost: wait for it, then request again")
	// ErrEnded is the end of a request because the home gave up this mirror.
	ErrEnded = errors.New("resource: home has given up this node: join again, then request again")
	// ErrStale is the release of an access that is over: its fence is not the
	// request's.
	ErrStale = errors.New("resource: access is over, and what it wrote is dropped: request again")
	// ErrReaderWrote is a release of an access for reading that has written.
	ErrReaderWrote = errors.New("resource: written by an access for reading: request it for writing")
	// ErrContents is a size or a span that the resource cannot have.
	ErrContents = errors.New("resource: size or span out of range")

	// ErrQueued: a request with this ID is in the queue.
	ErrQueued = errors.New("resource: request is queued already")
	// ErrNotQueued: the request to release or cancel is not in the queue.
	ErrNotQueued = errors.New("resource: no such request is queued")
	// ErrNotGranted: the request to release still waits.
	ErrNotGranted = errors.New("resource: request is not granted yet")
	// ErrGranted: the request to cancel is granted.
	ErrGranted = errors.New("resource: request is granted already")
	// ErrMode: the mode is neither Read nor Write.
	ErrMode = errors.New("resource: no such mode")
)

var (
	kinds = []string{"?", "request", "renew", "release", "cancel", "join", "confirm",
		"grant", "refused", "confirmed"}
	reasons = []string{"?", "cancelled", "stale", "ended", "broken", "abandoned"}
)

func (k Kind) String() string { return nameOf(kinds, int(k)) }

func (r Reason) String() string { return nameOf(reasons, int(r)) }

// nameOf is the i-th of names, or the number if there is none.
func nameOf(names []string, i int) string {
	if i <= 0 || i >= len(names) {
		return fmt.Sprintf("?%d", i)
	}
	return names[i]
}

// String is the message in one line, without its sender and its bytes.
func (m *Message) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "#%d %v", m.Seq, m.Kind)
	switch m.Kind {
	case RequestMessage, RenewMessage:
		fmt.Fprintf(&b, " %d %v", m.ID, m.Mode)
		if m.Known > 0 {
			fmt.Fprintf(&b, " has v%d", m.Known-1)
		}
		if m.Kind == RenewMessage {
			fmt.Fprintf(&b, ", release %d fence=%d", m.Old, m.Fence)
		}
	case ReleaseMessage:
		fmt.Fprintf(&b, " %d fence=%d", m.ID, m.Fence)
		if m.Reason != 0 {
			fmt.Fprintf(&b, ": %v", m.Reason)
		}
	case CancelMessage:
		fmt.Fprintf(&b, " %d", m.ID)
	case GrantMessage:
		fmt.Fprintf(&b, " %v %v v%d fence=%d", m.IDs, m.Mode, m.Version, m.Fence)
		if m.Prior != PriorReleased {
			fmt.Fprintf(&b, " (%v)", m.Prior)
		}
	case ConfirmMessage, ConfirmedMessage:
		fmt.Fprintf(&b, " fence=%d", m.Fence)
	case RefusedMessage:
		if m.Seq > 0 {
			fmt.Fprintf(&b, " %d", m.ID)
		}
		fmt.Fprintf(&b, ": %v", m.Reason)
	}
	if m.Wrote || m.Whole {
		fmt.Fprintf(&b, " size=%d", m.Size)
	}
	return b.String()
}

// checkContents reports what is wrong with the bytes of a message, if anything.
func (m *Message) checkContents(limit int) error {
	if m.Size < 0 || m.Size > limit {
		return fmt.Errorf("%w: %d bytes, want 0 to %d", ErrContents, m.Size, limit)
	}
	if !m.Whole || len(m.Bytes) != m.Size {
		return fmt.Errorf("%w: %d bytes came, want %d", ErrContents, len(m.Bytes), m.Size)
	}
	return nil
}

// intact reports whether the bytes that were copied from a message are the bytes that were
// sent.
func (m *Message) intact() bool { return m.Valid == nil || m.Valid() }

// spoilt is the error of a message whose bytes have changed in the sender's memory. The
// sender has ended this life already.
func spoilt(m *Message) error {
	return fmt.Errorf("%w: %v: the node that sent it has given up node %d meanwhile", ErrOtherLife, m, m.Node)
}
