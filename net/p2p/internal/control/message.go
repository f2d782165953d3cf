package control

import (
	"errors"
	"fmt"

	"github.com/orwl/go-orwl/internal/pack"
)

// Version is the version of all messages.
const Version = 4

// ErrMessage is bytes that are no message of this version.
var ErrMessage = errors.New("control: not a message")

// Message is one of the following. The others are nil.
type Message struct {
	Version uint64 `msgpack:"version"`
	// Change is about the members of the run. A message of package membership comes with it.
	Change *Change `msgpack:"change,omitempty"`
	// Give goes to the chair, with what is given.
	Give *Gathering `msgpack:"give,omitempty"`
	// Gathered comes from the chair, or goes to a new one, with a list of what all nodes gave.
	Gathered *Gathering `msgpack:"gathered,omitempty"`
	// Arena is memory of the node, and how to find it.
	Arena *Arena `msgpack:"arena,omitempty"`
	// Mapped is the answer to that.
	Mapped *Mapped `msgpack:"mapped,omitempty"`
}

// Change says which epoch the message behind it is about, for the log.
type Change struct {
	Epoch uint64 `msgpack:"epoch"`
}

// Gathering is one of several under one name.
type Gathering struct {
	Name  string `msgpack:"name"`
	Round uint64 `msgpack:"round"`
}

// Arena is how a node finds memory of another: see package loan.
type Arena struct {
	Machine string `msgpack:"machine"`
	PID     uint64 `msgpack:"pid"`
	FD      uint64 `msgpack:"fd"`
	Bell    uint64 `msgpack:"bell"`
	Token   []byte `msgpack:"token"`
}

// Mapped says whether an arena was mapped, and whether the node gives notice before a
// loss.
type Mapped struct {
	Mapped   bool `msgpack:"mapped"`
	Promises bool `msgpack:"promises"`
}

// Site is what a node says of the fabric that it makes: see package window.
type Site struct {
	Version uint64 `msgpack:"version"`
	Plan    string `msgpack:"plan"`    // the fabric that it makes
	Machine string `msgpack:"machine"` // empty if it shares no memory
}

// Place is where the first node of a machine has made memory for all of them. It is said
// after a Site, which has the version.
type Place struct {
	Path string `msgpack:"path"`
	File string `msgpack:"file"` // which file that is
}

// Bytes encodes the message.
func (m Message) Bytes() []byte {
	m.Version = Version
	return pack.Encode(&m)
}

// Parse decodes a message, and checks that it says one thing.
func Parse(b []byte) (Message, error) {
	var m Message
	if err := pack.Decode(b, &m); err != nil {
		return Message{}, fmt.Errorf("%w: %w", ErrMessage, err)
	}
	says := 0
	for _, is := range []bool{m.Change != nil, m.Give != nil, m.Gathered != nil, m.Arena != nil, m.Mapped != nil} {
		if is {
			says++
		}
	}
	switch {
	case m.Version != Version:
		return Message{}, fmt.Errorf("%w: it has version %d, want %d", ErrMessage, m.Version, Version)
	case says != 1:
		return Message{}, fmt.Errorf("%w: it says %d things, want 1", ErrMessage, says)
	}
	return m, nil
}

// Bytes encodes the site.
func (s Site) Bytes() []byte {
	s.Version = Version
	return pack.Encode(&s)
}

// ParseSite decodes a site.
func ParseSite(b []byte) (Site, error) {
	var s Site
	if err := pack.Decode(b, &s); err != nil {
		return Site{}, fmt.Errorf("%w: %w", ErrMessage, err)
	}
	if s.Version != Version {
		return Site{}, fmt.Errorf("%w: a site has version %d, want %d", ErrMessage, s.Version, Version)
	}
	return s, nil
}

// Bytes encodes the place.
func (p Place) Bytes() []byte { return pack.Encode(&p) }

// ParsePlace decodes a place.
func ParsePlace(b []byte) (Place, error) {
	var p Place
	if err := pack.Decode(b, &p); err != nil {
		return Place{}, fmt.Errorf("%w: %w", ErrMessage, err)
	}
	return p, nil
}
