package coherence

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// A message as a header: an array of unsigned integers in msgpack's format, all in forms of
// fixed length. So each stands at a fixed place, and any msgpack library reads it.
//
//	array32, n │ kind │ bits │ reason │ resource │ incarnation │ ... │ ids │ id... │ offset │ length │ ...
//	 5 bytes      1      1      1        9 bytes each
//
// Ids is how many requests a grant names. The rest are the spans. The bytes of the resource
// travel beside the header. The node is not in it: the transport knows it.

const (
	array32    = 0xdd // and the length in 4 bytes
	uint64Form = 0xcf // and the integer in 8 bytes

	headerSmall = 3  // integers of a byte
	headerWords = 12 // integers of 8 bytes, without the lists
	wordsAt     = 5 + headerSmall
	word        = 9 // bytes
)

// The bits of a header. The mode has one, and the fate of the writer before has two.
const (
	bitsPrior = 1
	bitWrote  = 1 << 3
	bitWhole  = 1 << 4
	bitAlone  = 1 << 5
	allBits   = 1<<6 - 1
)

// The limits of a header.
const (
	mostIDs   = 1 << 16
	mostSpans = 1 << 10
	mostSize  = 1 << 62
)

// AppendHeader appends a message without its node and its bytes.
func AppendHeader(b []byte, m *Message) []byte {
	bits := uint64(m.Mode) | uint64(m.Prior)<<bitsPrior
	if m.Wrote {
		bits |= bitWrote
	}
	if m.Whole {
		bits |= bitWhole
	}
	if m.Alone {
		bits |= bitAlone
	}
	number := func(v uint64) { b = binary.BigEndian.AppendUint64(append(b, uint64Form), v) }
	n := len(m.IDs) + 2*len(m.Spans) + headerSmall + headerWords
	b = binary.BigEndian.AppendUint32(append(b, array32), uint32(n))
	b = append(b, byte(m.Kind), byte(bits), byte(m.Reason))
	for _, v := range [headerWords]uint64{
		m.Resource, m.Incarnation, m.Epoch, m.Seq, uint64(m.ID), uint64(m.Old),
		m.Version, m.Fence, m.Known, m.Order, uint64(m.Size), uint64(len(m.IDs)),
	} {
		number(v)
	}
	for _, id := range m.IDs {
		number(uint64(id))
	}
	for _, s := range m.Spans {
		number(uint64(s.Off))
		number(uint64(s.Len))
	}
	return b
}

// ParseInto parses a header into m, which may have had another header: it sets all fields
// that AppendHeader appends, and uses the room in the lists. It leaves the node and the
// bytes. ErrMalformed means that no half sends such a header. The half that takes the
// message checks more.
func ParseInto(b []byte, m *Message) error {
	words := (len(b) - wordsAt) / word
	if words < headerWords || len(b) != wordsAt+words*word || b[0] != array32 ||
		uint64(binary.BigEndian.Uint32(b[1:])) != uint64(headerSmall+words) {
		return fmt.Errorf("%w: header of %d bytes", ErrMalformed, len(b))
	}
	for at := wordsAt; at < len(b); at += word {
		if b[at] != uint64Form {
			return fmt.Errorf("%w: header with the form %#x at byte %d, want %#x", ErrMalformed, b[at], at, uint64Form)
		}
	}
	number := func(i int) uint64 { return binary.BigEndian.Uint64(b[wordsAt+i*word+1:]) }
	kind, bits, reason, size := Kind(b[5]), uint64(b[6]), Reason(b[7]), number(10)
	prior := Prior(bits >> bitsPrior & 3)
	if kind == 0 || kind > ConfirmedMessage || bits > allBits || prior > PriorPoisoned || reason > Abandoned || size > mostSize {
		return fmt.Errorf("%w: header with kind %d, bits %#x, reason %d, size %d", ErrMalformed, kind, bits, reason, size)
	}
	ids, lists := number(11), words-headerWords
	if ids > mostIDs || ids > uint64(lists) {
		return fmt.Errorf("%w: header of %d requests, want at most %d, and %d follow", ErrMalformed, ids, mostIDs, lists)
	}
	ends := lists - int(ids)
	if ends%2 != 0 || ends > 2*mostSpans {
		return fmt.Errorf("%w: header of %d ends of spans, want an even number up to %d", ErrMalformed, ends, 2*mostSpans)
	}
	m.Kind, m.Mode, m.Prior, m.Reason = kind, Mode(bits&1), prior, reason
	m.Wrote, m.Whole, m.Alone = bits&bitWrote != 0, bits&bitWhole != 0, bits&bitAlone != 0
	m.Resource, m.Incarnation, m.Epoch, m.Seq = number(0), number(1), number(2), number(3)
	m.ID, m.Old = ID(number(4)), ID(number(5))
	m.Version, m.Fence, m.Known, m.Order, m.Size = number(6), number(7), number(8), number(9), int(size)
	at := headerWords
	m.IDs = slices.Grow(m.IDs[:0], int(ids))
	for range ids {
		m.IDs = append(m.IDs, ID(number(at)))
		at++
	}
	m.Spans = slices.Grow(m.Spans[:0], ends/2)
	for ; at < words; at += 2 {
		off, length := number(at), number(at+1)
		if off > mostSize || length > mostSize {
			return fmt.Errorf("%w: header with the span %d, %d", ErrMalformed, off, length)
		}
		m.Spans = append(m.Spans, Span{int(off), int(length)})
	}
	return nil
}
