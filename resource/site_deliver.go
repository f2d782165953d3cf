package resource

import (
	"fmt"

	"github.com/orwl/go-orwl/resource/internal/coherence"
)

// Deliver takes a message of another node. It does not panic, whatever comes, and does not
// wait for another node. bulk is good until it returns. An error matches one of
//
//   - [ErrReplayed], [ErrOtherLife]: leave it at that;
//   - [ErrMalformed], [ErrGap], [ErrUnknown]: no correct node sends that. Nothing
//     has changed. Close the connection, and say that the node is lost.
//
// It is counted already: see [Site.Counts].
func (s *Site) Deliver(from Node, header, bulk []byte) error {
	return s.DeliverLent(from, header, bulk, nil)
}

// DeliverLent is Deliver for bulk that lies in memory of the other node. It may change
// after that node has given this one up. valid reports whether it has not: it is called
// when bulk has been copied, and before the copy is used.
func (s *Site) DeliverLent(from Node, header, bulk []byte, valid func() bool) error {
	return s.take(from, header, &contents{bytes: bulk, valid: valid})
}

// DeliverSwap is Deliver for bulk that the site may keep the memory of, which is of
// SiteOptions.Memory if the site's is. It returns what the caller may use instead: bulk,
// other memory of its size, or nil.
func (s *Site) DeliverSwap(from Node, header, bulk []byte) (other []byte, err error) {
	c := contents{bytes: bulk, swap: true}
	err = s.take(from, header, &c)
	return c.bytes, err
}

// contents is what a message brings.
type contents struct {
	bytes []byte
	valid func() bool
	swap  bool
}

func (s *Site) take(from Node, header []byte, with *contents) error {
	s.counts.received.Add(1)
	return s.note(s.deliver(from, header, with))
}

func (s *Site) deliver(from Node, header []byte, with *contents) error {
	if int64(from) >= int64(s.o.Nodes) || from == s.o.Node {
		return fmt.Errorf("%w: from node %d", ErrMalformed, from)
	}
	c := s.scratch()
	defer s.spare(c)
	m := &c.in
	err := coherence.ParseInto(header, m)
	if err != nil {
		return err
	}
	s.counts.bytesIn.Add(uint64(len(with.bytes)))
	m.Bytes, m.Valid, m.Swap = with.bytes, with.valid, with.swap
	defer func() { with.bytes = m.Bytes }()
	m.Recalled = false
	if m.Kind >= coherence.GrantMessage {
		m.Node = s.o.Node
		s.mu.RLock()
		f := s.mirrors[m.Resource]
		s.mu.RUnlock()
		if f == nil || f.home != from {
			return fmt.Errorf("%w: %v of node %d: it is not the home", ErrMalformed, m, from)
		}
		return f.deliver(m, c)
	}
	m.Node = from
	s.mu.RLock()
	h, life := s.homes[m.Resource], s.lives[from]
	s.mu.RUnlock()
	if m.Incarnation>>lifeBits < life {
		return fmt.Errorf("%w: %v of node %d", ErrOtherLife, m, from)
	}
	if h == nil {
		if h, err = s.stray(m); h == nil {
			return err
		}
	}
	return h.deliver(m, c)
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
