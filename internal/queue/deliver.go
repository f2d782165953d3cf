package queue

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/orwl/go-orwl/internal/queue/coherence"
)

// Messages, in and out: a site parses what the transport brings, finds the home or the mirror
// that it is for, and counts. It does the same the other way.

// Bulk is the bytes that a message brings. They are good until Deliver returns.
type Bulk struct {
	Bytes []byte
	// Valid, if not nil, says that Bytes lie in memory of the other node. The memory may
	// change after the node has given this one up. Valid reports whether it has not. It is
	// called when the bytes have been copied, and before the copy is used.
	Valid func() bool
	// Swap says that the site may keep the memory of Bytes. It is of SiteOptions.Memory if
	// the site's is.
	Swap bool
}

// Deliver takes a message of another node. It does not panic, whatever comes, and does not
// wait for another node. It returns the memory that the caller may use instead of the bulk's:
// the same, or, with Bulk.Swap, other memory of its size or nil. An error matches one of
//
//   - [ErrReplayed], [ErrOtherLife]: leave it at that;
//   - [ErrMalformed], [ErrGap], [ErrUnknown]: no correct node sends that. Nothing
//     has changed. Close the connection, and say that the node is lost.
//
// It is counted already: see [Site.Counts].
func (s *Site) Deliver(from Node, header []byte, bulk Bulk) (other []byte, err error) {
	c := s.scratch()
	defer s.spare(c)
	m := &c.in
	s.counts.received.Add(1)
	s.counts.bytesIn.Add(uint64(len(bulk.Bytes)))
	m.Bytes, m.Valid, m.Swap = bulk.Bytes, bulk.Valid, bulk.Swap
	err = coherence.ParseInto(header, m)
	switch {
	case err != nil:
	case int64(from) >= int64(s.o.Nodes) || from == s.o.Node:
		err = fmt.Errorf("%w: from node %d", ErrMalformed, from)
	case m.Kind >= coherence.GrantMessage:
		m.Node = s.o.Node
		s.mu.RLock()
		f := s.mirrors[m.Resource]
		s.mu.RUnlock()
		if f == nil || f.home != from {
			err = fmt.Errorf("%w: %v of node %d: it is not the home", ErrMalformed, m, from)
			break
		}
		f.mu.Lock()
		err = f.take(m, c)
		f.unlock()
	default:
		m.Node = from
		s.mu.RLock()
		h, life := s.homes[m.Resource], s.lives[from]
		s.mu.RUnlock()
		if m.Incarnation>>lifeBits < life {
			err = fmt.Errorf("%w: %v of node %d", ErrOtherLife, m, from)
			break
		}
		if h == nil {
			h, err = s.stray(m)
		}
		if h != nil {
			h.mu.Lock()
			err = h.take(m, c)
			h.unlock()
		}
	}
	if err != nil {
		s.note(err)
	}
	return m.Bytes, err
}

// stray keeps a message for a home that is not declared here yet, or finds that it
// is by now.
func (s *Site) stray(m *coherence.Message) (*home, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if h := s.homes[m.Resource]; h != nil {
		return h, nil
	}
	if s.mirrors[m.Resource] != nil {
		return nil, fmt.Errorf("%w: %v of node %d: its home is not here", ErrMalformed, m, m.Node)
	}
	k, err := s.budget.Keep(m, m.Node)
	if k == nil {
		if err == nil {
			err = fmt.Errorf("%w, and no more is kept: %v of node %d", ErrUnknown, m, m.Node)
		}
		return nil, err
	}
	s.strays[m.Resource] = append(s.strays[m.Resource], *k)
	s.counts.strays.Add(1)
	return nil, nil
}

// scratch is memory for what is said in one step.
type scratch struct {
	in      coherence.Message // nothing in it outlives its step, except the room in its lists
	work    coherence.Work
	granted []int // guests of a home
	header  []byte
}

func (s *Site) scratch() *scratch {
	if c, ok := s.scratches.Get().(*scratch); ok {
		return c
	}
	return new(scratch)
}

// spare takes a scratch back. It drops large lists and borrowed bytes. The next user
// overwrites all else.
func (s *Site) spare(c *scratch) {
	const most = 64 // elements, for the next user
	c.work.Reset()
	c.in.Bytes, c.in.Valid = nil, nil
	if cap(c.in.IDs) > most {
		c.in.IDs = nil
	}
	s.scratches.Put(c)
}

// send sends a message of a resource. If the transport does not take it, the message is lost
// with the node, and the transport's owner says so.
func (s *Site) send(to Node, m *coherence.Message, r *Resource, c *scratch) {
	c.header = coherence.AppendHeader(c.header[:0], m)
	s.counts.sent.Add(1)
	s.counts.bytesOut.Add(uint64(len(m.Bytes)))
	lasting := m.Whole && r.buffer.Store() == nil
	if m.Kind == coherence.ReleaseMessage {
		_ = s.o.Transport.Post(to, c.header, m.Bytes, lasting)
	} else {
		_ = s.o.Transport.Send(to, c.header, m.Bytes, lasting)
	}
}

// SiteCounts are how often something has happened at a site.
type SiteCounts struct {
	Sent, Received    uint64 // messages
	BytesOut, BytesIn uint64 // of contents
	Replayed          uint64 // messages that were taken before
	OtherLife         uint64 // of lives that are over
	Malformed         uint64 // messages that no correct node sends
	Gaps              uint64 // messages with too many missing before them
	Unknown           uint64 // for a resource that is not declared here, and not kept
	Strays            uint64 // messages that were kept until their resource is declared

	// These count the effects of nodes that were lost, or may have been.
	Expired uint64 // grants of homes here that ended with their lease
	Fenced  uint64 // releases that came too late for homes here, known by their fence
	Revoked uint64 // grants from elsewhere that this node gave up by itself
}

type siteCounts struct {
	sent, received, bytesOut, bytesIn, replayed, otherLife, malformed, gaps, unknown, strays, expired, fenced, revoked atomic.Uint64
}

// Counts is what has happened so far.
func (s *Site) Counts() SiteCounts {
	c := &s.counts
	return SiteCounts{
		Sent: c.sent.Load(), Received: c.received.Load(), BytesOut: c.bytesOut.Load(), BytesIn: c.bytesIn.Load(),
		Replayed: c.replayed.Load(), OtherLife: c.otherLife.Load(), Malformed: c.malformed.Load(),
		Gaps: c.gaps.Load(), Unknown: c.unknown.Load(), Strays: c.strays.Load(),
		Expired: c.expired.Load(), Fenced: c.fenced.Load(), Revoked: c.revoked.Load(),
	}
}

// note counts a message that was not taken.
func (s *Site) note(err error) {
	c := &s.counts
	switch {
	case errors.Is(err, ErrReplayed):
		c.replayed.Add(1)
	case errors.Is(err, ErrOtherLife):
		c.otherLife.Add(1)
	case errors.Is(err, ErrUnknown):
		c.unknown.Add(1)
	case errors.Is(err, ErrGap):
		c.gaps.Add(1)
	default:
		c.malformed.Add(1)
	}
}
