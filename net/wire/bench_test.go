package wire_test

import (
	"testing"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/wire"
)

// A FetchOp in the middle of a run: goals are 15 ns to write it and 25 to read it.
func BenchmarkOperation(b *testing.B) {
	op := wire.Operation{Origin: 17, Target: 42, Disp: 1000, A: 1, B: uint64(rma.Sum)}
	head := wire.Head{Kind: wire.KindFetchOp, Number: 1 << 20}
	frame := op.Append(nil, head)
	b.Run("append", func(b *testing.B) {
		buffer := make([]byte, 0, 64)
		for b.Loop() {
			buffer = op.Append(buffer[:0], head)
		}
	})
	b.Run("parse", func(b *testing.B) {
		var got wire.Operation
		for b.Loop() {
			n, err := wire.HeaderSize(frame)
			if err != nil {
				b.Fatal(err)
			}
			h, body, err := wire.ParseHead(frame[4:n], 0)
			if err != nil {
				b.Fatal(err)
			}
			if err := got.Parse(h.Kind, body); err != nil {
				b.Fatal(err)
			}
		}
	})
}
