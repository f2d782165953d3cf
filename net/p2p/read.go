package p2p

import (
	"errors"

	"github.com/orwl/go-orwl/net/engine"
	"github.com/orwl/go-orwl/net/p2p/internal/loan"
	"github.com/orwl/go-orwl/net/p2p/internal/transport"
	"github.com/orwl/go-orwl/net/wire"
)

// operations is who executes the other nodes' window operations, and is told of the
// answers to its own. It is called by lanes' readers.
type operations interface {
	// operation takes a frame of another node; its number is that of the call.
	// bulk is good until it returns.
	operation(l *lane, h wire.Head, op *wire.Operation, bulk []byte) error
	// room is where the n bytes of a reply are to be read to; nil: nowhere.
	room(l *lane, r *wire.Reply, n int) []byte
	// reply takes the answer to a call that l.calls had waiting.
	reply(l *lane, r *wire.Reply, bulk []byte)
	// shut is told that this node is closed.
	shut()
	// lost is told of a node that is gone, after everything that came from it.
	lost(peer int, why error)
}

// read takes frames until the stream breaks or something is wrong with them.
func (s *stream) read() error {
	defer s.spares.End()
	for {
		h, body, err := s.in.Next()
		if err != nil {
			return err
		}
		s.lane.node.counts.FramesIn.Add(1)
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
		if err != nil {
			return err
		}
	}
}

// unnumbered takes a frame that is only between the two ends of the stream.
func (s *stream) unnumbered(h wire.Head, body wire.Reader) error {
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
			return protocolError("a beat on the %v lane", l.kind)
		}
		return l.peer.beaten(f)
	case wire.KindRefuse:
		var f wire.Refuse
		if err := f.Parse(body); err != nil {
			return err
		}
		l.peer.lose(&RefusedError{By: l.peer.number, Reason: f.Reason})
		return errSevered
	}
	return protocolError("%v within a stream", h.Kind)
}

// errSevered ends a reader whose stream is over anyway.
var errSevered = errors.New("p2p: stream is over")

// numbered takes a frame that has its place in the order of the lane.
func (s *stream) numbered(h wire.Head, body wire.Reader) error {
	l := s.lane
	switch {
	case h.Number <= s.taken:
		l.node.counts.Duplicates.Add(1)
		if err := s.in.Skip(); err != nil {
			return err
		}
		return s.arrived(h)
	case h.Number > s.taken+1:
		return s.arrived(h) // which says what is missing
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
// somebody may wait to change its bulk; of small ones, some now and then.
func (s *stream) arrived(h wire.Head) error {
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
		s.turn = true
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
func (s *stream) handed() {
	if s.hands {
		s.hands = false
		s.lane.handing.Unlock()
	}
}

// take reads bulk into the stream's own buffer.
func (s *stream) take(h wire.Head) (bulk []byte, err error) {
	if h.Bulk == 0 {
		return nil, nil
	}
	bulk, err = s.in.BulkGrowing(s.bulk)
	if s.bulk = bulk; cap(bulk) > loan.BulkKept {
		s.bulk = nil
	}
	return bulk, err
}

func (s *stream) parcel(h wire.Head, body wire.Reader) error {
	var f wire.Parcel
	if err := f.Parse(body); err != nil {
		return err
	}
	n, from := s.lane.node, s.lane.peer.number
	r, known := n.receiver(f.Channel)
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
	return n.hold(from, f.Channel, f.Header, bulk)
}

// swap hands over a parcel together with the memory that its bulk was read into.
func (s *stream) swap(h wire.Head, f *wire.Parcel, take func(from int, header, bulk []byte) ([]byte, error)) error {
	bulk, err := s.in.BulkGrowing(s.spares.Room(h.Bulk))
	if err == nil {
		err = s.arrived(h)
	}
	if err == nil {
		bulk, err = take(s.lane.peer.number, f.Header, bulk)
	}
	s.spares.Put(bulk)
	return err
}

func (s *stream) operation(h wire.Head, body wire.Reader) error {
	op := &s.operand
	if err := op.Parse(h.Kind, body); err != nil {
		return err
	}
	o := s.lane.node.operations.Load()
	if o == nil {
		return protocolError("%v for a node without windows", h.Kind)
	}
	bulk, err := s.take(h)
	if err == nil {
		err = s.arrived(h)
	}
	if err != nil {
		return err
	}
	s.lane.behind = s.in.Buffered() > 0
	return (*o).operation(s.lane, h, op, bulk)
}

func (s *stream) reply(h wire.Head, body wire.Reader) error {
	r := &s.said
	if err := r.Parse(body); err != nil {
		return err
	}
	l := s.lane
	o := l.node.operations.Load()
	l.mu.Lock()
	waited := l.calls.Answered(r)
	l.mu.Unlock()
	if !waited || o == nil { // whoever asked has given up
		if err := s.in.Skip(); err != nil {
			return err
		}
		return s.arrived(h)
	}
	err := s.answer(h, r, *o)
	if err != nil { // it will come again, by another stream
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.over == nil {
			l.calls.Expect(r.Origin, r.Call)
		}
	}
	return err
}

// answer reads what belongs to a reply, and hands it over.
func (s *stream) answer(h wire.Head, r *wire.Reply, o operations) error {
	var room []byte
	if h.Bulk > 0 {
		room = o.room(s.lane, r, h.Bulk)
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
	o.reply(s.lane, r, room)
	return nil
}

// bye takes that the peer leaves: it has sent everything, and hears that it has come.
func (s *stream) bye(body wire.Reader) error {
	if err := body.Done(); err != nil {
		return err
	}
	s.lane.peer.left()
	s.lane.acknowledge()
	return nil
}
