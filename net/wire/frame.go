package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/orwl/go-orwl/internal/pack"
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
	KindRing
	lastLoose = KindRing
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

var kindNames = [...]string{"?", "hello", "refuse", "ack", "beat", "ring", "bye", "parcel", "loan", "reply",
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

// The limits of a frame. A frame beyond them is refused before anything is allocated for it.
const (
	// Version is the version of everything in this package. Nodes of different versions do not
	// talk.
	Version = 5
	// MaxHeader is the size of the largest header.
	MaxHeader = 1 << 20
	// MaxBulk is how many bytes can follow a header.
	MaxBulk = 1 << 30
	// MaxText is the length of the longest text: an address, a reason.
	MaxText = 1 << 10

	// maxRank is the highest rank.
	maxRank = 1<<31 - 1
)

// Hello is the first frame of each stream, in both directions. Its body is the version, as an
// integer in every version of this package, and then, in this version, a map:
//
//	[kind, 0, 0, version, {"nodes": 3, "node": 2, ...}]
//
// There is one for each stream, so a library encodes the map.
type Hello struct {
	Version     uint64 `msgpack:"-"`
	Nodes       uint64 `msgpack:"nodes"`       // the number of nodes of the run
	Node        uint64 `msgpack:"node"`        // the node that speaks
	Incarnation uint64 `msgpack:"incarnation"` // the life of that node
	Lane        uint64 `msgpack:"lane"`
	// Received is how many of the lane's frames this node has taken from the life Peer of
	// the other node. Peer is 0 if there was none.
	Peer     uint64 `msgpack:"peer"`
	Received uint64 `msgpack:"received"`
	// Lease and Skew are what the node's promises to the others depend on, in
	// nanoseconds.
	Lease uint64 `msgpack:"lease"`
	Skew  uint64 `msgpack:"skew"`
	// Address is where the node listens.
	Address string `msgpack:"address"`
}

// Append appends the frame.
func (f *Hello) Append(b []byte) []byte {
	from := len(b)
	b = AppendUint(begin(b, Head{Kind: KindHello}, 2), f.Version)
	return end(append(b, pack.Encode(f)...), from)
}

// Parse reads the body. If that has another version, it reads only the version.
func (f *Hello) Parse(r Reader) error {
	*f = Hello{Version: r.Uint()}
	if f.Version != Version {
		return r.err
	}
	if r.want(2); r.err != nil {
		return r.err
	}
	if err := pack.Decode(r.b, f); err != nil {
		return fmt.Errorf("%w: hello: %w", ErrMalformed, err)
	}
	if len(f.Address) > MaxText {
		r.fail("an address of %d bytes, at most %d are allowed", len(f.Address), MaxText)
	}
	return r.err
}

// Parcel is something between the two nodes' upper layers.
type Parcel struct {
	Channel uint64 // the channel of its receiver
	Header  []byte
}

// Append appends the frame, without its bulk.
func (f *Parcel) Append(b []byte, h Head) []byte {
	from := len(b)
	h.Kind = KindParcel
	b = begin(b, h, 2)
	return end(AppendBytes(AppendUint(b, f.Channel), f.Header), from)
}

// Parse reads the body. Header is part of what r reads from.
func (f *Parcel) Parse(r Reader) error {
	r.want(2)
	f.Channel, f.Header = r.Uint(), r.Bytes()
	return r.Done()
}

// Loan is a parcel whose bulk does not travel: it lies in memory of the sender that
// the other node has mapped. Which memory that is, the nodes have said before.
type Loan struct {
	Parcel
	Offset uint64 // of the first byte
	Length int    // from 1
}

// Append appends the frame.
func (f *Loan) Append(b []byte, h Head) []byte {
	from := len(b)
	h.Kind = KindLoan
	b = begin(b, h, 4)
	b = AppendBytes(AppendUint(b, f.Channel), f.Header)
	return end(AppendUint(AppendUint(b, f.Offset), uint64(f.Length)), from)
}

// Parse reads the body. Header is part of what r reads from. Whether there is such
// memory only its reader knows.
func (f *Loan) Parse(r Reader) error {
	r.want(4)
	f.Channel, f.Header = r.Uint(), r.Bytes()
	f.Offset, f.Length = r.Uint(), int(r.UintTo(MaxBulk))
	if r.err == nil && f.Length == 0 {
		r.fail("a loan of nothing")
	}
	return r.Done()
}

// Ring says that what follows on the stream comes by a ring: memory of the sender that the other node has
// mapped. Only its end comes by the stream still.
type Ring struct {
	Offset uint64 // of the ring
	At     uint64 // how many bytes were written to it before
}

// Append appends the frame.
func (f *Ring) Append(b []byte) []byte {
	from := len(b)
	return end(AppendUint(AppendUint(begin(b, Head{Kind: KindRing}, 2), f.Offset), f.At), from)
}

// Parse reads the body. Whether there is such memory only its reader knows.
func (f *Ring) Parse(r Reader) error {
	r.want(2)
	f.Offset, f.At = r.Uint(), r.Uint()
	return r.Done()
}

// Ack says that all frames of the lane up to a number have been taken.
type Ack struct{ Number uint64 }

// Append appends the frame.
func (f *Ack) Append(b []byte) []byte {
	from := len(b)
	b = begin(b, Head{Kind: KindAck}, 1)
	return end(AppendUint(b, f.Number), from)
}

// Parse reads the body.
func (f *Ack) Parse(r Reader) error {
	r.want(1)
	f.Number = r.Uint()
	return r.Done()
}

// Beat says that its sender lives. Times are nanoseconds.
type Beat struct {
	Sent uint64 // the sender's time; the receiver returns it unread
	Echo uint64 // the last Sent of the receiver that the sender has seen
	Held uint64 // how long the sender has had Echo, by its own clock
}

// Append appends the frame.
func (f *Beat) Append(b []byte) []byte {
	from := len(b)
	b = begin(b, Head{Kind: KindBeat}, 3)
	return end(AppendUint(AppendUint(AppendUint(b, f.Sent), f.Echo), f.Held), from)
}

// Parse reads the body.
func (f *Beat) Parse(r Reader) error {
	r.want(3)
	f.Sent, f.Echo, f.Held = r.Uint(), r.Uint(), r.Uint()
	return r.Done()
}

// AppendBye appends a frame that says that its sender leaves the run, after
// everything that it has sent before. It has no body.
func AppendBye(b []byte, number uint64) []byte {
	from := len(b)
	return end(begin(b, Head{Kind: KindBye, Number: number}, 0), from)
}

// Refuse is the last frame of a stream: why there will be no more. It is the same in every
// version, because nodes of different versions refuse each other by it.
type Refuse struct{ Reason string }

// Append appends the frame.
func (f *Refuse) Append(b []byte) []byte {
	from := len(b)
	b = begin(b, Head{Kind: KindRefuse}, 1)
	return end(AppendString(b, f.Reason[:min(len(f.Reason), MaxText)]), from)
}

// Parse reads the body.
func (f *Refuse) Parse(r Reader) error {
	r.want(1)
	f.Reason = r.textTo(MaxText)
	return r.Done()
}
