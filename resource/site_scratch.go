package resource

import "github.com/orwl/go-orwl/resource/internal/coherence"

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
	if cap(c.in.Spans) > most {
		c.in.Spans = nil
	}
	s.scratches.Put(c)
}

// send sends a message. If the transport does not take it, the message is lost with the
// node, and the transport's owner says so.
func (s *Site) send(to Node, m *coherence.Message, c *scratch, lasting bool) {
	c.header = coherence.AppendHeader(c.header[:0], m)
	s.counts.sent.Add(1)
	s.counts.bytesOut.Add(uint64(len(m.Bytes)))
	if lasting = lasting && m.Whole; m.Kind == coherence.ReleaseMessage && !m.Recalled {
		_ = s.o.Transport.Post(to, c.header, m.Bytes, lasting)
	} else {
		_ = s.o.Transport.Send(to, c.header, m.Bytes, lasting)
	}
}

// guest is an idle guest of a home.
func (s *Site) guest(h *home) *guest {
	g, ok := s.guests.Get().(*guest)
	if !ok {
		g = new(guest)
	}
	g.home, g.r = h, h.r
	return g
}

// leave takes a guest back, which is idle.
func (s *Site) leave(g *guest) {
	g.home = nil
	g.state.Set(0)
	s.guests.Put(g)
}
