package lane

import (
	"github.com/orwl/go-orwl/net/engine"
	"github.com/orwl/go-orwl/net/p2p/internal/loan"
	"github.com/orwl/go-orwl/net/p2p/internal/transport"
	"github.com/orwl/go-orwl/net/wire"
)

// read takes frames until the stream breaks or something is wrong with them.
func (s *Stream) read() error {
	defer s.spares.End()
	for s.ring == nil {
		if err := s.frame(); err != nil {
			return err
		}
	}
	return s.readRing()
}

// frame takes a frame.
func (s *Stream) frame() error {
	h, body, err := s.in.Next()
	if err != nil {
		return err
	}
	s.lane.node.Counts.FramesIn.Add(1)
	if s.lane.kind == transport.Data {
		s.lane.node.bulky.Add(1)
	}
	s.lane.in.add(h.Kind, s.in.Size())
	if h.Kind.Numbered() {
		err = s.numbered(h, body)
		s.handed()
	} else {
		err = s.unnumbered(h, body)
	}
	return err
}

// unnumbered takes a frame that is only between the two ends of the stream.
func (s *Stream) unnumbered(h wire.Head, body wire.Reader) error {
	l := s.lane
	switch h.Kind {
	case wire.KindAck:
		var f wire.Ack
		if err := f.Parse(body); err != nil {
			return err
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		if s.broken {
			return errSevered
		}
		err := l.link.Acked(f.Number)
		if err == nil {
			l.settle(f.Number)
		}
		l.progressed()
		return err
	case wire.KindBeat:
		var f wire.Beat
		if err := f.Parse(body); err != nil {
			return err
		}
		if l.kind != transport.Control {
			return Protocol("a beat on the %v lane", l.kind)
		}
		return l.up.Beaten(f)
	case wire.KindRing:
		var f wire.Ring
		if err := f.Parse(body); err != nil {
			return err
		}
		return s.follow(f)
	case wire.KindRefuse:
		var f wire.Refuse
		if err := f.Parse(body); err != nil {
			return err
		}
		l.up.Refused(f.Reason)
		return errSevered
	}
	return Protocol("%v within a stream", h.Kind)
}

// numbered takes a frame that has its place in the order of the lane.
func (s *Stream) numbered(h wire.Head, body wire.Reader) error {
	l := s.lane
	switch {
	case h.Number <= s.taken:
		l.node.Counts.Duplicates.Add(1)
		if err := s.in.Skip(); err != nil {
			return err
		}
		return s.arrived(h)
	case h.Number > s.taken+1:
		return s.arrived(h) // it says which frames are missing
	case h.Kind == wire.KindParcel:
		return s.parcel(h, body)
	case h.Kind == wire.KindLoan:
		return s.loan(h, body)
	case h.Kind == wire.KindReply:
		return s.reply(h, body)
	case h.Kind.Operation():
		return s.operation(h, body)
	}
	if err := s.arrived(h); err != nil {
		return err
	}
	return s.bye(body)
}

// arrived says that a frame has been taken. Each large one is acknowledged, since
// its sender may wait to change the bulk; of small ones, some now and then.
func (s *Stream) arrived(h wire.Head) error {
	l := s.lane
	if l.kind == transport.Data {
		l.handing.Lock()
		s.hands = true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if s.broken {
		return errSevered
	}
	switch err := l.link.Arrived(h.Number, s.in.Size()); err {
	case nil:
		s.taken++
		s.desk.received()
	case engine.ErrDuplicate:
	default:
		return err
	}
	if l.says(l.kind == transport.Data); l.link.Pending() {
		l.work.Signal()
	}
	return nil
}

// handed says that what has arrived is handed over.
func (s *Stream) handed() {
	if s.hands {
		s.hands = false
		s.lane.handing.Unlock()
	}
}

// take reads bulk into the stream's own buffer.
func (s *Stream) take(h wire.Head) (bulk []byte, err error) {
	if h.Bulk == 0 {
		return nil, nil
	}
	bulk, err = s.in.BulkGrowing(s.bulk)
	if s.bulk = bulk; cap(bulk) > loan.BulkKept {
		s.bulk = nil
	}
	return bulk, err
}

func (s *Stream) parcel(h wire.Head, body wire.Reader) error {
	var f wire.Parcel
	if err := f.Parse(body); err != nil {
		return err
	}
	n, from := s.lane.node, s.lane.peer
	r, known := n.Parcels.Receiver(f.Channel)
	if known && r.Swap != nil && h.Bulk >= loan.Worthwhile {
		return s.swap(h, &f, r.Swap)
	}
	bulk, err := s.take(h)
	if err == nil {
		err = s.arrived(h)
	}
	if err != nil {
		return err
	}
	if known {
		return r.Take(from, f.Header, bulk)
	}
	return n.Parcels.Hold(from, f.Channel, f.Header, bulk)
}

// swap hands over a parcel together with the memory that its bulk was read into.
func (s *Stream) swap(h wire.Head, f *wire.Parcel, take func(from int, header, bulk []byte) ([]byte, error)) error {
	bulk, err := s.in.BulkGrowing(s.spares.Room(h.Bulk))
	if err == nil {
		err = s.arrived(h)
	}
	if err == nil {
		bulk, err = take(s.lane.peer, f.Header, bulk)
	}
	s.spares.Put(bulk)
	return err
}

func (s *Stream) operation(h wire.Head, body wire.Reader) error {
	op := &s.operand
	if err := op.Parse(h.Kind, body); err != nil {
		return err
	}
	o := s.lane.node.operations.Load()
	if o == nil {
		return Protocol("%v for a node without windows", h.Kind)
	}
	bulk, err := s.take(h)
	if err == nil {
		err = s.arrived(h)
	}
	if err != nil {
		return err
	}
	s.lane.behind = s.more()
	return (*o).Operation(s.lane, h, op, bulk)
}

func (s *Stream) reply(h wire.Head, body wire.Reader) error {
	r := &s.said
	if err := r.Parse(body); err != nil {
		return err
	}
	l := s.lane
	o := l.node.operations.Load()
	l.mu.Lock()
	waited := l.calls.Answered(r)
	l.mu.Unlock()
	if !waited || o == nil { // the caller has given up
		if err := s.in.Skip(); err != nil {
			return err
		}
		return s.arrived(h)
	}
	err := s.answer(h, r, *o)
	if err != nil { // it will come again, by another stream
		l.expect(r.Origin, r.Call)
	}
	return err
}

// answer reads what belongs to a reply, and hands it over.
func (s *Stream) answer(h wire.Head, r *wire.Reply, o Operations) error {
	var room []byte
	if h.Bulk > 0 {
		room = o.Room(r, h.Bulk)
	}
	var err error
	if len(room) == h.Bulk {
		err = s.in.Bulk(room)
	} else {
		room, err = nil, s.in.Skip()
	}
	if err == nil {
		err = s.arrived(h)
	}
	if err != nil {
		return err
	}
	o.Reply(r, room)
	return nil
}

// bye takes that the peer leaves: it has sent everything, and hears that it has come.
func (s *Stream) bye(body wire.Reader) error {
	if err := body.Done(); err != nil {
		return err
	}
	l := s.lane
	l.mu.Lock()
	l.says(true)
	l.mu.Unlock()
	l.up.Left()     // this may end the stream, after the last frame
	l.Acknowledge() // it is written only now: the peer goes when it reads it
	return nil
}
