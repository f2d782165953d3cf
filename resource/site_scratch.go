package resource

// scratch is memory for what is said in one step.
type scratch struct {
	in     Message
	out    []Message
	header []byte
}

func (s *Site) scratch() *scratch {
	if c, ok := s.scratches.Get().(*scratch); ok {
		return c
	}
	return new(scratch)
}

func (s *Site) spare(c *scratch) {
	clear(c.out[:cap(c.out)])
	c.out = c.out[:0]
	const most = 64 // elements, for who comes next
	in := Message{}
	if cap(c.in.IDs) <= most {
		in.IDs = c.in.IDs[:0]
	}
	if cap(c.in.Spans) <= most {
		in.Spans = c.in.Spans[:0]
	}
	c.in = in
	s.scratches.Put(c)
}

// send sends a message. One that the transport does not take is lost with the node,
// which the transport's owner says.
func (s *Site) send(to Node, m *Message, c *scratch, lasting bool) {
	c.header = AppendHeader(c.header[:0], m)
	s.counts.sent.Add(1)
	s.counts.bytesOut.Add(uint64(len(m.Bytes)))
	if lasting = lasting && m.Whole; m.Kind == ReleaseMessage {
		_ = s.o.Transport.Post(to, c.header, m.Bytes, lasting)
	} else {
		_ = s.o.Transport.Send(to, c.header, m.Bytes, lasting)
	}
}

// guest is a place for a mirror's request.
func (s *Site) guest() *guestPlace {
	if g, ok := s.guests.Get().(*guestPlace); ok {
		return g
	}
	g := new(guestPlace)
	g.hook = g.granted
	return g
}

// leave takes a place back, which is idle.
func (s *Site) leave(g *guestPlace) {
	g.home = nil
	s.guests.Put(g)
}
