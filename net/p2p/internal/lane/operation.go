package lane

import (
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/wire"
)

// Tell appends an operation that is not answered. More will follow it, or a Flush.
func (l *Lane) Tell(k wire.Kind, op *wire.Operation, bulk []byte) {
	l.mu.Lock()
	if l.over != nil { // the window is about to fail
		l.mu.Unlock()
		return
	}
	l.request(k, op, bulk)
	l.leave()
}

// Ask appends an operation that is answered, and returns its number. The answer goes to
// the rank that is the operation's origin.
func (l *Lane) Ask(k wire.Kind, op *wire.Operation, bulk []byte) (number uint64) {
	l.mu.Lock()
	if l.over != nil { // the window is about to fail
		l.mu.Unlock()
		return 0
	}
	number = l.link.Next()
	l.calls.Expect(op.Origin, number)
	l.request(k, op, bulk)
	l.release()
	return number
}

// request appends an operation. l.mu is held.
func (l *Lane) request(k wire.Kind, op *wire.Operation, bulk []byte) {
	const most = 64 // bytes of an operation
	l.put(k, op.Append(l.link.Room(most), wire.Head{Kind: k, Number: l.link.Next(), Bulk: len(bulk)}), bulk)
}

// Answer appends a reply. A node that asks and does not take the answers is given up.
// The reply is written at once, unless more replies are about to come.
func (l *Lane) Answer(r *wire.Reply, bulk []byte, more bool) {
	l.mu.Lock()
	if err := l.open(); err != nil {
		l.mu.Unlock()
		l.up.Lose(err) // if it is not lost anyway
		return
	}
	const most = 48 // bytes of a reply
	h := wire.Head{Number: l.link.Next(), Bulk: len(bulk)}
	l.put(wire.KindReply, r.Append(l.link.Room(most), h), bulk)
	if more {
		l.leave()
	} else {
		l.release()
	}
}

// Behind reports whether the reader has more to take already. Only an operation asks.
func (l *Lane) Behind() bool { return l.behind }

// expect has the calls wait for an answer again, which will come by another stream.
func (l *Lane) expect(origin rma.Rank, call uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over == nil {
		l.calls.Expect(origin, call)
	}
}

// desk gives a stream's writing to one goroutine at a time: a step function beside engine.Link, without
// input and output. Lane.mu is held for each step.
//
//	         begin              end
//	free ──────────▶ writing ────────▶ free
//
// One goroutine at a time owns the desk, from begin to end, and only that one writes. Mostly
// it is the stream's writer. A goroutine that has just appended an answer takes the desk
// itself if direct says so: that saves the way through the writer.
type desk struct {
	writing bool   // a goroutine owns the desk
	crowded bool   // several frames went in the writer's last write
	turn    bool   // a frame was received since the last write
	last    uint64 // the number of the next frame, at the last write
}

// directUpTo is how many bytes may be on their way if the goroutine that issues one more frame
// also writes it. The other end of yamux tells when half of its window is free. directUpTo is
// less than the rest of the smallest window before that, so the write does not block.
const directUpTo = 64 << 10

// direct reports whether a goroutine that has appended a frame writes it, with so many
// bytes on their way. If a frame was received since the last write, and no other goroutine
// has anything to say, then this one is the answer to it, or the next question.
func (d *desk) direct(kept int) bool {
	return d.turn && !d.crowded && !d.writing && kept <= directUpTo
}

// begin takes the desk. Next is the number of the next frame. Only the writer itself
// learns whether frames crowd.
func (d *desk) begin(next uint64, writer bool) {
	if writer {
		d.crowded = next > d.last+1
	}
	d.last, d.turn, d.writing = next, false, true
}

// end gives the desk back.
func (d *desk) end() { d.writing = false }

// received notes that a frame has come.
func (d *desk) received() { d.turn = true }
