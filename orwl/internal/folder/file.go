package folder

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/orwl/go-orwl/internal/pack"
	"github.com/orwl/go-orwl/orwl/internal/lives"
)

// A file is a part:
//
//	magic     8 bytes: what the file is, and the version of the format
//	header    a block
//	records   a block each, by task: the message by which a buddy gets it
//
// A block has these fields. Numbers have 8 bytes, the lowest byte first.
//
//	the lengths of head and bulk
//	head      in msgpack
//	bulk      the contents of a record
//	checksum  XXH3 of all of the above. Its seed is the checksum of the block before
//
// So no block of another file is taken, and no block at another place. The next version of the format has another last byte
// of the magic. It is due when the header changes, or the message of a record.

const (
	magic   = "orwlcut"
	version = 2
)

// header is the first block.
type header struct {
	Program uint64 `msgpack:"program"`
	lives.Found
}

var (
	// ErrDamaged is a file that is not as it was written.
	ErrDamaged = errors.New("folder: damaged")
	// ErrOther is a file of another program, or of another version of the format.
	ErrOther = errors.New("folder: of another program")
)

// chunkBytes is how much goes to a file, or comes from it, at once, unless a block has more.
const chunkBytes = 128 << 10

// write writes a file.
func write(to io.Writer, program uint64, p lives.Found, records []lives.Record) error {
	w := writer{to: bufio.NewWriterSize(to, chunkBytes)}
	_, _ = w.to.WriteString(magic) // Flush returns the error
	_ = w.to.WriteByte(version)    // the same
	w.block(pack.Encode(&header{program, p}), nil)
	for _, r := range slices.SortedFunc(slices.Values(records), func(a, b lives.Record) int { return cmp.Compare(a.Task, b.Task) }) {
		w.block(message(p, r).Encode())
	}
	return w.to.Flush()
}

// message is a record of a part as a buddy gets it.
func message(p lives.Found, r lives.Record) lives.Message {
	return lives.Message{Kind: lives.Part, Key: p.Key, Owner: p.Owner, Tasks: p.Tasks, Record: r}
}

// writer writes blocks.
type writer struct {
	to  *bufio.Writer
	sum uint64 // of the last block
}

func (w *writer) block(head, bulk []byte) {
	lengths := binary.LittleEndian.AppendUint64(nil, uint64(len(head)))
	lengths = binary.LittleEndian.AppendUint64(lengths, uint64(len(bulk)))
	w.sum = checksum(w.sum, lengths, head, bulk)
	for _, b := range [][]byte{lengths, head, bulk, binary.LittleEndian.AppendUint64(nil, w.sum)} {
		_, _ = w.to.Write(b) // Flush returns the error
	}
}

// checksum is the checksum of a block. The one before had the checksum seed.
func checksum(seed uint64, block ...[]byte) uint64 {
	h := xxh3.NewSeed(seed)
	for _, b := range block {
		_, _ = h.Write(b) // a hash has no errors
	}
	return h.Sum64()
}

// read reads a file of so many bytes, verifies all of it, and calls take with each record. The bytes of the record belong to take.
// If take is nil, read uses the memory of a record for the next one.
func read(from io.Reader, size int64, program uint64, take func(lives.Record)) (p lives.Found, err error) {
	r := reader{from: bufio.NewReaderSize(from, chunkBytes), left: size, reuse: take == nil}
	if p, err = r.header(program); err != nil {
		return p, err
	}
	for n, last := 0, -1; n < p.Tasks; n++ {
		head, bulk, err := r.block()
		if err != nil {
			return p, err
		}
		m, err := lives.Parse(head, bulk, lives.Limits{Run: p.Run, Nodes: math.MaxInt, Tasks: p.Total, Resources: math.MaxInt})
		if err != nil {
			return p, fmt.Errorf("%w: record %d of %d: %w", ErrDamaged, n+1, p.Tasks, err)
		}
		if m.Kind != lives.Part || m.Key != p.Key || m.Owner != p.Owner || m.Tasks != p.Tasks || m.Task <= last {
			return p, fmt.Errorf("%w: record %d of %d is of another part: task %d behind task %d", ErrDamaged, n+1, p.Tasks, m.Task, last)
		}
		if last = m.Task; take != nil {
			take(m.Record)
		}
	}
	if r.left > 0 {
		return p, fmt.Errorf("%w: %d bytes too many", ErrDamaged, r.left)
	}
	return p, nil
}

// reader reads blocks.
type reader struct {
	from  *bufio.Reader
	left  int64 // bytes of the file
	sum   uint64
	reuse bool
	bulk  []byte // of the last block, if the next one may have its memory
}

// header reads what stands before the records.
func (r *reader) header(program uint64) (p lives.Found, err error) {
	begin, err := r.take(uint64(len(magic)+1), nil)
	switch {
	case err != nil:
		return p, err
	case string(begin[:len(magic)]) != magic:
		return p, fmt.Errorf("%w: it does not begin as a cut does", ErrDamaged)
	case begin[len(magic)] != version:
		return p, fmt.Errorf("%w: version %d of the format, and this program has version %d", ErrOther, begin[len(magic)], version)
	}
	head, bulk, err := r.block()
	if err != nil {
		return p, err
	}
	var h header
	if err := pack.Decode(head, &h); err != nil {
		return p, fmt.Errorf("%w: its header: %w", ErrDamaged, err)
	}
	switch p = h.Found; {
	case h.Program != program:
		return p, fmt.Errorf("%w: its digest is %016x, and that of this program is %016x", ErrOther, h.Program, program)
	case p.Tasks < 0 || len(bulk) > 0:
		return p, fmt.Errorf("%w: its header: %d tasks, %d bytes behind it", ErrDamaged, p.Tasks, len(bulk))
	}
	return p, nil
}

// block reads a block and verifies it.
func (r *reader) block() (head, bulk []byte, err error) {
	lengths, err := r.take(16, nil)
	if err != nil {
		return nil, nil, err
	}
	if head, err = r.take(binary.LittleEndian.Uint64(lengths), nil); err != nil {
		return nil, nil, err
	}
	if bulk, err = r.take(binary.LittleEndian.Uint64(lengths[8:]), r.bulk); err != nil {
		return nil, nil, err
	}
	if r.reuse {
		r.bulk = bulk
	}
	sum, err := r.take(8, nil)
	if err != nil {
		return nil, nil, err
	}
	r.sum = checksum(r.sum, lengths, head, bulk)
	if r.sum != binary.LittleEndian.Uint64(sum) {
		return nil, nil, fmt.Errorf("%w: a checksum is wrong, %d bytes before its end", ErrDamaged, r.left)
	}
	return head, bulk, nil
}

// take reads so many bytes, into b if it is long enough. It makes no room for more bytes than the file has.
func (r *reader) take(n uint64, b []byte) ([]byte, error) {
	if n > uint64(r.left) {
		return nil, fmt.Errorf("%w: %d bytes are left where %d should follow", ErrDamaged, r.left, n)
	}
	if uint64(cap(b)) < n {
		b = make([]byte, n)
	}
	r.left -= int64(n)
	_, err := io.ReadFull(r.from, b[:n])
	return b[:n], err
}
