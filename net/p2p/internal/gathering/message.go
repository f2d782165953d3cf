package gathering

import (
	"errors"
	"fmt"

	"github.com/orwl/go-orwl/internal/pack"
)

// Key is one of several gatherings under a name.
type Key struct {
	Name  string
	Round uint64 // from 1
}

// Kind says what a message is.
type Kind uint8

const (
	// Give goes to the chair, with Try, Blob and Among.
	Give Kind = iota + 1
	// All comes from the chair, or goes to a new one, with List.
	All
)

// Message is what nodes say to each other. A node may give another blob until the list is there:
// the chair takes the one of the last try.
type Message struct {
	Kind  Kind
	Key   Key
	Try   uint64 // counts its blobs, from 1
	Blob  []byte
	List  [][]byte // by node; nil for nodes that had gone
	Epoch uint64   // the epoch in which the list was complete
	Among []uint64 // the lives that must give, by number of the node; nil: all members must
}

// Letter is a message to a node, which may be the sender.
type Letter struct {
	To int
	Message
}

// ErrMessage is a message that no correct node sends.
var ErrMessage = errors.New("gathering: not a message of a correct node")

// body is what travels beside the key.
type body struct {
	Try   uint64   `msgpack:"try"`
	Blob  []byte   `msgpack:"blob"`
	List  [][]byte `msgpack:"list"`
	Epoch uint64   `msgpack:"epoch"`
	Among []uint64 `msgpack:"among"`
}

// Overhead is by how much a message of so many nodes may be longer than its blobs.
func Overhead(nodes int) int { return 80 + 16*nodes }

// Bytes encodes all of the message but its kind and its key.
func (m *Message) Bytes() []byte {
	return pack.Encode(&body{m.Try, m.Blob, m.List, m.Epoch, m.Among})
}

// Parse decodes a message of a run of so many nodes.
func Parse(kind Kind, k Key, b []byte, nodes int) (Message, error) {
	var of body
	if err := pack.Decode(b, &of); err != nil {
		return Message{}, fmt.Errorf("%w: %w", ErrMessage, err)
	}
	m := Message{kind, k, of.Try, of.Blob, of.List, of.Epoch, of.Among}
	switch {
	case k.Round == 0:
		return m, fmt.Errorf("%w: round 0 of %q", ErrMessage, k.Name)
	case kind == Give && (len(m.List) > 0 || m.Among != nil && len(m.Among) != nodes):
		return m, fmt.Errorf("%w: a gift to %q with %d blobs, among %d nodes", ErrMessage, k.Name, len(m.List), len(m.Among))
	case kind == All && (len(m.List) != nodes || m.Among != nil):
		return m, fmt.Errorf("%w: %d blobs of %q, want %d", ErrMessage, len(m.List), k.Name, nodes)
	}
	return m, nil
}
