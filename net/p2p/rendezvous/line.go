package rendezvous

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/orwl/go-orwl/internal/pack"
	"github.com/orwl/go-orwl/net/p2p/internal/transport"
)

// name is the protocol of the candidates.
const name protocol.ID = "/orwl/rendezvous/1"

// answers is how long a candidate may take to answer, or to say its first word.
const answers = 2 * time.Second

// line is a stream to another candidate, of one ask. It is nil until it is open.
type line struct {
	stream network.Stream
	cancel context.CancelFunc
}

// write says something. If it fails, the goroutine that reads finds out, too.
func (l *line) write(m message) {
	if l == nil || l.stream == nil {
		return
	}
	_ = l.stream.SetWriteDeadline(time.Now().Add(answers)) // every muxer has deadlines
	_ = m.write(l.stream)
}

// end ends the stream.
func (l *line) end() {
	if l == nil {
		return
	}
	if l.cancel != nil {
		l.cancel()
	}
	if l.stream != nil {
		_ = l.stream.Reset() // it is over anyway
	}
}

// ask asks another candidate, on a new stream.
func (s *search) ask(to peer.ID, question message) {
	ctx, cancel := context.WithCancel(s.ctx)
	l := &line{cancel: cancel}
	s.asks[to] = l
	question.Proof = proof(s.o.Key, s.host.ID(), to)
	question.Address = transport.List(s.host.Addrs())
	s.group.Go(func() {
		defer cancel()
		s.dialogue(ctx, to, l, question)
		s.do(func(now time.Duration) []act {
			if s.asks[to] != l {
				return nil // it was withdrawn
			}
			delete(s.asks, to)
			return s.meeting.failed(now, to)
		})
	})
}

// dialogue asks, and hears the answers until there are no more.
func (s *search) dialogue(ctx context.Context, to peer.ID, l *line, question message) {
	dialling, done := context.WithTimeout(ctx, answers)
	defer done()
	stream, err := s.host.NewStream(dialling, to, name)
	if err != nil {
		s.o.Log.Debug("rendezvous: a candidate does not answer", "candidate", to.String(), "why", err)
		return
	}
	defer stream.Reset()
	defer context.AfterFunc(ctx, func() { stream.Reset() })()
	_ = stream.SetDeadline(time.Now().Add(answers)) // every muxer has deadlines
	if question.write(stream) != nil {
		return
	}
	for {
		m, err := read(stream)
		if err != nil {
			return
		}
		s.do(func(now time.Duration) []act {
			if s.asks[to] != l {
				return nil
			}
			l.stream = stream
			return s.answered(now, to, stream, m)
		})
		if m.Say != stay {
			return
		}
		_ = stream.SetReadDeadline(time.Time{}) // it may take long until all are there
	}
}

// answered takes an answer.
func (s *search) answered(now time.Duration, from peer.ID, stream network.Stream, m message) []act {
	switch m.Say {
	case lead:
		if at, err := transport.Addresses(m.Address); err == nil {
			s.host.Peerstore().AddAddrs(peer.ID(m.Leader), at, s.o.Patience)
		}
	case seat:
		s.root = transport.SeenFrom(m.Root, stream.Conn().RemoteMultiaddr())
	}
	return s.meeting.hear(now, from, m)
}

// take takes the ask of another candidate.
func (s *search) take(stream network.Stream) {
	defer stream.Reset()
	if !s.enter() {
		return
	}
	defer s.group.Done()
	from := stream.Conn().RemotePeer()
	_ = stream.SetDeadline(time.Now().Add(answers)) // every muxer has deadlines
	question, err := read(stream)
	if err != nil || question.Say != ask || !hmac.Equal(question.Proof, proof(s.o.Key, from, s.host.ID())) {
		s.o.Log.Warn("rendezvous: a stranger, or a candidate of another run", "from", stream.Conn().RemoteMultiaddr().String(), "why", err)
		return
	}
	if at, err := transport.Addresses(question.Address); err == nil {
		s.host.Peerstore().AddAddrs(from, at, s.o.Patience)
	}
	l := &line{stream: stream}
	s.do(func(now time.Duration) []act {
		s.asked[from].end() // it asks again
		s.asked[from] = l
		return s.meeting.hear(now, from, question)
	})
	_ = stream.SetReadDeadline(time.Time{})
	for {
		m, err := read(stream)
		if err != nil || m.Say != here {
			break
		}
		s.do(func(now time.Duration) []act {
			if s.asked[from] != l {
				return nil
			}
			return s.meeting.hear(now, from, m)
		})
	}
	s.do(func(time.Duration) []act {
		if s.asked[from] == l {
			delete(s.asked, from)
			s.meeting.left(from)
		}
		return nil
	})
}

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
