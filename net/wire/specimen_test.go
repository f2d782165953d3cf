package wire_test

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/wire"
)

// specimen is a frame, what it is made of, and its body once more in msgpack's terms.
type specimen struct {
	head   wire.Head
	body   any // pointer to the frame
	fields []any
	bytes  []byte
}

// edges are the integers at which msgpack changes its form.
var edges = []uint64{0, 1, 127, 128, 255, 256, 65535, 65536, math.MaxUint32, math.MaxUint32 + 1, math.MaxUint64}

// specimens are frames of every kind.
func specimens() (all []specimen) {
	loose := func(k wire.Kind, body any, bytes []byte, fields ...any) {
		all = append(all, specimen{head: wire.Head{Kind: k}, body: body, fields: fields, bytes: bytes})
	}
	for i, v := range edges {
		u := func(n int) uint64 { return edges[(i+n)%len(edges)] }
		hello := &wire.Hello{Version: wire.Version, Nodes: u(1), Node: u(2), Incarnation: u(3), Lane: u(4), Peer: u(5), Received: u(6),
			Lease: u(7), Skew: u(8), Address: strings.Repeat("a", int(v%(wire.MaxText+1)))}
		loose(wire.KindHello, hello, hello.Append(nil), uint64(wire.Version), map[string]any{
			"nodes": u(1), "node": u(2), "incarnation": u(3), "lane": u(4), "peer": u(5), "received": u(6),
			"lease": u(7), "skew": u(8), "address": hello.Address})
		ack := &wire.Ack{Number: v}
		loose(wire.KindAck, ack, ack.Append(nil), v)
		beat := &wire.Beat{Sent: v, Echo: u(1), Held: u(2)}
		loose(wire.KindBeat, beat, beat.Append(nil), v, u(1), u(2))
		ring := &wire.Ring{Offset: v, At: u(1)}
		loose(wire.KindRing, ring, ring.Append(nil), v, u(1))
		refuse := &wire.Refuse{Reason: strings.Repeat("no", int(v%(wire.MaxText/2+1)))}
		loose(wire.KindRefuse, refuse, refuse.Append(nil), refuse.Reason)
		all = append(all, numbered(max(v, 1), u(1))...)
	}
	return all
}

// numbered are specimens of the kinds that have a number.
func numbered(number, v uint64) (all []specimen) {
	add := func(h wire.Head, body any, bytes []byte, fields ...any) {
		all = append(all, specimen{head: h, body: body, fields: fields, bytes: bytes})
	}
	bye := wire.Head{Kind: wire.KindBye, Number: number}
	add(bye, nil, wire.AppendBye(nil, number))

	for _, bulk := range [][]byte{nil, make([]byte, 1), bytes.Repeat([]byte("bulk"), 1<<14)} {
		h := wire.Head{Number: number, Bulk: len(bulk)}
		h.Kind = wire.KindParcel
		parcel := &wire.Parcel{Channel: v, Header: bytes.Repeat([]byte{7}, int(v%70000))}
		add(h, parcel, parcel.Append(nil, wire.Head{Number: h.Number, Bulk: h.Bulk}), v, parcel.Header)
		h.Kind = wire.KindReply
		reply := &wire.Reply{Origin: rma.Rank(v % (1 << 31)), Call: v, Status: wire.Status(v % 4), Value: number}
		add(h, reply, reply.Append(nil, h), uint64(reply.Origin), v, uint64(reply.Status), number)
		h.Kind = wire.KindPutBytes
		put := &wire.Operation{Origin: 1, Target: 2, Disp: rma.Disp(v)}
		add(h, put, put.Append(nil, h), uint64(1), uint64(2), v)
	}

	loan := &wire.Loan{Parcel: wire.Parcel{Channel: v, Header: bytes.Repeat([]byte{7}, int(v%300))},
		Offset: v, Length: int(max(1, v%wire.MaxBulk))}
	h := wire.Head{Kind: wire.KindLoan, Number: number}
	add(h, loan, loan.Append(nil, wire.Head{Number: number}), v, loan.Header, v, uint64(loan.Length))

	const p, q = 3, 1<<31 - 1
	operation := func(k wire.Kind, op wire.Operation, fields ...any) {
		op.Origin, op.Target = p, q
		h := wire.Head{Kind: k, Number: number}
		add(h, &op, op.Append(nil, h), append([]any{uint64(p), uint64(q)}, fields...)...)
	}
	d := rma.Dynamic(3, 4) + 5
	disp := uint64(d)
	operation(wire.KindPut, wire.Operation{Disp: d, A: v}, disp, v)
	for _, k := range []wire.Kind{wire.KindAccumulate, wire.KindFetchOp, wire.KindCAS} {
		operation(k, wire.Operation{Disp: d, A: v, B: number}, disp, v, number)
	}
	operation(wire.KindGet, wire.Operation{Disp: d}, disp)
	operation(wire.KindFlush, wire.Operation{})
	operation(wire.KindAwait, wire.Operation{Disp: d, A: v, B: number, C: 3}, disp, v, number, uint64(3))
	operation(wire.KindForget, wire.Operation{A: v}, v)
	operation(wire.KindGetBytes, wire.Operation{Disp: d, Length: int(v % wire.MaxBulk)}, disp, v%wire.MaxBulk)
	return all
}

// parse reads a whole header, as a reader that does not know its kind has to.
func parse(b []byte) (h wire.Head, body any, err error) {
	size, err := wire.HeaderSize(b)
	if err != nil || size == 0 || size > len(b) {
		return h, nil, err
	}
	h, r, err := wire.ParseHead(b[4:size], wire.MaxBulk)
	if err != nil {
		return h, nil, err
	}
	body, err = parseBody(h.Kind, r)
	return h, body, err
}

func parseBody(k wire.Kind, r wire.Reader) (any, error) {
	switch k {
	case wire.KindHello:
		f := new(wire.Hello)
		return f, f.Parse(r)
	case wire.KindRefuse:
		f := new(wire.Refuse)
		return f, f.Parse(r)
	case wire.KindAck:
		f := new(wire.Ack)
		return f, f.Parse(r)
	case wire.KindBeat:
		f := new(wire.Beat)
		return f, f.Parse(r)
	case wire.KindRing:
		f := new(wire.Ring)
		return f, f.Parse(r)
	case wire.KindBye:
		return nil, r.Done()
	case wire.KindParcel:
		f := new(wire.Parcel)
		return f, f.Parse(r)
	case wire.KindLoan:
		f := new(wire.Loan)
		return f, f.Parse(r)
	case wire.KindReply:
		f := new(wire.Reply)
		return f, f.Parse(r)
	}
	f := &wire.Operation{A: 1, B: 1, C: 1, Disp: 1, Length: 1} // of the operation before
	return f, f.Parse(k, r)
}

// write is the inverse of parse.
func write(h wire.Head, body any) []byte {
	switch f := body.(type) {
	case *wire.Hello:
		return f.Append(nil)
	case *wire.Refuse:
		return f.Append(nil)
	case *wire.Ack:
		return f.Append(nil)
	case *wire.Beat:
		return f.Append(nil)
	case *wire.Ring:
		return f.Append(nil)
	case *wire.Parcel:
		return f.Append(nil, h)
	case *wire.Loan:
		return f.Append(nil, h)
	case *wire.Reply:
		return f.Append(nil, h)
	case *wire.Operation:
		return f.Append(nil, h)
	}
	return wire.AppendBye(nil, h.Number)
}

// TestSpecimensAreComplete lets no kind be forgotten.
func TestSpecimensAreComplete(t *testing.T) {
	seen := make(map[wire.Kind]bool)
	for _, s := range specimens() {
		seen[s.head.Kind] = true
	}
	for k := wire.KindHello; k <= wire.KindGetBytes; k++ {
		if !seen[k] {
			t.Errorf("there is no specimen of a %v", k)
		}
		if k.String() == "?" || strings.HasPrefix(k.String(), "Kind") {
			t.Errorf("kind %d has no name", k)
		}
	}
	if got := (wire.KindGetBytes + 1).String(); got != "Kind(20)" {
		t.Errorf("the kind after the last is called %q", got)
	}
}
