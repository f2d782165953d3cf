package resource

// scratch is memory for what is said in one step.
type scratch struct {
	in     Message // nothing in it outlives its step, but room in its lists
	out    []Message
	header []byte
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
	c.said()
	c.in.Bytes, c.in.valid = nil, nil
	if cap(c.in.IDs) > most {
		c.in.IDs = nil
	}
	if cap(c.in.Spans) > most {
		c.in.Spans = nil
	}
	s.scratches.Put(c)
}

// said forgets what was sent.
func (c *scratch) said() {
	clear(c.out)
	c.out = c.out[:0]
}

// send sends a message. One that the transport does not take is lost with the node,
// which the transport's owner says.
func (s *Site) send(to Node, m *Message, c *scratch, lasting bool) {
	c.header = AppendHeader(c.header[:0], m)
	s.counts.sent.Add(1)
	s.counts.bytesOut.Add(uint64(len(m.Bytes)))
	if lasting = lasting && m.Whole; m.Kind == ReleaseMessage && !m.asked {
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
