package engine_test

import (
	"testing"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/wire"
)

// bench is a pair of endpoints whose streams are slices, with some ranks.
type bench struct {
	pair    [2]*endpoint
	streams [2][]byte
	answers int
}

func newBench(ranks int) *bench {
	b := &bench{pair: pair(ranks, 64)}
	b.pair[0].answer = func(wire.Reply, []byte) error { b.answers++; return nil }
	return b
}

// round lets every rank of the first endpoint do a FetchOp, and have its answer.
func (b *bench) round(ranks int) error {
	for p := range ranks {
		op := wire.Operation{Origin: rma.Rank(p), Target: rma.Rank(ranks), Disp: 3, A: 1, B: uint64(rma.Sum)}
		b.pair[0].operate(wire.KindFetchOp, op, nil, true)
	}
	for i := range b.pair {
		from, to := b.pair[i], b.pair[1-i]
		from.link.Acknowledge(false)
		b.streams[i] = from.write(b.streams[i][:0])
		if err := to.receive(b.streams[i]); err != nil {
			return err
		}
	}
	return nil
}

// TestSteadyState counts the allocations of round trips: only the log's chunks.
func TestSteadyState(t *testing.T) {
	const rounds, ranks = 5000, 4
	b := newBench(ranks)
	for range 100 {
		must(t, b.round(ranks))
	}
	n := testing.AllocsPerRun(1, func() {
		for range rounds {
			must(t, b.round(ranks))
		}
	})
	// About 20 bytes are a frame. A chunk of 32 KiB is used down to its last quarter.
	if chunks := float64(2*rounds*ranks*25) / (24 << 10); n > chunks+10 {
		t.Errorf("%v allocations in %d round trips, %.0f chunks", n, rounds*ranks, chunks)
	}
	if kept := b.pair[0].link.Kept() + b.pair[1].link.Kept(); kept > 512<<10 {
		t.Errorf("%d bytes are kept", kept)
	}
	if b.answers != (2*rounds+100)*ranks {
		t.Errorf("%d answers", b.answers)
	}
}

// BenchmarkFetchOp is a FetchOp through both ends: numbered, logged, written, read,
// executed, answered, read, and acknowledged now and then.
func BenchmarkFetchOp(b *testing.B) {
	for _, c := range []struct {
		name  string
		ranks int
	}{{"1 rank", 1}, {"64 ranks", 64}} {
		b.Run(c.name, func(b *testing.B) {
			world := newBench(c.ranks)
			b.ReportAllocs()
			for n := 0; n < b.N; n += c.ranks {
				if err := world.round(c.ranks); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
