package orwl

import (
	"context"
	"testing"

	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/resource"
)

// BenchmarkNamedBytes has one node write 64 bytes of 1 MiB, and another read it. The writer names the bytes, or
// nothing, so that all of them travel. Both nodes are in this process. They use sockets, as on two machines.
func BenchmarkNamedBytes(b *testing.B) {
	for _, c := range []struct {
		name   string
		writer int
		names  bool
	}{
		{"home-writes/all", 0, false}, {"home-writes/named", 0, true},
		{"mirror-writes/all", 1, false}, {"mirror-writes/named", 1, true},
	} {
		b.Run(c.name, func(b *testing.B) { benchmarkNamedBytes(b, c.writer, c.names) })
	}
}

func benchmarkNamedBytes(b *testing.B, writer int, names bool) {
	nodes := crewOf(b, 2, func(_ int, o *JoinOptions) { o.Remote = true })
	defer disband(b, nodes)
	must := func(err error) {
		if err != nil {
			b.Fatal(err)
		}
	}
	var r [2]*resource.Resource
	for i := range r {
		var err error
		r[i], err = resource.New("block", mebi)
		must(err)
	}
	must(nodes[0].site.Home(core(r[0])))
	must(nodes[1].site.Mirror(core(r[1]), 0))
	ctx := context.Background()
	var w, h queue.Place
	sent := func() float64 {
		return float64(nodes[0].site.Counts().BytesOut + nodes[1].site.Counts().BytesOut)
	}
	if writer == 1 { // the mirror's request is there before the home's
		must(w.Request(core(r[1]), queue.Write))
		must(w.Acquire(ctx))
		must(h.Request(core(r[0]), queue.Read))
	} else {
		must(h.Request(core(r[1]), queue.Read))
		must(h.Acquire(ctx))
		must(w.Request(core(r[0]), queue.Write))
		must(h.Renew())
	}
	round, before := 0, 0.0
	step := func() {
		if round > 0 || writer == 0 {
			must(w.Acquire(ctx))
		}
		p, err := w.Writable()
		must(err)
		off := round * 4096 % mebi
		p[off]++
		if names {
			must(w.Dirty(queue.Range{Off: off, Len: 64}))
		}
		must(w.Renew())
		must(h.Acquire(ctx))
		got, err := h.Bytes()
		must(err)
		if round++; got[off] == 0 {
			b.Fatalf("round %d is not there", round)
		}
		must(h.Renew())
	}
	step()
	before = sent()
	b.ResetTimer()
	for range b.N {
		step()
	}
	b.StopTimer()
	b.ReportMetric((sent()-before)/float64(b.N), "bytes/round")
	must(w.Cancel())
	must(h.Cancel())
}
