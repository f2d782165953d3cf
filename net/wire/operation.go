package wire

import (
	"math/bits"

	"github.com/orwl/go-orwl/net/rma"
)

// Operation is an operation of a rank on the memory of a rank of another node, as
// rma.Window has them: KindPut to KindGetBytes.
//
//	                    A            B        C         Length
//	Put                 value
//	Accumulate, FetchOp operand      op
//	CAS                 old          new
//	Await               value        mask     relation
//	GetBytes                                            bytes
//	PutBytes            (bulk)
//	Get, Flush
//	Forget              the number of an Await, which is to end
type Operation struct {
	Origin, Target rma.Rank
	Disp           rma.Disp
	A, B, C        uint64
	Length         int
}

// shape is which fields an operation of a kind has beside its ranks.
type shape uint8

const (
	hasDisp shape = 1 << iota
	hasA
	hasB
	hasC
	hasLength
)

// shapes are the shapes of the kinds from KindPut on.
var shapes = [...]shape{
	0:                        hasDisp | hasA, // KindPut
	KindAccumulate - KindPut: hasDisp | hasA | hasB,
	KindFetchOp - KindPut:    hasDisp | hasA | hasB,
	KindCAS - KindPut:        hasDisp | hasA | hasB,
	KindGet - KindPut:        hasDisp,
	KindFlush - KindPut:      0,
	KindAwait - KindPut:      hasDisp | hasA | hasB | hasC,
	KindForget - KindPut:     hasA,
	KindPutBytes - KindPut:   hasDisp,
	KindGetBytes - KindPut:   hasDisp | hasLength,
}

func (s shape) fields() int { return 2 + bits.OnesCount8(uint8(s)) }

// Append appends the frame, without its bulk. h.Kind is an operation's.
func (f *Operation) Append(b []byte, h Head) []byte {
	from, s := len(b), shapes[h.Kind-KindPut]
	b = begin(b, h, s.fields())
	b = AppendUint(AppendUint(b, uint64(f.Origin)), uint64(f.Target))
	if s&hasDisp != 0 {
		b = AppendUint(b, uint64(f.Disp))
	}
	if s&hasA != 0 {
		b = AppendUint(b, f.A)
	}
	if s&hasB != 0 {
		b = AppendUint(b, f.B)
	}
	if s&hasC != 0 {
		b = AppendUint(b, f.C)
	}
	if s&hasLength != 0 {
		b = AppendUint(b, uint64(f.Length))
	}
	return end(b, from)
}

// Parse reads the body of an operation of kind k. Fields that the kind has not are
// zero.
func (f *Operation) Parse(k Kind, r Reader) error {
	*f = Operation{}
	if !k.Operation() || r.fields != shapes[k-KindPut].fields() {
		return notOperation(k, r)
	}
	s, b, v, i := shapes[k-KindPut], r.b, uint64(0), 0
	v, i = uintAt(b, i)
	f.Origin = rma.Rank(v)
	v, i = uintAt(b, i)
	f.Target = rma.Rank(v)
	if s&hasDisp != 0 {
		v, i = uintAt(b, i)
		f.Disp = rma.Disp(v)
	}
	if s&hasA != 0 {
		f.A, i = uintAt(b, i)
	}
	if s&hasB != 0 {
		f.B, i = uintAt(b, i)
	}
	if s&hasC != 0 {
		f.C, i = uintAt(b, i)
	}
	if s&hasLength != 0 {
		v, i = uintAt(b, i)
		f.Length = int(v)
	}
	if i != len(b) || uint64(f.Origin)|uint64(f.Target) > maxRank || uint64(f.Length) > MaxBulk {
		return notOperation(k, r)
	}
	return nil
}

// notOperation is the error of a body that is none of kind k. It stands apart so that
// Parse keeps its Reader in registers.
//
//go:noinline
func notOperation(k Kind, r Reader) error {
	r.fail("no %v in %d fields and %d bytes, or a rank or a length beyond all limits", k, r.fields, len(r.b))
	return r.err
}

// Until is the condition of an Await.
func (f *Operation) Until() rma.Until {
	return rma.Until{Value: f.A, Mask: f.B, Rel: rma.Relation(f.C)}
}

// Reply answers an operation. Its bulk is what GetBytes has read.
type Reply struct {
	Origin rma.Rank // the rank whose operation it answers
	Call   uint64   // the number of the operation's frame
	Status Status
	Value  uint64
}

// Status is how an operation ended.
type Status uint8

const (
	// Done: as it should.
	Done Status = iota
	// BadAddress: there is no such memory. A Flush gets it if an operation before it named
	// such memory.
	BadAddress
	// Forgotten: the Await was ended by a Forget.
	Forgotten
	// Failed: the window of the node that answers has failed. Value is the rank whose loss
	// is the reason, counted from 1.
	Failed
	// Closed: that node has ended its fabric, by itself or because another node has: then
	// Value is a rank of the other, counted from 1.
	Closed
	lastStatus = Closed
)

// Append appends the frame, without its bulk.
func (f *Reply) Append(b []byte, h Head) []byte {
	from := len(b)
	h.Kind = KindReply
	b = begin(b, h, 4)
	b = AppendUint(AppendUint(b, uint64(f.Origin)), f.Call)
	b = AppendUint(append(b, byte(f.Status)), f.Value)
	return end(b, from)
}

// Parse reads the body.
func (f *Reply) Parse(r Reader) error {
	r.want(4)
	f.Origin, f.Call = rma.Rank(r.UintTo(maxRank)), r.Uint()
	f.Status, f.Value = Status(r.UintTo(uint64(lastStatus))), r.Uint()
	return r.Done()
}
