package protocol

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/orwl/go-orwl/internal/pack"
)

// Version is the version of all messages.
const Version = 4

// ErrMessage is bytes that are no message of this version.
var ErrMessage = errors.New("session: not a message")

// Message says one of the things below. The others are nil.
type Message struct {
	Version uint64 `msgpack:"version"`
	// Number counts the messages that the other end must take once. 0 is any other.
	Number uint64 `msgpack:"number,omitempty"`
	// Taken is the number of the newest message that the sender has taken.
	Taken uint64 `msgpack:"taken,omitempty"`

	// A client says these.
	Hello    *Hello    `msgpack:"hello,omitempty"`
	Beat     *Beat     `msgpack:"beat,omitempty"`
	Request  *Request  `msgpack:"request,omitempty"`
	Withdraw *Withdraw `msgpack:"withdraw,omitempty"`
	Release  *Grip     `msgpack:"release,omitempty"`
	Read     *Grip     `msgpack:"read,omitempty"`
	Write    *Write    `msgpack:"write,omitempty"`
	List     *List     `msgpack:"list,omitempty"`
	Watch    *Watch    `msgpack:"watch,omitempty"`
	Revoke   *Revoke   `msgpack:"revoke,omitempty"`

	// A home says these.
	Admission *Admission `msgpack:"admission,omitempty"`
	Echo      *Beat      `msgpack:"echo,omitempty"`
	Granted   *Granted   `msgpack:"granted,omitempty"`
	Revoked   *Loss      `msgpack:"revoked,omitempty"`
	Lost      *Loss      `msgpack:"lost,omitempty"`
	Answer    *Answer    `msgpack:"answer,omitempty"`

	// Bye is the last word of either: the session is over, and why.
	Bye *Bye `msgpack:"bye,omitempty"`
}

// Hello is first on each connection.
type Hello struct {
	ID    []byte `msgpack:"id"`    // a secret of the session
	Who   string `msgpack:"who"`   // how lists describe the session
	Known bool   `msgpack:"known"` // the session was admitted before
	Sent  int64  `msgpack:"sent"`  // see Beat
}

// Admission answers it. The first one of a session is also the echo of the hello.
type Admission struct {
	Session uint64 `msgpack:"session"` // its number in lists
	Length  int64  `msgpack:"length"`  // of the lease, in nanoseconds
	Skew    int64  `msgpack:"skew"`
	Sent    int64  `msgpack:"sent"` // Hello.Sent; only the first admission renews the lease
}

// Beat has the time at which it was sent, by the client's clock. Echo returns it, and comes behind all
// that the home has said before. A hello of a known session is a beat, too.
type Beat struct {
	Sent int64 `msgpack:"sent"`
}

// Request enters the queue of a name. The number of the message names it from then on.
type Request struct {
	Name string `msgpack:"name"`
	Read bool   `msgpack:"read"`
}

// Withdraw takes back a request that waits. The answer to one that is granted is CodeHeld.
type Withdraw struct {
	Request uint64 `msgpack:"request"`
}

// Grip is a request that is held with a fence.
type Grip struct {
	Request uint64 `msgpack:"request"`
	Fence   uint64 `msgpack:"fence"`
}

// Write replaces the bytes, when the request is released.
type Write struct {
	Request uint64 `msgpack:"request"`
	Fence   uint64 `msgpack:"fence"`
	Bytes   []byte `msgpack:"bytes"`
}

// List asks for all names with a prefix, in order, behind After.
type List struct {
	Prefix string `msgpack:"prefix"`
	After  string `msgpack:"after"`
}

// Watch asks for the state of a name as soon as it is not the one with this stamp.
type Watch struct {
	Name  string `msgpack:"name"`
	Stamp uint64 `msgpack:"stamp"`
}

// Revoke asks the holders of a name to let go: the one with a fence, or all if that is 0.
type Revoke struct {
	Name  string `msgpack:"name"`
	Fence uint64 `msgpack:"fence"`
}

// Granted says that a request holds.
type Granted struct {
	Request uint64 `msgpack:"request"`
	Grant   Grant  `msgpack:"grant"`
}

// Grant is what the queue says of a request that it grants.
type Grant struct {
	Fence   uint64 `msgpack:"fence"`
	Version uint64 `msgpack:"version"` // how many writes were committed before
	Lost    bool   `msgpack:"lost"`    // the writer before was lost, with what it wrote
}

// Loss is a request that must end, or has, and why.
type Loss struct {
	Request uint64 `msgpack:"request"`
	Why     string `msgpack:"why"`
}

// Answer answers the call with a number.
type Answer struct {
	Call   uint64  `msgpack:"call"`
	Code   Code    `msgpack:"code"`
	Why    string  `msgpack:"why"`
	Bytes  []byte  `msgpack:"bytes"`  // of Read
	States []State `msgpack:"states"` // of List, and of Watch
	More   bool    `msgpack:"more"`   // names come behind the last of List
	Count  int     `msgpack:"count"`  // of holders that Revoke has asked
}

// State lists the holders of a name, and the requests that wait for it.
type State struct {
	Name     string   `msgpack:"name"`
	Stamp    uint64   `msgpack:"stamp"`    // another one after each change
	Requests []Holder `msgpack:"requests"` // the first of the queue, in order
	Length   int      `msgpack:"length"`   // of the queue
}

// Holder is a request of a session, which holds or waits.
type Holder struct {
	Session uint64 `msgpack:"session"`
	Who     string `msgpack:"who"`
	Read    bool   `msgpack:"read"`
	Held    bool   `msgpack:"held"`
	Revoked bool   `msgpack:"revoked"` // it was asked to let go
	Fence   uint64 `msgpack:"fence"`   // 0 if it waits
	For     int64  `msgpack:"for"`     // how long it has been so, in nanoseconds
}

// Bye says that the session is over.
type Bye struct {
	Why string `msgpack:"why"`
}

// Code says what is wrong with a call.
type Code uint8

// The codes.
const (
	OK      Code = iota
	Stale        // the request does not hold with this fence
	Held         // it is granted, and cannot be withdrawn
	Refused      // the call makes no sense, or a bound is reached
)

// Append appends a message with its length.
func (m Message) Append(b []byte) []byte {
	m.Version = Version
	body := pack.Encode(&m)
	return append(binary.LittleEndian.AppendUint32(b, uint32(len(body))), body...)
}

// Next reads a message. Memory follows what has come, not what a length claims.
func Next(r io.Reader) (Message, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return Message{}, err
	}
	length := binary.LittleEndian.Uint32(head[:])
	if length > MaxMessage {
		return Message{}, fmt.Errorf("%w: it has %d bytes, want at most %d", ErrMessage, length, MaxMessage)
	}
	var body bytes.Buffer
	if _, err := io.CopyN(&body, r, int64(length)); err != nil {
		return Message{}, err
	}
	return Parse(body.Bytes())
}

// Parse decodes a message without its length, and checks it.
func Parse(b []byte) (Message, error) {
	var m Message
	if err := pack.Decode(b, &m); err != nil {
		return Message{}, fmt.Errorf("%w: %w", ErrMessage, err)
	}
	return m, m.check()
}

// check returns what is wrong with a message.
func (m *Message) check() error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%w: "+format, append([]any{ErrMessage}, args...)...)
	}
	says, numbered := m.says()
	switch {
	case m.Version != Version:
		return bad("it has version %d, want %d", m.Version, Version)
	case says != 1:
		return bad("it says %d things, want 1", says)
	case numbered != (m.Number > 0):
		return bad("its number is %d, want one for a message that is taken once", m.Number)
	case m.Hello != nil && (len(m.Hello.ID) != sizeID || len(m.Hello.Who) > MaxWho):
		return bad("hello has an ID of %d bytes, want %d, and %d bytes of description, want at most %d", len(m.Hello.ID), sizeID, len(m.Hello.Who), MaxWho)
	case m.Admission != nil && !valid(leaseOf(m.Admission)):
		return bad("a lease of %d and a skew of %d", m.Admission.Length, m.Admission.Skew)
	case m.Write != nil && len(m.Write.Bytes) > MaxBytes:
		return bad("write has %d bytes, want at most %d", len(m.Write.Bytes), MaxBytes)
	}
	return m.checkName()
}

// checkName checks the name that a message has, if it has one.
func (m *Message) checkName() error {
	name := "any"
	switch {
	case m.Request != nil:
		name = m.Request.Name
	case m.Watch != nil:
		name = m.Watch.Name
	case m.Revoke != nil:
		name = m.Revoke.Name
	case m.List != nil && max(len(m.List.Prefix), len(m.List.After)) > MaxName:
		return fmt.Errorf("%w: a prefix of %d bytes, want at most %d", ErrMessage, max(len(m.List.Prefix), len(m.List.After)), MaxName)
	}
	if len(name) == 0 || len(name) > MaxName {
		return fmt.Errorf("%w: a name of %d bytes, want 1 to %d", ErrMessage, len(name), MaxName)
	}
	return nil
}

// says is how many things a message says, and whether it must have a number.
func (m *Message) says() (things int, numbered bool) {
	count := func(numbers bool, is ...bool) {
		for _, is := range is {
			if is {
				things++
				numbered = numbers
			}
		}
	}
	count(false, m.Hello != nil, m.Beat != nil, m.Admission != nil, m.Echo != nil, m.Bye != nil)
	count(true, m.Request != nil, m.Withdraw != nil, m.Release != nil, m.Read != nil, m.Write != nil, m.List != nil, m.Watch != nil, m.Revoke != nil,
		m.Granted != nil, m.Revoked != nil, m.Lost != nil, m.Answer != nil)
	return things, numbered
}

// The bounds of messages and of what one session may have.
const (
	// MaxName is the length of the longest name of a lock.
	MaxName = 256
	// MaxWho is the length of the longest description of a session.
	MaxWho = 256
	// MaxBytes is how many bytes a lock may protect.
	MaxBytes = 1 << 20
	// MaxMessage is the length of the longest message.
	MaxMessage = MaxBytes + 1<<12
	// MostRequests is how many requests one session may have at once.
	MostRequests = 256
	// MostSessions is how many sessions a home takes.
	MostSessions = 1 << 12

	sizeID     = 16      // of a session's ID
	mostKept   = 1 << 12 // messages that a client has not taken
	mostBytes  = 1 << 25 // of bytes that they have
	mostText   = 1 << 10 // of a reason
	mostListed = 64      // requests of one name in a list
	listSize   = 1 << 18 // of a list, about, in bytes
)

// link has each numbered message taken once and in order, over any number of connections. Both
// ends have one. It keeps what it has said until the other end has taken it:
//
//	1 2 3 4 5 6 7
//	    ▲     ▲
//	    │     said
//	    acknowledged; 4, 5 and 6 are kept
type link struct {
	said  uint64    // the number of the newest message of this end
	kept  []Message // the messages that the other end has not taken
	size  int       // about how many bytes they have
	taken uint64    // the number of the newest message of the other end
}

// say gives a message its number, and keeps it.
func (l *link) say(m Message) Message {
	l.said++
	m.Number = l.said
	l.kept = append(l.kept, m)
	l.size += m.weight()
	return m
}

// weight is how many bytes a message has that a caller chose, about.
func (m *Message) weight() int {
	switch {
	case m.Answer != nil:
		return len(m.Answer.Bytes) + len(m.Answer.States)*mostListed*(MaxWho+64)
	case m.Write != nil:
		return len(m.Write.Bytes)
	}
	return 0
}

// take looks at the number and the acknowledgement of a message. It reports whether the message
// is taken: one that comes again is not. An error says that no correct end sends this.
func (l *link) take(m Message) (bool, error) {
	first := l.said - uint64(len(l.kept))
	switch {
	case m.Taken > l.said:
		return false, fmt.Errorf("%w: it acknowledges message %d of %d", ErrMessage, m.Taken, l.said)
	case m.Taken > first: // an older one has come late
		for i := range l.kept[:m.Taken-first] {
			l.size -= l.kept[i].weight()
		}
		n := copy(l.kept, l.kept[m.Taken-first:])
		clear(l.kept[n:])
		l.kept = l.kept[:n]
	}
	switch {
	case m.Number == 0:
		return true, nil
	case m.Number <= l.taken:
		return false, nil
	case m.Number > l.taken+1:
		return false, fmt.Errorf("%w: message %d comes after %d", ErrMessage, m.Number, l.taken)
	}
	l.taken++
	return true, nil
}
