package engine_test

import (
	"bytes"
	"errors"
	"runtime"
	"testing"
	"weak"

	"github.com/orwl/go-orwl/net/engine"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/wire"
)

// put appends a parcel.
func put(l *engine.Link, header, bulk []byte) {
	parcel := wire.Parcel{Channel: 1, Header: header}
	h := wire.Head{Number: l.Next(), Bulk: len(bulk)}
	l.Put(parcel.Append(l.Room(len(header)+40), h), bulk)
}

// taken is all that Take returns, in one piece.
func taken(l *engine.Link) []byte { return joined(l.Take(nil)) }

// joined is what is written of pieces.
func joined(pieces []engine.Piece) (stream []byte) {
	for _, p := range pieces {
		stream = p.Append(stream)
	}
	return stream
}

// numbers are the numbers of the frames of a stream. All frames are complete.
func numbers(t *testing.T, stream []byte) (all []uint64) {
	t.Helper()
	at := starts(stream)
	for i, from := range at[:len(at)-1] {
		h, _, err := wire.ParseHead(stream[from+4:at[i+1]], wire.MaxBulk)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, h.Number)
	}
	if end := at[len(at)-1]; end != len(stream) {
		t.Fatalf("no frame begins with the last %d of %d bytes", len(stream)-end, len(stream))
	}
	return all
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestOnce lets nothing be written twice on a stream.
func TestOnce(t *testing.T) {
	var l engine.Link
	var want uint64
	for range 2000 {
		put(&l, make([]byte, 30), nil)
		want++
		if !l.Pending() {
			t.Fatal("nothing is to be written though a frame was put")
		}
		if got := numbers(t, taken(&l)); len(got) != 1 || got[0] != want {
			t.Fatalf("frames %d are written after frame %d was put", got, want)
		}
		if l.Pending() || len(taken(&l)) > 0 {
			t.Fatal("more is written than was put")
		}
	}
}

// TestBulkStays lets bulk with capacity behind it be followed by frames, which must
// not go there, and gives away nothing with capacity behind it.
func TestBulkStays(t *testing.T) {
	for _, n := range []int{1, 8192, 8193, 40000} {
		whole := make([]byte, n, n+4096)
		var l engine.Link
		for range 20 {
			put(&l, make([]byte, 3000), whole) // a chunk is full after a few
			put(&l, nil, nil)
		}
		if behind := whole[n : n+4096]; !bytes.Equal(behind, make([]byte, 4096)) {
			t.Errorf("frames were written behind bulk of %d bytes", n)
		}
		for _, p := range l.Take(nil) {
			if cap(p.Bytes) != len(p.Bytes) {
				t.Errorf("a piece of %d bytes has a capacity of %d", len(p.Bytes), cap(p.Bytes))
			}
		}
	}
}

// TestSmallBulkIsCopied overwrites bulk that was put: up to 8 KiB this changes nothing.
func TestSmallBulkIsCopied(t *testing.T) {
	for n, copied := range map[int]bool{100: true, 8192: true, 8193: false} {
		var l engine.Link
		for range 20 { // so that some find a chunk full
			bulk := bytes.Repeat([]byte{1}, n)
			put(&l, nil, bulk)
			clear(bulk)
		}
		pieces := l.Take(nil)
		stream := joined(pieces)
		for _, p := range pieces {
			if len(p.Bytes) > 32<<10 {
				t.Errorf("a piece of the log has %d bytes", len(p.Bytes))
			}
		}
		if got := bytes.Count(stream, make([]byte, n)) == 0; got != copied {
			t.Errorf("bulk of %d bytes was copied: %v, want %v", n, got, copied)
		}
		if got := len(numbers(t, stream)); got != 20 {
			t.Errorf("%d of 20 frames with bulk of %d bytes are there", got, n)
		}
	}
}

// TestLooseFirst writes loose frames before all others, once, and not on a new stream.
func TestLooseFirst(t *testing.T) {
	var l engine.Link
	beat := wire.Beat{Sent: 7}
	want := beat.Append(nil)
	put(&l, nil, nil)
	l.PutLoose(beat.Append)
	first := l.Take(nil)
	if len(first) != 2 || !bytes.Equal(first[0].Bytes, want) {
		t.Fatalf("written: %v", first)
	}
	other := wire.Beat{Sent: 8}
	l.PutLoose(other.Append)
	if !bytes.Equal(first[0].Bytes, want) {
		t.Error("what was taken changes before the next Take")
	}
	must(t, l.Resume(0))
	if got := l.Take(nil); len(got) != 1 || !bytes.Equal(got[0].Bytes, first[1].Bytes) {
		t.Errorf("on a new stream: %v", got)
	}
}

// TestAcks acknowledges early when asked, else after 64 KiB, and again if the peer
// has not heard it.
func TestAcks(t *testing.T) {
	var l engine.Link
	ack := func(number uint64) []byte { return (&wire.Ack{Number: number}).Append(nil) }
	told := func(when string, want []byte) {
		t.Helper()
		if got := taken(&l); !bytes.Equal(got, want) {
			t.Errorf("%s: told % x, want % x", when, got, want)
		}
	}
	l.Acknowledge(true)
	told("at first", nil)
	must(t, l.Arrived(1, 100))
	l.Acknowledge(false)
	told("after a little", nil)
	l.Acknowledge(true)
	told("when asked", ack(1))
	l.Acknowledge(true)
	told("when asked again", nil)
	must(t, l.Arrived(2, 60<<10))
	l.Acknowledge(false)
	told("after 60 KiB", nil)
	must(t, l.Arrived(3, 4<<10))
	l.Acknowledge(false)
	told("after 64 KiB", ack(3))
	for _, number := range []uint64{2, 3} {
		if err := l.Arrived(number, 100); err != engine.ErrDuplicate {
			t.Errorf("frame %d for the second time: %v", number, err)
		}
	}
	l.Acknowledge(true)
	told("after what came twice", ack(3))
	if err := l.Arrived(5, 1); !errors.Is(err, engine.ErrGap) || l.Taken() != 3 {
		t.Errorf("frame 5 after 3: %v, taken %d", err, l.Taken())
	}
	l.Acknowledge(true)
	told("after a gap", nil)
}

// TestDue says what Arrived would say, and takes nothing.
func TestDue(t *testing.T) {
	var l engine.Link
	for range 2 {
		if l.Due(1) != nil || l.Due(0) != engine.ErrDuplicate || !errors.Is(l.Due(2), engine.ErrGap) {
			t.Fatalf("%v, %v, %v", l.Due(1), l.Due(0), l.Due(2))
		}
	}
	must(t, l.Arrived(1, 1))
	if l.Due(1) != engine.ErrDuplicate || l.Due(2) != nil {
		t.Fatalf("%v, %v", l.Due(1), l.Due(2))
	}
}

// TestCounts refuses acknowledgements of what was never written.
func TestCounts(t *testing.T) {
	var l engine.Link
	for range 3 {
		put(&l, nil, nil)
	}
	for _, err := range []error{l.Acked(1), l.Resume(1), l.Acked(4)} {
		if !errors.Is(err, engine.ErrResume) {
			t.Errorf("a frame that was not written is acknowledged: %v", err)
		}
	}
	taken(&l)
	put(&l, nil, nil)
	must(t, l.Acked(3))
	must(t, l.Acked(2)) // came late
	if err := l.Acked(4); !errors.Is(err, engine.ErrResume) || l.Settled() {
		t.Errorf("frame 4 is acknowledged before it is written: %v", err)
	}
	must(t, l.Resume(2)) // said before 3 was acknowledged
	if got := numbers(t, taken(&l)); got[len(got)-1] != 4 {
		t.Errorf("on the new stream are frames %d", got)
	}
	must(t, l.Resume(4))
	if l.Pending() || !l.Settled() || l.Kept() != 0 {
		t.Errorf("pending %v, settled %v, %d bytes kept", l.Pending(), l.Settled(), l.Kept())
	}
}

// TestRestart forgets everything.
func TestRestart(t *testing.T) {
	var l engine.Link
	put(&l, nil, make([]byte, 10000))
	must(t, l.Arrived(1, 1))
	l.Restart()
	if l.Next() != 1 || l.Taken() != 0 || l.Pending() || l.Kept() != 0 || !l.Settled() {
		t.Errorf("after a restart: %+v", l)
	}
}

// TestFreed lets go of bulk as soon as it is acknowledged, also in the middle of the log.
func TestFreed(t *testing.T) {
	var l engine.Link
	var bulk []weak.Pointer[byte]
	const frames = 10
	for range frames {
		b := make([]byte, 100000)
		bulk = append(bulk, weak.Make(&b[0]))
		put(&l, nil, b)
		taken(&l)
	}
	for n := range uint64(frames) {
		must(t, l.Acked(n+1))
		runtime.GC()
		for i, p := range bulk {
			if freed := p.Value() == nil; freed != (uint64(i) <= n) {
				t.Fatalf("after %d of %d acknowledgements the bulk of frame %d is freed: %v", n+1, frames, i+1, freed)
			}
		}
	}
	runtime.KeepAlive(&l)
}

// TestMemory runs a lane for long: it keeps what is not acknowledged, and no more.
func TestMemory(t *testing.T) {
	var l engine.Link
	const window, frame = 100, 60
	bytes := allocated(func() {
		for n := range uint64(100000) {
			put(&l, make([]byte, 10), nil)
			l.Take(nil)
			if n > window {
				must(t, l.Acked(n-window))
			}
			if l.Kept() > 2*window*frame+64<<10 {
				t.Fatalf("%d bytes are kept for %d frames", l.Kept(), window)
			}
		}
	})
	if each := bytes / 100000; each > 3*frame {
		t.Errorf("%d bytes are allocated for a frame", each)
	}
}

// TestBulkMemory sends bulk that is not copied: frames between it share a chunk.
func TestBulkMemory(t *testing.T) {
	var l engine.Link
	bulk := make([]byte, 10000)
	n := allocated(func() {
		for n := range uint64(1000) {
			put(&l, make([]byte, 10), bulk)
			l.Take(nil)
			must(t, l.Acked(n+1))
		}
	})
	if n > 1000*1000 {
		t.Errorf("%d bytes are allocated for a frame", n/1000)
	}
}

// allocated is how many bytes of memory a function takes.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// FuzzLink gives an endpoint anything for a stream: it refuses, and goes on with a new
// one as if nothing had been.
func FuzzLink(f *testing.F) {
	source := pair(2, 64)[0]
	for k := wire.KindPut; k <= wire.KindGetBytes; k++ {
		op := wire.Operation{Origin: 0, Target: 2, Disp: 3, A: 1, Length: 16}
		var bulk []byte
		if k == wire.KindPutBytes {
			bulk = make([]byte, 16)
		}
		source.operate(k, op, bulk, false)
	}
	source.reply(wire.Reply{Origin: 2, Call: 1}, nil)
	stream := source.write((&wire.Ack{Number: 1}).Append(nil))
	for _, n := range []int{0, 10, 30, len(stream) / 2, len(stream)} {
		f.Add(stream[n:], len(stream)/3)
	}
	f.Fuzz(func(t *testing.T, b []byte, cut int) {
		both := pair(2, 64)
		e := both[1]
		e.answer = func(wire.Reply, []byte) error { return nil }
		e.operate(wire.KindFetchOp, wire.Operation{Origin: 2, Target: 0}, nil, true)
		e.write(nil)
		cut = min(max(cut, 0), len(b))
		if e.receive(b[:cut]) == nil && e.receive(b[cut:]) == nil && e.link.Taken() > uint64(len(b)) {
			t.Fatalf("%d frames in %d bytes", e.link.Taken(), len(b))
		}
		if err := e.resume(both[0].link.Taken()); err != nil {
			t.Fatal(err)
		}

		// The next frame is taken, whatever was before.
		before := e.memory.words[5]
		var op wire.Operation
		op.Origin, op.Target, op.Disp, op.A, op.B = 0, 2, 5, 1, uint64(rma.Sum)
		next := op.Append(nil, wire.Head{Kind: wire.KindAccumulate, Number: e.link.Taken() + 1})
		if err := e.receive(next); err != nil || e.memory.words[5] != before+1 {
			t.Fatalf("the word was %d and is %d: %v", before, e.memory.words[5], err)
		}
	})
}
