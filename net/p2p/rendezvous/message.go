package rendezvous

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/orwl/go-orwl/internal/pack"
)

// version is the version of the messages.
const version = 1

// mostMessage is the size of the largest message.
const mostMessage = 4 << 10

// errMessage is bytes that are no message.
var errMessage = errors.New("rendezvous: not a message")

// verb is what a message says. See the package comment.
type verb string

const (
	ask    verb = "ask"
	stay   verb = "stay"
	here   verb = "here"
	lead   verb = "lead"
	full   verb = "full"
	refuse verb = "refuse"
	seat   verb = "seat"
	leave  verb = "" // is not sent: the stream ends
)

// message is what two candidates say to each other.
type message struct {
	Version int    `msgpack:"version"`
	Say     verb   `msgpack:"say"`
	Nodes   int    `msgpack:"nodes,omitempty"`   // ask: of the run
	Proof   []byte `msgpack:"proof,omitempty"`   // ask: that the candidate has the key
	Leader  string `msgpack:"leader,omitempty"`  // lead: the identity of the one to ask
	Address string `msgpack:"address,omitempty"` // lead: multiaddresses of it; ask: of the candidate
	Number  int    `msgpack:"number,omitempty"`  // seat: of the node
	Root    string `msgpack:"root,omitempty"`    // seat: where node 0 listens
	Why     string `msgpack:"why,omitempty"`     // refuse
}

// write sends a message behind its length.
func (m message) write(to io.Writer) error {
	m.Version = version
	b := pack.Encode(&m)
	_, err := to.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(b))), b...))
	return err
}

// read receives a message.
func read(from io.Reader) (m message, err error) {
	var length [2]byte
	if _, err := io.ReadFull(from, length[:]); err != nil {
		return message{}, err
	}
	n := binary.BigEndian.Uint16(length[:])
	if n > mostMessage {
		return message{}, fmt.Errorf("%w: %d bytes, want at most %d", errMessage, n, mostMessage)
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(from, b); err != nil {
		return message{}, err
	}
	return parse(b)
}

// parse decodes a message, and checks it.
func parse(b []byte) (m message, err error) {
	if err := pack.Decode(b, &m); err != nil {
		return message{}, fmt.Errorf("%w: %w", errMessage, err)
	}
	_, err = peer.IDFromBytes([]byte(m.Leader))
	switch {
	case m.Version != version:
		return message{}, fmt.Errorf("%w: it has version %d, want %d", errMessage, m.Version, version)
	case m.Say == lead && err != nil:
		return message{}, fmt.Errorf("%w: the leader: %w", errMessage, err)
	case m.Say == seat && (m.Number < 1 || m.Root == ""):
		return message{}, fmt.Errorf("%w: seat %d at %q", errMessage, m.Number, m.Root)
	}
	return m, nil
}

// proof shows one candidate that another has the key. It holds between these two only, and
// both have proven their identities to each other before.
func proof(key []byte, from, to peer.ID) []byte {
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "orwl rendezvous\x00%s\x00%s", from, to)
	return mac.Sum(nil)
}

// namespace is the name under which the candidates of a run look for each other. It tells
// nothing of the key.
func namespace(key []byte) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("orwl namespace"))
	return fmt.Sprintf("orwl-%x", mac.Sum(nil)[:8])
}
