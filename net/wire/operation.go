package wire

import "github.com/orwl/go-orwl/net/rma"

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

// shape is which fields of an operation its kind has.
type shape struct{ disp, a, b, c, length bool }

// shapes are those of the kinds from KindPut on.
var shapes = [...]shape{
	KindPut - KindPut:        {disp: true, a: true},
	KindAccumulate - KindPut: {disp: true, a: true, b: true},
	KindFetchOp - KindPut:    {disp: true, a: true, b: true},
	KindCAS - KindPut:        {disp: true, a: true, b: true},
	KindGet - KindPut:        {disp: true},
	KindFlush - KindPut:      {},
	KindAwait - KindPut:      {disp: true, a: true, b: true, c: true},
	KindForget - KindPut:     {a: true},
	KindPutBytes - KindPut:   {disp: true},
	KindGetBytes - KindPut:   {disp: true, length: true},
}

func (s shape) fields() int {
	n := 2
	for _, has := range [...]bool{s.disp, s.a, s.b, s.c, s.length} {
		if has {
			n++
		}
	}
	return n
}

// Append appends the frame, without its bulk.
func (f *Operation) Append(b []byte, h Head) []byte {
	from, s := len(b), shapes[h.Kind-KindPut]
	b = begin(b, h, s.fields())
	b = AppendUint(AppendUint(b, uint64(f.Origin)), uint64(f.Target))
	if s.disp {
		b = AppendUint(b, uint64(f.Disp))
	}
	if s.a {
		b = AppendUint(b, f.A)
	}
	if s.b {
		b = AppendUint(b, f.B)
	}
	if s.c {
		b = AppendUint(b, f.C)
	}
	if s.length {
		b = AppendUint(b, uint64(f.Length))
	}
	return end(b, from)
}

// Parse reads the body of an operation of kind k.
func (f *Operation) Parse(k Kind, r Reader) error {
	const mostRanks = 1 << 31
	s := shapes[k-KindPut]
	r.want(s.fields())
	f.Origin, f.Target = rma.Rank(r.UintTo(mostRanks)), rma.Rank(r.UintTo(mostRanks))
	if s.disp {
		f.Disp = rma.Disp(r.Uint())
	}
	if s.a {
		f.A = r.Uint()
	}
	if s.b {
		f.B = r.Uint()
	}
	if s.c {
		f.C = r.Uint()
	}
	if s.length {
		f.Length = int(r.UintTo(MaxBulk))
	}
	return r.Done()
}

// Until is the condition of an Await.
func (f *Operation) Until() rma.Until {
	return rma.Until{Value: f.A, Mask: f.B, Rel: rma.Relation(f.C)}
}
