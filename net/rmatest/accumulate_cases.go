package rmatest

import "github.com/orwl/go-orwl/net/rma"

// Accumulate.
var accumulateCases = []Case{
	{Name: "accumulate/results", Ranks: 2, Words: 128, Setup: scene(MaxRanks, accumulateResults)},
	{Name: "accumulate/sum-of-all", Ranks: 4, Words: 64, Setup: scene(1, accumulateSum)},
	{Name: "accumulate/late-sum", Ranks: 4, Words: 64, Setup: scene(1, accumulateLate)},
}

func accumulateResults(p *player, at rma.Disp) {
	mine := at + rma.Disp(p.me)
	minus := ^uint64(0)
	for _, q := range []rma.Rank{p.me, p.after(1)} {
		for _, step := range []struct {
			op              rma.Op
			operand, result uint64
		}{
			{rma.Sum, 5, 5}, {rma.Sum, minus, 4}, {rma.Replace, 1 << 63, 1 << 63}, {rma.NoOp, 3, 1 << 63},
			{rma.Sum, 1 << 63, 0}, {rma.Sum, minus, minus}, {rma.Replace, 0, 0},
		} {
			p.Accumulate(q, mine, step.op, step.operand)
			p.Flush(q)
			p.equal(p.Get(q, mine), step.result, "the word after Accumulate %v %#x", step.op, step.operand)
		}
	}
}

// accumulateSum flushes each increment.
func accumulateSum(p *player, at rma.Disp) {
	n := p.share(200)
	for range n {
		p.Accumulate(0, at, rma.Sum, 3)
		p.Flush(0)
	}
	p.meet()
	p.equal(p.Get(0, at), uint64(3*n*p.ranks), "the sum of all ranks' increments")
}

// accumulateLate flushes once for many increments: in whatever order they arrive,
// none is lost.
func accumulateLate(p *player, at rma.Disp) {
	n := p.share(200)
	for i := range n {
		p.Accumulate(0, at, rma.Sum, uint64(i))
	}
	p.FlushAll()
	p.meet()
	p.equal(p.Get(0, at), uint64(n*(n-1)/2*p.ranks), "the sum of all ranks' increments")
}
