package rmatest

import "github.com/orwl/go-orwl/net/rma"

// Cases of FetchOp and CAS. In "once" cases all ranks change one word at rank 0. They
// mark each value that they get in a table there. If two ranks get one value, an
// operation was not atomic.
var atomicCases = []Case{
	{Name: "atomic/fetch-sum-once", Ranks: 4, Words: 2048, Setup: scene(1+onceTable, fetchSumOnce)},
	{Name: "atomic/fetch-replace-once", Ranks: 4, Words: 2048, Setup: scene(1+onceTable, fetchReplaceOnce)},
	{Name: "atomic/fetch-results", Ranks: 2, Words: 128, Setup: scene(MaxRanks, fetchResults)},
	{Name: "atomic/cas-results", Ranks: 2, Words: 128, Setup: scene(MaxRanks, casResults)},
	{Name: "atomic/cas-elects-one", Ranks: 4, Words: 128, Setup: scene(2*elections, casElectsOne)},
	{Name: "atomic/cas-loop-once", Ranks: 4, Words: 2048, Setup: scene(1+onceTable, casLoopOnce)},
	{Name: "atomic/mixed", Ranks: 4, Words: 128, Setup: scene(3, mixedAtomics)},
}

const (
	onceTable = 1024
	onceTotal = 512 // the table has room for 2*MaxRanks values more
	elections = 20
)

func fetchSumOnce(p *player, at rma.Disp) {
	n := p.share(onceTotal)
	for range n {
		value := p.FetchOp(0, at, rma.Sum, 1)
		if value >= uint64(n*p.ranks) {
			p.fail("FetchOp sum gave %d after fewer than %d increments", value, n*p.ranks)
			break
		}
		p.take(0, at+1+rma.Disp(value), "FetchOp sum: value %d", value)
	}
	p.meet()
	p.equal(p.Get(0, at), uint64(n*p.ranks), "the counter in the end")
}

// fetchReplaceOnce passes unique values through one word. Each comes out once, except
// the last one, which stays in the word.
func fetchReplaceOnce(p *player, at rma.Disp) {
	n := p.share(onceTotal)
	for i := range n {
		own := uint64(i*p.ranks+int(p.me)) + 1
		value := p.FetchOp(0, at, rma.Replace, own)
		if value > uint64(n*p.ranks) {
			p.fail("FetchOp replace gave %d, a value of no rank", value)
			break
		}
		p.take(0, at+1+rma.Disp(value), "FetchOp replace: value %d", value)
	}
	p.meet()
	if p.me == 0 {
		last := p.Get(0, at)
		for value := range uint64(n*p.ranks) + 1 {
			if came := p.Get(0, at+1+rma.Disp(value)) != 0; came == (value == last) {
				p.fail("FetchOp replace: value %d came out: %v, the last one is %d", value, came, last)
			}
		}
	}
}

func fetchResults(p *player, at rma.Disp) {
	mine := at + rma.Disp(p.me)
	minus := ^uint64(0)
	for _, q := range []rma.Rank{p.me, p.after(1)} {
		for _, step := range []struct {
			op                   rma.Op
			operand, old, result uint64
		}{
			{rma.Replace, 40, 0, 40},
			{rma.Sum, 2, 40, 42},
			{rma.Sum, minus, 42, 41},
			{rma.Sum, minus - 41, 41, minus}, // below zero and back
			{rma.Sum, 1, minus, 0},
			{rma.Replace, 1 << 63, 0, 1 << 63},
			{rma.NoOp, 17, 1 << 63, 1 << 63},
			{rma.Sum, 1 << 63, 1 << 63, 0},
			{rma.NoOp, minus, 0, 0},
			{rma.Replace, 0, 0, 0},
		} {
			p.equal(p.FetchOp(q, mine, step.op, step.operand), step.old, "FetchOp %v %#x", step.op, step.operand)
			p.equal(p.Get(q, mine), step.result, "the word after FetchOp %v %#x", step.op, step.operand)
		}
	}
}

func casResults(p *player, at rma.Disp) {
	mine := at + rma.Disp(p.me)
	minus := ^uint64(0)
	for _, q := range []rma.Rank{p.me, p.after(1)} {
		for _, step := range []struct{ old, new, was, result uint64 }{
			{0, 7, 0, 7},
			{0, 8, 7, 7},
			{8, 9, 7, 7},
			{7, 7, 7, 7},
			{7, minus, 7, minus},
			{7, 1, minus, minus},
			{minus, 0, minus, 0},
		} {
			p.equal(p.CAS(q, mine, step.old, step.new), step.was, "CAS %#x to %#x", step.old, step.new)
			p.equal(p.Get(q, mine), step.result, "the word after CAS %#x to %#x", step.old, step.new)
		}
	}
}

// casElectsOne lets all ranks try to be the first at one word.
func casElectsOne(p *player, at rma.Disp) {
	for i := range rma.Disp(elections) {
		chair, votes := at+2*i, at+2*i+1
		was := p.CAS(0, chair, 0, uint64(p.me)+1)
		if was == 0 {
			p.take(0, votes, "election %d: the first place", i)
			was = uint64(p.me) + 1
		}
		p.equal(p.Get(0, chair), was, "election %d: the winner", i)
		p.meet()
		if p.Get(0, votes) == 0 {
			p.fail("election %d has no winner", i)
		}
	}
}

// casLoopOnce increments by Get and CAS.
func casLoopOnce(p *player, at rma.Disp) {
	n := p.share(onceTotal / 2)
	for range n {
		value := p.Get(0, at)
		for {
			was := p.CAS(0, at, value, value+1)
			if was == value || p.Err() != nil || p.ctx.Err() != nil {
				break
			}
			value = was
		}
		if value >= uint64(n*p.ranks) {
			p.fail("CAS counted to %d after fewer than %d increments", value, n*p.ranks)
			break
		}
		p.take(0, at+1+rma.Disp(value), "CAS: value %d", value)
	}
	p.meet()
	p.equal(p.Get(0, at), uint64(n*p.ranks), "the counter in the end")
}

// mixedAtomics lets every kind of atomic change its own part of one word.
func mixedAtomics(p *player, at rma.Disp) {
	n := p.share(240)
	count := map[int]uint64{}
	for i := range n {
		kind := (i + int(p.me)) % 3
		count[kind]++
		switch kind {
		case 0:
			p.FetchOp(0, at, rma.Sum, 1)
		case 1:
			p.Accumulate(0, at, rma.Sum, 1<<20)
			p.Flush(0)
		case 2:
			value := p.FetchOp(0, at, rma.NoOp, 0)
			for p.Err() == nil && p.ctx.Err() == nil {
				was := p.CAS(0, at, value, value+1<<40)
				if was == value {
					break
				}
				value = was
			}
		}
	}
	p.FetchOp(0, at+1, rma.Sum, count[0]|count[1]<<20|count[2]<<40)
	p.meet()
	p.equal(p.Get(0, at), p.Get(0, at+1), "the sum of FetchOp, Accumulate and CAS, 20 bits each,")
}

// Cases of Accumulate.
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

// accumulateLate flushes once for many increments. They arrive in any order, and none
// is lost.
func accumulateLate(p *player, at rma.Disp) {
	n := p.share(200)
	for i := range n {
		p.Accumulate(0, at, rma.Sum, uint64(i))
	}
	p.FlushAll()
	p.meet()
	p.equal(p.Get(0, at), uint64(n*(n-1)/2*p.ranks), "the sum of all ranks' increments")
}
