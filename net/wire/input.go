package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

const (
	// inputBuffer is how many bytes are asked of a stream at a time, so that one read
	// brings many small frames.
	inputBuffer = 64 << 10
	// firstGrowth is how much memory bulk gets on the word of its frame alone.
	firstGrowth = 1 << 20
	// mostIdle is how often in a row a stream may return nothing.
	mostIdle = 100
)

// Input reads the frames of a stream. After Next comes at most one of Bulk, BulkGrowing and
// Skip. If none comes, the next Next skips the bulk.
//
//	buffer  ░░░░│ header │ bulk... │ more frames │░░░░
//	            │        └ begin                 └ end
//	            └ what Next has returned
//
// Any error is one of the stream: Input returns it again and again, and nothing else. Where the
// stream ends between two frames it is io.EOF, inside of one it matches io.ErrUnexpectedEOF. A
// caller that finds the body of a frame malformed should read no further either.
//
// It is used by one goroutine at a time. Its memory is 64 KiB, more only while a
// larger header comes in.
type Input struct {
	from       io.Reader
	most       int // the most bytes of bulk
	buffer     []byte
	begin, end int   // of the bytes in buffer that have been read and not yet returned
	later      error // the error that came with the last bytes

	head Head
	size int      // of the frame
	left int      // of its bulk and the checksum
	sum  Checksum // of the bulk that has been read
	err  error
}

// Buffered is how many bytes have been read and not yet returned.
func (in *Input) Buffered() int { return in.end - in.begin }

// Size is how many bytes the frame has that Next has returned, bulk included.
func (in *Input) Size() int { return in.size }

// NewInput reads frames with at most so many bytes of bulk.
func NewInput(from io.Reader, most int) *Input {
	return &Input{from: from, most: most, buffer: make([]byte, inputBuffer)}
}

// Next is the next frame's head, and its body, which is good until the next Next or
// Skip.
func (in *Input) Next() (Head, Reader, error) {
	if in.left > 0 {
		in.Skip()
	}
	if len(in.buffer) > inputBuffer {
		in.shrink()
	}
	if in.fill(prefix, false) != nil {
		return Head{}, Reader{}, in.err
	}
	size, err := HeaderSize(in.buffer[in.begin:in.end])
	if err != nil {
		in.err = err
		return Head{}, Reader{}, err
	}
	if in.fill(size, true) != nil {
		return Head{}, Reader{}, in.err
	}
	h, body, err := ParseHead(in.buffer[in.begin+prefix:in.begin+size:in.begin+size], in.most)
	if err != nil {
		in.err = err
		return Head{}, Reader{}, err
	}
	in.begin += size
	in.head, in.left, in.sum = h, BulkSize(h.Bulk), 0
	in.size = size + in.left
	return h, body, nil
}

// Bulk reads the frame's bulk into dst, which is as long as the head says, or it panics. Bytes
// that are not in the buffer yet do not pass through it.
func (in *Input) Bulk(dst []byte) error {
	if n := in.bulk(); len(dst) != n && in.err == nil {
		panic(fmt.Sprintf("wire: room for %d bytes of bulk where %d follow", len(dst), n))
	}
	in.read(dst)
	return in.check()
}

// BulkGrowing reads the frame's bulk into buf, or, if its capacity is too small, into
// new memory: at first 1 MiB, then at most twice what has arrived.
func (in *Input) BulkGrowing(buf []byte) ([]byte, error) {
	got := 0
	for in.bulk() > 0 && in.err == nil {
		room := min(got+in.bulk(), max(cap(buf)/Piece*Piece, firstGrowth, 2*got))
		if room > cap(buf) {
			buf = append(make([]byte, 0, room), buf[:got]...)
		}
		buf = buf[:room]
		in.read(buf[got:])
		got = room
	}
	return buf[:got], in.check()
}

// Skip reads past the frame's bulk and does not look at it.
func (in *Input) Skip() error {
	for in.left > 0 && in.err == nil {
		if in.begin == in.end {
			in.begin, in.end = 0, in.receive(in.buffer[:min(in.left, len(in.buffer))], true)
		}
		n := min(in.left, in.end-in.begin)
		in.begin, in.left = in.begin+n, in.left-n
	}
	return in.err
}

// bulk is how many bytes of the frame's bulk are still to be read.
func (in *Input) bulk() int { return max(0, in.left-suffix) }

// read fills dst with bulk, whole pieces or all that is left, and adds them to the
// checksum while they are in the cache still.
func (in *Input) read(dst []byte) {
	for len(dst) > 0 && in.err == nil {
		part := dst[:min(Piece, len(dst))]
		n := copy(part, in.buffer[in.begin:in.end])
		in.begin += n
		for n < len(part) && in.err == nil {
			n += in.receive(part[n:], true)
		}
		in.sum.Add(part)
		dst, in.left = dst[len(part):], in.left-len(part)
	}
}

// check compares the checksum of all the bulk with the one behind it.
func (in *Input) check() error {
	if in.left == 0 || in.more(suffix, true) != nil {
		return in.err
	}
	if binary.LittleEndian.Uint64(in.buffer[in.begin:]) != uint64(in.sum) {
		in.err = fmt.Errorf("%w: %d bytes of a %v", ErrChecksum, in.head.Bulk, in.head.Kind)
	}
	in.begin, in.left = in.begin+suffix, 0
	return in.err
}

// fill reads until n bytes are in the buffer, in one piece, which are inside of a
// frame or, before the first has come, between two. The last header is lost.
func (in *Input) fill(n int, inside bool) error {
	if in.end-in.begin >= n {
		return in.err
	}
	in.begin, in.end = 0, copy(in.buffer, in.buffer[in.begin:in.end])
	return in.more(n, inside)
}

// more is fill, but leaves the bytes that have been returned where they are.
func (in *Input) more(n int, inside bool) error {
	for in.end-in.begin < n && in.err == nil {
		if in.end == len(in.buffer) {
			in.buffer = append(in.buffer, make([]byte, len(in.buffer))...)
		}
		in.end += in.receive(in.buffer[in.end:], inside || in.end > 0)
	}
	return in.err
}

// shrink gives back the memory of a large header.
func (in *Input) shrink() {
	if rest := in.buffer[in.begin:in.end]; len(rest) <= inputBuffer {
		in.buffer = make([]byte, inputBuffer)
		in.begin, in.end = 0, copy(in.buffer, rest)
	}
}

// receive reads what the stream has, at least a byte, or fails. Inside of a frame
// even the stream's end is a failure.
func (in *Input) receive(dst []byte, inside bool) (n int) {
	for tries := 0; n == 0 && in.later == nil; tries++ {
		n, in.later = in.from.Read(dst)
		if n == 0 && in.later == nil && tries == mostIdle {
			in.later = io.ErrNoProgress
		}
	}
	switch {
	case n > 0:
	case !errors.Is(in.later, io.EOF):
		in.err = fmt.Errorf("wire: read of a frame: %w", in.later)
	case inside:
		in.err = fmt.Errorf("wire: the stream ends inside of a frame: %w", io.ErrUnexpectedEOF)
	default:
		in.err = io.EOF
	}
	return n
}
