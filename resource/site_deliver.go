package resource

import (
	"fmt"

	"github.com/orwl/go-orwl/resource/internal/coherence"
)

// Bulk is the bytes that a message brings. They are good until Deliver returns.
type Bulk struct {
	Bytes []byte
	// Valid, if not nil, says that Bytes lie in memory of the other node. That memory may
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
	m.Bytes, m.Valid, m.Swap, m.Recalled = bulk.Bytes, bulk.Valid, bulk.Swap, false
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
