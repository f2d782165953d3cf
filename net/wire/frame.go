package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/zeebo/xxh3"
)

// Kind is what a frame is.
type Kind uint8

// The kinds. Those up to lastLoose are between the two ends of a stream; all others are
// numbered, and taken exactly once.
const (
	KindHello Kind = iota + 1
	KindRefuse
	KindAck
	KindBeat
	lastLoose = KindBeat
)

// The numbered kinds.
const (
	KindBye Kind = iota + lastLoose + 1
	KindParcel
	KindLoan
	KindReply
	KindPut
	KindAccumulate
	KindFetchOp
	KindCAS
	KindGet
	KindFlush
	KindAwait
	KindForget
	KindPutBytes
	KindGetBytes
	lastKind = KindGetBytes

	// Kinds is one more than the greatest.
	Kinds = int(lastKind) + 1
)

var kindNames = [...]string{"?", "hello", "refuse", "ack", "beat", "bye", "parcel", "loan", "reply",
	"put", "accumulate", "fetch-op", "cas", "get", "flush", "await", "forget", "put-bytes", "get-bytes"}

func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// Numbered reports whether frames of this kind have a place in the order of their
// lane.
func (k Kind) Numbered() bool { return k > lastLoose }

// Operation reports whether the kind is one of a window's operations.
func (k Kind) Operation() bool { return k >= KindPut && k <= lastKind }

// bulky reports whether bytes may follow a frame of this kind.
func (k Kind) bulky() bool { return k == KindParcel || k == KindReply || k == KindPutBytes }

// Head is how every header begins.
//
//	┌──────────────┬───────────────────────────────┬──────┬──────────┐
//	│ header bytes │ [kind, number, bulk, body...] │ bulk │ checksum │
//	└──────────────┴───────────────────────────────┴──────┴──────────┘
//	 uint32, little  msgpack array                   raw    uint64, little
//
// The checksum covers the bulk, and is there only with it. It comes last, so that both ends can
// compute it while the bulk is on its way.
type Head struct {
	Kind Kind
	// Number is the frame's place in the order of its lane, from 1; 0 if its kind
	// has none.
	Number uint64
	// Bulk is how many bytes follow the header, without their checksum.
	Bulk int
}

const (
	headFields = 3
	prefix     = 4 // bytes of the header's size
	suffix     = 8 // bytes of the checksum of bulk
)

// Errors of a stream that is not worth reading any further.
var (
	// ErrTooLarge is a frame that claims to be larger than allowed.
	ErrTooLarge = errors.New("wire: frame too large")
	// ErrChecksum is bulk that is not what was sent.
	ErrChecksum = errors.New("wire: bulk has another checksum")
)

// Checksum is the checksum of a frame's bulk, as far as it has been seen: XXH3 of each piece,
// seeded with the checksum of the pieces before. It is two and a half times as fast as CRC-32C,
// for which processors have an instruction, and bulk is checked twice on its way.
type Checksum uint64

// Piece is how long each piece of bulk is. Only the last may be shorter.
const Piece = 256 << 10

// Add makes the checksum one of the next piece, too.
func (c *Checksum) Add(piece []byte) { *c = Checksum(xxh3.HashSeed(piece, uint64(*c))) }

// Append appends it as it stands behind the bulk.
func (c Checksum) Append(b []byte) []byte { return binary.LittleEndian.AppendUint64(b, uint64(c)) }

// AppendBulk appends bulk and its checksum.
func AppendBulk(b, bulk []byte) []byte {
	if len(bulk) == 0 {
		return b
	}
	var sum Checksum
	for piece := range slices.Chunk(bulk, Piece) {
		sum.Add(piece)
	}
	return sum.Append(append(b, bulk...))
}

// BulkSize is how many bytes AppendBulk appends for so many.
func BulkSize(n int) int {
	if n > 0 {
		n += suffix
	}
	return n
}

// begin appends a head and the beginning of a body of so many fields. The header's
// size is filled in by end.
func begin(b []byte, h Head, fields int) []byte {
	b = append(b, 0, 0, 0, 0)
	b = AppendArray(b, headFields+fields)
	b = append(b, byte(h.Kind))
	b = AppendUint(b, h.Number)
	return AppendUint(b, uint64(h.Bulk))
}

// end finishes the header that began at from.
func end(b []byte, from int) []byte {
	binary.LittleEndian.PutUint32(b[from:], uint32(len(b)-from-prefix))
	return b
}

// HeaderSize is the size of the header that b begins with, or 0 if b is too short
// to tell.
func HeaderSize(b []byte) (int, error) {
	if len(b) < prefix {
		return 0, nil
	}
	n := binary.LittleEndian.Uint32(b)
	switch {
	case n > MaxHeader:
		return 0, fmt.Errorf("%w: a header of %d bytes, at most %d are allowed", ErrTooLarge, n, MaxHeader)
	case n < headFields+1:
		return 0, fmt.Errorf("%w: of %d bytes, the smallest has %d", ErrMalformed, n, headFields+1)
	}
	return prefix + int(n), nil
}

// ParseHead reads the head of a header, without what stands before it, and returns
// a Reader of its body. Bulk beyond most is ErrTooLarge.
func ParseHead(header []byte, most int) (h Head, body Reader, err error) {
	// The usual header: few fields, and no bulk.
	if len(header) > headFields && header[0]&^0x0f == fixArray && header[1] <= byte(lastKind) {
		kind, fields := Kind(header[1]), int(header[0]&0x0f)-headFields
		number, i := uintAt(header, 2)
		if fields >= 0 && i+1+fields <= len(header) && header[i] == 0 &&
			kind != 0 && kind.Numbered() == (number > 0) {
			return Head{Kind: kind, Number: number}, Reader{b: header[i+1:], fields: fields}, nil
		}
	}
	return parseAnyHead(header, most)
}

// parseAnyHead is ParseHead of whatever header, and says what is wrong with it.
func parseAnyHead(header []byte, most int) (h Head, body Reader, err error) {
	r := NewReader(header)
	fields := r.Array()
	h.Kind = Kind(r.UintTo(uint64(lastKind)))
	h.Number = r.Uint()
	bulk := r.Uint()
	switch {
	case r.Err() != nil:
		return Head{}, r, r.Err()
	case fields < headFields, h.Kind == 0, h.Kind.Numbered() != (h.Number > 0):
		r.fail("no such head")
		return Head{}, r, r.Err()
	case bulk > uint64(max(0, min(most, MaxBulk))):
		return Head{}, r, fmt.Errorf("%w: %d bytes of bulk in a %v, at most %d are allowed", ErrTooLarge, bulk, h.Kind, most)
	case bulk > 0 && !h.Kind.bulky():
		r.fail("%v with %d bytes of bulk", h.Kind, bulk)
		return Head{}, r, r.Err()
	}
	h.Bulk, r.fields = int(bulk), fields-headFields
	return h, r, nil
}

// want fails unless the body has so many fields.
func (r *Reader) want(fields int) {
	if r.fields != fields {
		r.fail("%d fields, want %d", r.fields, fields)
	}
}
