package engine_test

import (
	"bytes"
	"errors"
	"testing"

	"pgregory.net/rapid"

	"github.com/orwl/go-orwl/net/engine"
	"github.com/orwl/go-orwl/net/wire"
)

// lane is a Link beside what it should be: a slice of frames.
type lane struct {
	engine.Link
	frames  [][]byte // all that were put, with their bulk
	written int      // how many of them any stream had
	acked   int

	sent    int // how many this stream has
	resumed int // from where
}

// TestModel does anything to a Link, and the same to a slice.
func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := new(lane)
		t.Repeat(map[string]func(*rapid.T){
			"":       l.check,
			"put":    l.put,
			"take":   l.take,
			"ack":    l.ack,
			"resume": l.resume,
			"lie":    l.lie,
		})
	})
}

// put appends a frame, with a header and bulk of any size that makes a difference.
func (l *lane) put(t *rapid.T) {
	header := make([]byte, rapid.SampledFrom([]int{0, 10, 100, 5000, 40000}).Draw(t, "header"))
	bulk := bytes.Repeat([]byte{byte(len(l.frames))}, rapid.SampledFrom([]int{0, 0, 1, 4000, 8192, 8193, 20000}).Draw(t, "bulk"))
	parcel := wire.Parcel{Channel: uint64(len(l.frames)), Header: header}
	h := wire.Head{Number: l.Next(), Bulk: len(bulk)}
	if h.Number != uint64(len(l.frames)+1) {
		t.Fatalf("the next of %d frames is %d", len(l.frames), h.Number)
	}
	room := rapid.SampledFrom([]int{len(header) + 40, 10}).Draw(t, "room") // 10 is not enough
	l.Put(parcel.Append(l.Room(room), h), bulk)
	l.frames = append(l.frames, wire.AppendBulk(parcel.Append(nil, h), bulk))
}

// take takes the pieces to write: first, on a new stream, maybe frames that were acknowledged,
// then exactly the others.
func (l *lane) take(t *rapid.T) {
	pending := l.Pending()
	stream := taken(&l.Link)
	if pending != (len(stream) > 0) {
		t.Fatalf("pending is %v, and %d bytes are written", pending, len(stream))
	}
	want := bytes.Join(l.frames[max(l.sent, l.acked):], nil)
	again, ok := bytes.CutSuffix(stream, want)
	if !ok {
		t.Fatalf("%d frames, %d of them on this stream: %d bytes are written, which do not end with the %d of the others",
			len(l.frames), l.sent, len(stream), len(want))
	}
	before := bytes.Join(l.frames[:max(l.sent, l.acked)], nil)
	if whole := starts(again); !bytes.HasSuffix(before, again) || whole[len(whole)-1] != len(again) {
		t.Fatalf("frames before %d are written again, but not as they were", l.sent)
	}
	if len(again) > 0 && l.sent > l.resumed {
		t.Fatalf("%d bytes are written again on the same stream", len(again))
	}
	l.sent, l.written = len(l.frames), len(l.frames)
}

// ack acknowledges anything that was written.
func (l *lane) ack(t *rapid.T) {
	number := l.number(t)
	if err := l.Acked(uint64(number)); err != nil {
		t.Fatal(err)
	}
	l.acked = max(l.acked, number)
}

// resume begins a stream anywhere.
func (l *lane) resume(t *rapid.T) {
	number := l.number(t)
	if err := l.Resume(uint64(number)); err != nil {
		t.Fatal(err)
	}
	l.acked = max(l.acked, number)
	l.sent, l.resumed = l.acked, l.acked
}

// number is the number of a frame that was written, often the last, or 0.
func (l *lane) number(t *rapid.T) int {
	return rapid.OneOf(rapid.Just(l.written), rapid.IntRange(0, l.written)).Draw(t, "number")
}

// lie acknowledges what was not written.
func (l *lane) lie(t *rapid.T) {
	number := uint64(l.written + 1 + rapid.IntRange(0, 3).Draw(t, "more"))
	if err := l.Acked(number); !errors.Is(err, engine.ErrResume) {
		t.Fatalf("frame %d of %d is acknowledged: %v", number, l.written, err)
	}
	if err := l.Resume(number); !errors.Is(err, engine.ErrResume) {
		t.Fatalf("frame %d of %d is where to resume: %v", number, l.written, err)
	}
}

// check compares what is kept. It may be more than needed: a piece of the log where only one
// frame is not acknowledged.
func (l *lane) check(t *rapid.T) {
	least := 0
	for _, f := range l.frames[l.acked:] {
		least += len(f)
	}
	most := least
	if least > 0 {
		most += 48 << 10
	}
	if kept := l.Kept(); kept < least || kept > most || l.Settled() != (least == 0) {
		t.Fatalf("%d bytes are kept for %d, settled is %v", kept, least, l.Settled())
	}
}
