package engine

import (
	"errors"
	"fmt"

	"github.com/orwl/go-orwl/net/wire"
)

// Link is one end of a lane between two nodes: a log of the frames that go out, and
// a count of the frames that come in. A stream may break, and the lane goes on: on the
// next stream each end says how many frames of the other it has taken, and the other
// goes on writing there.
//
//	           acknowledged     written          appended
//	log   ──────────┼──────────────┼─────────────────┼──▶
//	      forgotten      kept            kept, to be written
//
// So each frame is taken exactly once and in order, by number; a frame that comes
// again is known by it. A Link is used by one goroutine at a time.
type Link struct {
	// The outgoing half.
	log      []piece
	next     int    // the piece that is written next
	offset   int    // how many of its bytes are written
	appended uint64 // number of the last frame
	sent     uint64 // number of the last frame that this stream has, or need not have
	written  uint64 // number of the last frame that any stream had
	acked    uint64
	kept     int    // bytes in log
	loose    []byte // frames without a number, to be written before anything else
	spare    []byte // memory of earlier loose frames

	// The incoming half.
	taken uint64 // number of the last frame
	told  uint64 // number of the last frame that was acknowledged
	owed  int    // bytes taken since then
}

// piece is some of the log: whole frames, or frames where the last has its bulk in the next
// piece, or that bulk. A piece is kept until all of it is acknowledged. A new stream starts
// with a whole piece, so that bulk is never separated from its header.
type piece struct {
	bytes []byte
	last  uint64 // number of the last frame that is in it, or whose bulk it is
	full  bool   // it is bulk: the next frame begins another piece
}

// size is how many bytes are written of it.
func (p *piece) size() int {
	if p.full {
		return wire.BulkSize(len(p.bytes))
	}
	return len(p.bytes)
}

const (
	// chunk is the size of the pieces that frames are collected in.
	chunk = 32 << 10
	// ackAfter is how many bytes are taken, at most, before they are acknowledged.
	ackAfter = 64 << 10
	// copied is up to which size bulk is copied into the log.
	copied = 8 << 10
)

var (
	// ErrDuplicate is a frame that was taken before: leave it at that.
	ErrDuplicate = errors.New("engine: frame was taken before")
	// ErrGap is a frame before which some are missing: the stream cannot be
	// trusted any more.
	ErrGap = errors.New("engine: frames are missing")
	// ErrResume is a peer that has taken frames which were never written.
	ErrResume = errors.New("engine: the peer counts frames that it cannot have")
)

// Next is the number of the frame that is appended next.
func (l *Link) Next() uint64 { return l.appended + 1 }

// Room returns the place for the next frame, whose header should not be longer than size. Pass
// the result to Put; use the Link for nothing else in between.
func (l *Link) Room(size int) []byte {
	if n := len(l.log); n > 0 {
		if p := &l.log[n-1]; !p.full && cap(p.bytes)-len(p.bytes) >= size {
			return p.bytes
		}
	}
	return l.open(size).bytes
}

// open begins a new piece of the log with room for size bytes.
func (l *Link) open(size int) *piece {
	l.log = append(l.log, piece{bytes: make([]byte, 0, max(size, chunk)), last: l.appended})
	return &l.log[len(l.log)-1]
}

// Put takes what Room has returned with a frame at its end, which has the number
// that Next was. Small bulk is copied; other bulk must stay as it is until the
// frame is acknowledged, or the Link ends.
func (l *Link) Put(room, bulk []byte) {
	p := &l.log[len(l.log)-1]
	header, small := room[len(p.bytes):], len(bulk)
	if small > copied {
		small = 0
	}
	if cap(room) != cap(p.bytes) || cap(room)-len(room) < wire.BulkSize(small) {
		p = l.open(len(header) + wire.BulkSize(small)) // both, since nothing may come between them
		room = append(p.bytes, header...)
	}
	l.appended++
	p.bytes, p.last = wire.AppendBulk(room, bulk[:small]), l.appended
	l.kept += len(header) + wire.BulkSize(small)
	if small == len(bulk) {
		return
	}
	l.log = append(l.log, piece{bytes: bulk, last: l.appended, full: true})
	l.kept += wire.BulkSize(len(bulk))
	if rest := room[len(room):]; cap(rest) > chunk/4 {
		l.log = append(l.log, piece{bytes: rest, last: l.appended})
	}
}

// PutLoose appends a frame without a number, which is written once or never.
func (l *Link) PutLoose(append func(b []byte) []byte) { l.loose = append(l.loose) }

// Piece is something to write: frames as they are, or bulk. The writer of bulk also writes its
// checksum behind it.
type Piece struct {
	Bytes []byte
	Bulk  bool
}

// Append appends the piece in its written form.
func (p Piece) Append(b []byte) []byte {
	if p.Bulk {
		return wire.AppendBulk(b, p.Bytes)
	}
	return append(b, p.Bytes...)
}

// Take appends to out the pieces to write now, and counts them as written. They stay valid
// until they are acknowledged; the loose frames, which come first, until the next Take or
// Resume.
func (l *Link) Take(out []Piece) []Piece {
	if len(l.loose) > 0 {
		out = append(out, Piece{Bytes: l.loose})
		l.loose, l.spare = l.spare[:0], l.loose
	}
	for ; l.next < len(l.log); l.next, l.offset = l.next+1, 0 {
		p := &l.log[l.next]
		if len(p.bytes) > l.offset {
			out = append(out, Piece{p.bytes[l.offset:len(p.bytes):len(p.bytes)], p.full})
		}
		if l.next == len(l.log)-1 && !p.full {
			l.offset = len(p.bytes) // more may come into it
			break
		}
	}
	l.sent = l.appended
	l.written = l.appended
	return out
}

// Pending reports whether Take would return something.
func (l *Link) Pending() bool { return len(l.loose) > 0 || l.sent < l.appended }

// Acked takes the peer's word that it has taken all frames up to a number.
func (l *Link) Acked(number uint64) error {
	if number > l.written {
		return fmt.Errorf("%w: frame %d, the last that was written is %d", ErrResume, number, l.written)
	}
	if number <= l.acked {
		return nil
	}
	l.acked, l.sent = number, max(l.sent, number)
	n := 0
	for n < len(l.log) && l.log[n].last <= number {
		l.kept -= l.log[n].size()
		n++
	}
	if n == 0 {
		return nil
	}
	if n > l.next {
		l.next, l.offset = n, 0
	}
	last := l.log[len(l.log)-1]
	clear(l.log[copy(l.log, l.log[n:]):])
	l.log, l.next = l.log[:len(l.log)-n], l.next-n
	if rest := last.bytes[len(last.bytes):]; len(l.log) == 0 && !last.full && cap(rest) > chunk/4 {
		l.log = append(l.log, piece{bytes: rest, last: number})
	}
	return nil
}

// Again is how many frames were written and will be once more, if a new stream's other
// end has taken those up to a number.
func (l *Link) Again(number uint64) uint64 { return l.written - min(l.written, max(number, l.acked)) }

// Resume begins with a new stream, whose other end has taken all frames up to a
// number, or more: what it has acknowledged on an old stream since it said so counts
// too. Nobody writes to the old stream any more.
func (l *Link) Resume(number uint64) error {
	if err := l.Acked(number); err != nil {
		return err
	}
	l.next, l.offset, l.sent, l.loose = 0, 0, l.acked, l.loose[:0]
	return nil
}

// Due reports by its error what Arrived would say to a frame of a number, and takes
// nothing. It tells where to read bulk to, or to skip it.
func (l *Link) Due(number uint64) error {
	switch {
	case number <= l.taken:
		return ErrDuplicate
	case number > l.taken+1:
		return fmt.Errorf("%w: %d came after %d", ErrGap, number, l.taken)
	}
	return nil
}

// Arrived takes a frame of a number and size. All of the frame must be here: if its stream
// breaks from now on, the frame does not come again. ErrDuplicate and ErrGap say what to do
// with it.
func (l *Link) Arrived(number uint64, size int) error {
	err := l.Due(number)
	switch err {
	case nil:
		l.taken = number
	case ErrDuplicate:
		// The peer does not know that it was taken, or would not have sent it.
		l.told = min(l.told, number-1)
	default:
		return err
	}
	l.owed += size
	return err
}

// Taken is the number of the last frame that has arrived; the peer resumes after it.
// Frames may still come from the old stream after the peer was told. Those come again on
// the new stream, and bulk that was not copied may have changed, since the frames are
// acknowledged meanwhile. Skip the bulk of such a frame unread, as of every duplicate.
func (l *Link) Taken() uint64 { return l.taken }

// Acknowledge appends an acknowledgement of all that has arrived and was not yet
// acknowledged, if that is enough, or anything and it is now or never. It returns
// how many bytes that were.
func (l *Link) Acknowledge(now bool) int {
	if l.taken == l.told || l.owed < ackAfter && !now {
		return 0
	}
	l.told, l.owed = l.taken, 0
	f, before := wire.Ack{Number: l.taken}, len(l.loose)
	l.loose = f.Append(l.loose)
	return len(l.loose) - before
}

// Kept is how many bytes of the log are not acknowledged.
func (l *Link) Kept() int { return l.kept }

// Settled reports whether every frame that was appended is acknowledged.
func (l *Link) Settled() bool { return l.acked == l.appended }

// Delivered reports whether the peer has acknowledged a frame.
func (l *Link) Delivered(number uint64) bool { return l.acked >= number }

// Restart forgets all about the peer's last life: it numbers anew, and has taken
// nothing.
func (l *Link) Restart() { *l = Link{} }
