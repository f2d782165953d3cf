package engine_test

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/orwl/go-orwl/net/engine"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/wire"
)

// mistake is one that an endpoint makes on purpose.
type mistake string

const (
	none            mistake = "none"
	neverTells      mistake = "never acknowledges"
	takesDuplicates mistake = "takes duplicates"
	takesEarly      mistake = "acknowledges before taking"
	believesAll     mistake = "accepts any reply"
)

// endpoint is one node: what package p2p makes of this package, without sockets.
type endpoint struct {
	link   engine.Link
	agent  *engine.Agent
	calls  engine.Calls
	memory *memory
	answer func(r wire.Reply, bulk []byte) error // to a rank

	mistake mistake
	in      []byte // the beginning of the next frames
	early   bool   // the first of them was taken before it was complete
	refused int    // replies without a waiting caller
	pieces  []engine.Piece
}

// room fills in the head of the lane's next frame, and returns where it goes.
func (e *endpoint) room(h *wire.Head, bulk []byte) []byte {
	h.Number, h.Bulk = e.link.Next(), len(bulk)
	return e.link.Room(80)
}

// operate sends an operation, and waits for it if the kind has an answer.
func (e *endpoint) operate(k wire.Kind, op wire.Operation, bulk []byte, waits bool) {
	h := wire.Head{Kind: k}
	room := e.room(&h, bulk)
	e.link.Put(op.Append(room, h), bulk)
	if waits {
		e.calls.Expect(op.Origin, h.Number)
	}
}

// reply sends the answer to an operation.
func (e *endpoint) reply(r wire.Reply, read []byte) {
	var h wire.Head
	room := e.room(&h, read)
	e.link.Put(r.Append(room, h), read)
}

// acknowledge appends an acknowledgement, if one is due.
func (e *endpoint) acknowledge(now bool) {
	if e.mistake != neverTells {
		e.link.Acknowledge(now)
	}
}

// write appends the pending output to a stream.
func (e *endpoint) write(stream []byte) []byte {
	e.pieces = e.link.Take(e.pieces[:0])
	for _, p := range e.pieces {
		stream = p.Append(stream)
	}
	return stream
}

// resume begins with a new stream.
func (e *endpoint) resume(taken uint64) error {
	e.in, e.early = e.in[:0], false
	return e.link.Resume(taken)
}

// receive takes bytes of a stream, and the frames that are complete with them.
func (e *endpoint) receive(b []byte) error {
	e.in = append(e.in, b...)
	at := 0
	for {
		rest := e.in[at:]
		size, err := wire.HeaderSize(rest)
		if err != nil {
			return err
		}
		if size == 0 || size > len(rest) {
			break
		}
		h, body, err := wire.ParseHead(rest[4:size], 1<<20)
		if err != nil {
			return err
		}
		whole := size + wire.BulkSize(h.Bulk)
		if whole > len(rest) {
			if e.mistake == takesEarly && !e.early {
				e.early = e.link.Arrived(h.Number, size) == nil
			}
			break
		}
		bulk := rest[size : size+h.Bulk]
		if !bytes.Equal(rest[size:whole], wire.AppendBulk(nil, bulk)) {
			return wire.ErrChecksum
		}
		if err := e.frame(h, body, bulk); err != nil {
			return err
		}
		at += whole
	}
	e.in = e.in[:copy(e.in, e.in[at:])]
	return nil
}

var errProtocol = errors.New("not what a node sends")

// frame takes one frame.
func (e *endpoint) frame(h wire.Head, body wire.Reader, bulk []byte) error {
	if h.Kind == wire.KindAck {
		var ack wire.Ack
		if err := ack.Parse(body); err != nil {
			return err
		}
		return e.link.Acked(ack.Number)
	}
	if !h.Kind.Numbered() {
		return fmt.Errorf("%w: %v", errProtocol, h.Kind)
	}
	if e.early {
		e.early = false
	} else if err := e.link.Arrived(h.Number, len(bulk)+16); err == engine.ErrDuplicate && e.mistake != takesDuplicates {
		return nil
	} else if err != nil && err != engine.ErrDuplicate {
		return err
	}
	switch {
	case h.Kind == wire.KindReply:
		var r wire.Reply
		if err := r.Parse(body); err != nil {
			return err
		}
		if !e.calls.Answered(&r) && e.mistake != believesAll {
			e.refused++
			return nil
		}
		return e.answer(r, bulk)
	case h.Kind.Operation():
		var op wire.Operation
		if err := op.Parse(h.Kind, body); err != nil {
			return err
		}
		reply, read, answers, err := e.agent.Step(h.Kind, h.Number, &op, bulk)
		if err == nil && answers {
			e.reply(reply, read)
		}
		return err
	}
	return fmt.Errorf("%w: %v", errProtocol, h.Kind)
}

// pair are two endpoints, of ranks 0 to ranks-1 and ranks to 2*ranks-1.
func pair(ranks, words int) [2]*endpoint {
	var both [2]*endpoint
	for i := range both {
		m := &memory{words: make([]uint64, words)}
		for p := range ranks {
			m.here = append(m.here, rma.Rank(i*ranks+p))
			m.peers = append(m.peers, rma.Rank((1-i)*ranks+p))
		}
		both[i] = &endpoint{memory: m, agent: engine.NewAgent(m), mistake: none}
	}
	return both
}
