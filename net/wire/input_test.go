package wire_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"testing"
	"testing/iotest"

	"github.com/orwl/go-orwl/net/wire"
)

// sent is a stream, what is in it, and how it is written.
type sent struct {
	specimens []specimen
	bulk      [][]byte
	bytes     []byte
	starts    []int // of the frames
}

// stream is one of all specimens, with bulk.
func stream() *sent {
	s := &sent{specimens: specimens()}
	random := rand.New(rand.NewPCG(1, 2))
	for i := range s.specimens {
		f := &s.specimens[i]
		bulk := make([]byte, f.head.Bulk)
		for i := range bulk {
			bulk[i] = byte(random.Uint32())
		}
		s.starts = append(s.starts, len(s.bytes))
		s.bytes = wire.AppendBulk(append(s.bytes, write(f.head, f.body)...), bulk)
		s.bulk = append(s.bulk, bulk)
	}
	return s
}

// TestInput reads a stream that comes in pieces of all sizes.
func TestInput(t *testing.T) {
	s := stream()
	for name, from := range map[string]io.Reader{
		"at once":           bytes.NewReader(s.bytes),
		"bytes":             iotest.OneByteReader(bytes.NewReader(s.bytes)),
		"halves":            iotest.HalfReader(bytes.NewReader(s.bytes)),
		"error with data":   iotest.DataErrReader(bytes.NewReader(s.bytes)),
		"1000 at a time":    &steps{bytes.Clone(s.bytes), 1000},
		"70000 at a time":   &steps{bytes.Clone(s.bytes), 70000},
		"and often nothing": &drowsy{from: bytes.NewReader(s.bytes)},
	} {
		in := wire.NewInput(from, wire.MaxBulk)
		var reused []byte
		for i, want := range s.specimens {
			h, r, err := in.Next()
			if err != nil || h != want.head {
				t.Fatalf("%s, frame %d: %+v, %v, want %+v", name, i, h, err, want.head)
			}
			var bulk []byte
			switch i % 4 {
			case 0:
				bulk = make([]byte, h.Bulk)
				err = in.Bulk(bulk)
			case 1:
				bulk, err = in.BulkGrowing(reused)
				reused = bulk
			case 2:
				err = in.Skip()
			}
			if err != nil || i%4 < 2 && !bytes.Equal(bulk, s.bulk[i]) {
				t.Fatalf("%s, frame %d: other bulk than was written, %v", name, i, err)
			}
			if i%4 == 2 {
				continue // the header is gone
			}
			if body, err := parseBody(h.Kind, r); err != nil || !reflect.DeepEqual(body, want.body) {
				t.Fatalf("%s, frame %d: %+v, %v, want %+v", name, i, body, err, want.body)
			}
		}
		for range 2 {
			if _, _, err := in.Next(); err != io.EOF {
				t.Fatalf("%s: %v at the end", name, err)
			}
		}
	}
}

// TestInputPieces reads bulk of several pieces into memory of any size: what is checked
// does not depend on how it is read.
func TestInputPieces(t *testing.T) {
	random := rand.NewChaCha8([32]byte{})
	parcel := wire.Parcel{Channel: 1, Header: []byte("h")}
	for _, size := range []int{1, wire.Piece - 1, wire.Piece, wire.Piece + 1, 5*wire.Piece + 1, 13 * wire.Piece} {
		bulk := make([]byte, size)
		random.Read(bulk)
		var sum wire.Checksum
		for piece := range slices.Chunk(bulk, wire.Piece) {
			sum.Add(piece)
		}
		header := parcel.Append(nil, wire.Head{Number: 1, Bulk: size})
		frame := wire.AppendBulk(bytes.Clone(header), bulk)
		if !bytes.Equal(frame, sum.Append(append(header, bulk...))) {
			t.Fatalf("%d bytes and their checksum are not what AppendBulk appends", size)
		}
		for _, room := range []int{0, 1, 1000, wire.Piece + 7, 5 * wire.Piece, 6*wire.Piece + 1, 20 * wire.Piece} {
			in := wire.NewInput(&steps{bytes.Clone(frame), 70000}, wire.MaxBulk)
			if _, _, err := in.Next(); err != nil {
				t.Fatal(err)
			}
			if got, err := in.BulkGrowing(make([]byte, room)); err != nil || !bytes.Equal(got, bulk) {
				t.Errorf("%d bytes into room for %d: other bulk than was written, %v", size, room, err)
			}
		}
	}
}

// drowsy is a stream that returns nothing now and then, which is allowed.
type drowsy struct {
	from  io.Reader
	times int
}

func (d *drowsy) Read(b []byte) (int, error) {
	if d.times++; d.times%20 != 0 {
		return 0, nil
	}
	return d.from.Read(b)
}

// TestInputCut ends a stream anywhere: that is an end only between two frames.
func TestInputCut(t *testing.T) {
	bulk := make([]byte, 100)
	parcel := wire.Parcel{Channel: 1, Header: make([]byte, 10)}
	frame := wire.AppendBulk(parcel.Append(nil, wire.Head{Number: 1, Bulk: 100}), bulk)
	for n := range 2 * len(frame) {
		whole := append(bytes.Clone(frame), frame...)
		for name, read := range readings {
			in := wire.NewInput(iotest.HalfReader(bytes.NewReader(whole[:n])), wire.MaxBulk)
			var err error
			frames := 0
			for ; err == nil; frames++ {
				if _, _, err = in.Next(); err == nil {
					err = read(in)
				}
			}
			want := io.ErrUnexpectedEOF
			if n%len(frame) == 0 {
				want = io.EOF
			}
			if !errors.Is(err, want) || frames != n/len(frame)+1 && name != "nothing" {
				t.Fatalf("%s of %d of %d bytes: %v after %d frames", name, n, len(frame), err, frames-1)
			}
			if _, _, again := in.Next(); again != err {
				t.Fatalf("%s: after %v it says %v", name, err, again)
			}
		}
	}
}

// readings are the ways to read the bulk of TestInputCut's and other frames.
var readings = map[string]func(*wire.Input) error{
	"Bulk":        func(in *wire.Input) error { return in.Bulk(make([]byte, 100)) },
	"BulkGrowing": func(in *wire.Input) error { _, err := in.BulkGrowing(nil); return err },
	"Skip":        (*wire.Input).Skip,
	"nothing":     func(in *wire.Input) error { return nil },
}

// TestInputFailure keeps the stream's own error.
func TestInputFailure(t *testing.T) {
	reset := errors.New("reset by peer")
	for n := range 5 {
		from := io.MultiReader(bytes.NewReader(make([]byte, n)[:n:n]), iotest.ErrReader(reset))
		if _, _, err := wire.NewInput(from, 0).Next(); n < 4 && !errors.Is(err, reset) {
			t.Errorf("after %d bytes: %v", n, err)
		}
	}
	if _, _, err := wire.NewInput(asleep{}, 0).Next(); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("a stream that returns nothing: %v", err)
	}
}

// asleep is a stream that returns nothing for ever.
type asleep struct{}

func (asleep) Read([]byte) (int, error) { return 0, nil }

// TestInputChecksum flips each bit of some bulk, and of its checksum.
func TestInputChecksum(t *testing.T) {
	bulk := []byte("0123456789")
	parcel := wire.Parcel{Channel: 1}
	header := parcel.Append(nil, wire.Head{Number: 1, Bulk: len(bulk)})
	for i := range 8 * wire.BulkSize(len(bulk)) {
		b := wire.AppendBulk(bytes.Clone(header), bulk)
		b[len(header)+i/8] ^= 1 << (i % 8)
		in := wire.NewInput(bytes.NewReader(b), wire.MaxBulk)
		if _, _, err := in.Next(); err != nil {
			t.Fatal(err)
		}
		var err error
		if i%2 == 0 {
			err = in.Bulk(make([]byte, len(bulk)))
		} else {
			_, err = in.BulkGrowing(nil)
		}
		_, _, after := in.Next()
		if !errors.Is(err, wire.ErrChecksum) || !errors.Is(after, wire.ErrChecksum) {
			t.Fatalf("bit %d: %v, then %v", i, err, after)
		}
	}
}

// TestInputClaims lets frames claim more than comes: memory follows what came.
func TestInputClaims(t *testing.T) {
	claim := header(uint64(wire.KindParcel), 1, wire.MaxBulk)
	parcel := wire.Parcel{Channel: 1}
	large := parcel.Append(nil, wire.Head{Number: 1, Bulk: wire.MaxBulk})
	for _, c := range []struct {
		name  string
		bytes []byte
		most  int
		want  error
		limit uint64
	}{
		{"bulk of 1 GiB, nothing comes", large, wire.MaxBulk, io.ErrUnexpectedEOF, 2 << 20},
		{"bulk of 1 GiB, 3 MiB come", append(bytes.Clone(large), make([]byte, 3<<20)...), wire.MaxBulk, io.ErrUnexpectedEOF, 8 << 20},
		{"bulk beyond the limit", large, 1 << 20, wire.ErrTooLarge, 256 << 10},
		{"header of 1 MiB, nothing comes", []byte{0, 0, 16, 0}, 0, io.ErrUnexpectedEOF, 256 << 10},
		{"header beyond the limit", []byte{1, 0, 16, 0}, 0, wire.ErrTooLarge, 256 << 10},
		{"too short for its kind", claim, wire.MaxBulk, wire.ErrMalformed, 256 << 10},
	} {
		var err error
		n := allocated(func() {
			in := wire.NewInput(bytes.NewReader(c.bytes), c.most)
			var h wire.Head
			var r wire.Reader
			if h, r, err = in.Next(); err == nil {
				if _, err = parseBody(h.Kind, r); err == nil {
					_, err = in.BulkGrowing(nil)
				}
			}
		})
		if !errors.Is(err, c.want) || n > c.limit {
			t.Errorf("%s: %v, %d bytes of memory", c.name, err, n)
		}
	}
}

// counting counts the reads of a stream.
type counting struct {
	from io.Reader
	n    int
}

func (c *counting) Read(b []byte) (int, error) {
	c.n++
	return c.from.Read(b)
}

// TestInputReads counts reads: one for many small frames; and memory: none for any.
func TestInputReads(t *testing.T) {
	const frames = 1000
	var b []byte
	for n := range uint64(frames) {
		op := wire.Operation{Origin: 1, Target: 2, Disp: 3}
		b = op.Append(b, wire.Head{Kind: wire.KindFlush, Number: n + 1})
	}
	if len(b) > 64<<10 {
		t.Fatal("too many for one read")
	}
	from := &counting{from: bytes.NewReader(b)}
	in := wire.NewInput(from, 0)
	var op wire.Operation
	n := testing.AllocsPerRun(frames-1, func() {
		h, r, err := in.Next()
		if err == nil {
			err = op.Parse(h.Kind, r)
		}
		if err != nil {
			t.Fatal(err)
		}
	})
	if n > 0 || from.n > 1 {
		t.Errorf("%d frames: %d reads, %v allocations each", frames, from.n, n)
	}
}

// TestInputLargeHeaders reads headers beyond the buffer, between small ones.
func TestInputLargeHeaders(t *testing.T) {
	var b []byte
	sizes := []int{10, 60 << 10, 70 << 10, 1<<20 - 100, 0, 5, 1<<20 - 20, 3}
	for i, n := range sizes {
		parcel := wire.Parcel{Channel: 1, Header: bytes.Repeat([]byte{byte(i)}, n)}
		b = parcel.Append(b, wire.Head{Number: uint64(i) + 1})
	}
	for _, step := range []int{1, 1000, 1 << 20} {
		in := wire.NewInput(&steps{b, step}, 0)
		for i, n := range sizes {
			var parcel wire.Parcel
			_, r, err := in.Next()
			if err == nil {
				err = parcel.Parse(r)
			}
			if err != nil || !bytes.Equal(parcel.Header, bytes.Repeat([]byte{byte(i)}, n)) {
				t.Fatalf("header %d of %d bytes, %d at a time: %v", i, n, step, err)
			}
		}
	}
}

// TestInputIdle reads a large header, then a small one, and keeps no memory for
// another large one.
func TestInputIdle(t *testing.T) {
	large, small := wire.Parcel{Header: make([]byte, 1<<20-100)}, wire.Parcel{}
	b := small.Append(large.Append(nil, wire.Head{Number: 1}), wire.Head{Number: 2})
	in := wire.NewInput(bytes.NewReader(b), 0)
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	for range 2 {
		if _, _, err := in.Next(); err != nil {
			t.Fatal(err)
		}
	}
	if after := heap(); after > before+1<<19 {
		t.Errorf("%d bytes are kept", after-before)
	}
	runtime.KeepAlive(in)
	runtime.KeepAlive(b)
}

// TestInputMisuse asks for bulk of another size than the head says.
func TestInputMisuse(t *testing.T) {
	parcel := wire.Parcel{Channel: 1}
	in := wire.NewInput(bytes.NewReader(parcel.Append(nil, wire.Head{Number: 1, Bulk: 8})), wire.MaxBulk)
	if _, _, err := in.Next(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if recover() == nil {
			t.Error("room for 7 bytes is enough for 8")
		}
	}()
	in.Bulk(make([]byte, 7))
}
