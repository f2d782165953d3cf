package coherence

import (
	"fmt"
	"slices"

	"github.com/orwl/go-orwl/net/wire"
)

// A message as a header, in msgpack's format: an array of
//
//	kind, bits, resource, incarnation, epoch, seq, id, old, version, fence, known,
//	order, size, reason, [ids], [offset, length, offset, ...]
//
// The bytes travel beside it. The node is not in it: the transport knows it.

const (
	headerFields  = 16
	headerNumbers = headerFields - 2 // the others are lists
)

// The bits of a header. The mode has one, and the fate of the writer before has two.
const (
	bitsPrior = 1
	bitWrote  = 1 << 3
	bitWhole  = 1 << 4
	bitAlone  = 1 << 5
	allBits   = 1<<6 - 1
)

// The limits of the lists in a header.
const (
	mostIDs   = 1 << 16
	mostSpans = 1 << 10
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
	b = wire.AppendArray(b, headerFields)
	for _, v := range [headerNumbers]uint64{
		uint64(m.Kind), bits, m.Resource, m.Incarnation, m.Epoch, m.Seq, uint64(m.ID), uint64(m.Old),
		m.Version, m.Fence, m.Known, m.Order, uint64(m.Size), uint64(m.Reason),
	} {
		b = wire.AppendUint(b, v)
	}
	b = wire.AppendArray(b, len(m.IDs))
	for _, id := range m.IDs {
		b = wire.AppendUint(b, uint64(id))
	}
	b = wire.AppendArray(b, 2*len(m.Spans))
	for _, s := range m.Spans {
		b = wire.AppendUint(wire.AppendUint(b, uint64(s.Off)), uint64(s.Len))
	}
	return b
}

// ParseInto parses a header into m, which may have had another header: it sets all fields
// that AppendHeader appends, and uses the room in the lists. It leaves the node and the
// bytes. ErrMalformed means that no half sends such a header. The half that takes the
// message checks more.
func ParseInto(b []byte, m *Message) error {
	const mostSize = 1 << 62
	r := wire.NewReader(b)
	if n := r.Array(); n != headerFields && r.Err() == nil {
		return fmt.Errorf("%w: header of %d fields, want %d", ErrMalformed, n, headerFields)
	}
	var n [headerNumbers]uint64
	r.Uints(n[:])
	kind, bits, size, reason := n[0], n[1], n[12], n[13]
	if kind > uint64(ConfirmedMessage) || bits > allBits || size > mostSize || reason > uint64(Abandoned) {
		return fmt.Errorf("%w: header with kind %d, bits %#x, size %d, reason %d", ErrMalformed, kind, bits, size, reason)
	}
	m.Kind, m.Mode, m.Prior = Kind(kind), Mode(bits&1), Prior(bits>>bitsPrior&3)
	m.Wrote, m.Whole, m.Alone = bits&bitWrote != 0, bits&bitWhole != 0, bits&bitAlone != 0
	m.Resource, m.Incarnation, m.Epoch, m.Seq = n[2], n[3], n[4], n[5]
	m.ID, m.Old = ID(n[6]), ID(n[7])
	m.Version, m.Fence, m.Known, m.Order = n[8], n[9], n[10], n[11]
	m.Size, m.Reason = int(size), Reason(reason)
	ids := r.Array()
	if ids > mostIDs {
		return fmt.Errorf("%w: header of %d requests, want at most %d", ErrMalformed, ids, mostIDs)
	}
	m.IDs = slices.Grow(m.IDs[:0], ids)
	for range ids {
		m.IDs = append(m.IDs, ID(r.Uint()))
	}
	spans := r.Array()
	if spans%2 != 0 || spans > 2*mostSpans {
		return fmt.Errorf("%w: header of %d ends of spans, want an even number up to %d", ErrMalformed, spans, 2*mostSpans)
	}
	m.Spans = slices.Grow(m.Spans[:0], spans/2)
	for range spans / 2 {
		m.Spans = append(m.Spans, Span{int(r.UintTo(mostSize)), int(r.UintTo(mostSize))})
	}
	if err := r.Done(); err != nil {
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	if m.Kind == 0 || m.Prior > PriorPoisoned {
		return fmt.Errorf("%w: %v", ErrMalformed, m)
	}
	return nil
}
