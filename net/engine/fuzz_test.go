package engine_test

import (
	"testing"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/wire"
)

// FuzzLink gives an endpoint anything for a stream: it refuses, and goes on with a new
// one as if nothing had been.
func FuzzLink(f *testing.F) {
	source := pair(2, 64)[0]
	for k := wire.KindPut; k <= wire.KindGetBytes; k++ {
		op := wire.Operation{Origin: 0, Target: 2, Disp: 3, A: 1, Length: 16}
		var bulk []byte
		if k == wire.KindPutBytes {
			bulk = make([]byte, 16)
		}
		source.operate(k, op, bulk, false)
	}
	source.reply(wire.Reply{Origin: 2, Call: 1}, nil)
	stream := source.write((&wire.Ack{Number: 1}).Append(nil))
	for _, n := range []int{0, 10, 30, len(stream) / 2, len(stream)} {
		f.Add(stream[n:], len(stream)/3)
	}
	f.Fuzz(func(t *testing.T, b []byte, cut int) {
		both := pair(2, 64)
		e := both[1]
		e.answer = func(wire.Reply, []byte) error { return nil }
		e.operate(wire.KindFetchOp, wire.Operation{Origin: 2, Target: 0}, nil, true)
		e.write(nil)
		cut = min(max(cut, 0), len(b))
		if e.receive(b[:cut]) == nil && e.receive(b[cut:]) == nil && e.link.Taken() > uint64(len(b)) {
			t.Fatalf("%d frames in %d bytes", e.link.Taken(), len(b))
		}
		if err := e.resume(both[0].link.Taken()); err != nil {
			t.Fatal(err)
		}

		// The next frame is taken, whatever was before.
		before := e.memory.words[5]
		var op wire.Operation
		op.Origin, op.Target, op.Disp, op.A, op.B = 0, 2, 5, 1, uint64(rma.Sum)
		next := op.Append(nil, wire.Head{Kind: wire.KindAccumulate, Number: e.link.Taken() + 1})
		if err := e.receive(next); err != nil || e.memory.words[5] != before+1 {
			t.Fatalf("the word was %d and is %d: %v", before, e.memory.words[5], err)
		}
	})
}
