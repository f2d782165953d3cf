package rmatest

import (
	"errors"

	"github.com/orwl/go-orwl/net/rma"
)

// Cases of FetchOp and CAS. In "once" cases all ranks change one word at rank 0. They
// mark each value that they get in a table there. If two ranks get one value, an
// operation was not atomic.
var atomicCases = []Case{
	{Name: "atomic/fetch-sum-once", Ranks: 4, Words: 2048, Setup: Scene(1+onceTable, fetchSumOnce)},
	{Name: "atomic/fetch-replace-once", Ranks: 4, Words: 2048, Setup: Scene(1+onceTable, fetchReplaceOnce)},
	{Name: "atomic/fetch-results", Ranks: 2, Words: 128, Setup: Scene(MaxRanks, fetchResults)},
	{Name: "atomic/cas-results", Ranks: 2, Words: 128, Setup: Scene(MaxRanks, casResults)},
	{Name: "atomic/cas-elects-one", Ranks: 4, Words: 128, Setup: Scene(2*elections, casElectsOne)},
	{Name: "atomic/cas-loop-once", Ranks: 4, Words: 2048, Setup: Scene(1+onceTable, casLoopOnce)},
	{Name: "atomic/mixed", Ranks: 4, Words: 128, Setup: Scene(3, mixedAtomics)},
}

const (
	onceTable = 1024
	onceTotal = 512 // the table has room for 2*MaxRanks values more
	elections = 20
)

func fetchSumOnce(p *Player, at rma.Disp) {
	n := p.Share(onceTotal)
	for range n {
		value := p.FetchOp(0, at, rma.Sum, 1)
		if value >= uint64(n*p.Ranks) {
			p.Fail("FetchOp sum gave %d after fewer than %d increments", value, n*p.Ranks)
			break
		}
		p.take(0, at+1+rma.Disp(value), "FetchOp sum: value %d", value)
	}
	p.Meet()
	p.Equal(p.Get(0, at), uint64(n*p.Ranks), "the counter in the end")
}

// fetchReplaceOnce passes unique values through one word. Each comes out once, except
// the last one, which stays in the word.
func fetchReplaceOnce(p *Player, at rma.Disp) {
	n := p.Share(onceTotal)
	for i := range n {
		own := uint64(i*p.Ranks+int(p.Me)) + 1
		value := p.FetchOp(0, at, rma.Replace, own)
		if value > uint64(n*p.Ranks) {
			p.Fail("FetchOp replace gave %d, a value of no rank", value)
			break
		}
		p.take(0, at+1+rma.Disp(value), "FetchOp replace: value %d", value)
	}
	p.Meet()
	if p.Me == 0 {
		last := p.Get(0, at)
		for value := range uint64(n*p.Ranks) + 1 {
			if came := p.Get(0, at+1+rma.Disp(value)) != 0; came == (value == last) {
				p.Fail("FetchOp replace: value %d came out: %v, the last one is %d", value, came, last)
			}
		}
	}
}

func fetchResults(p *Player, at rma.Disp) {
	mine := at + rma.Disp(p.Me)
	minus := ^uint64(0)
	for _, q := range []rma.Rank{p.Me, p.After(1)} {
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
			p.Equal(p.FetchOp(q, mine, step.op, step.operand), step.old, "FetchOp %v %#x", step.op, step.operand)
			p.Equal(p.Get(q, mine), step.result, "the word after FetchOp %v %#x", step.op, step.operand)
		}
	}
}

func casResults(p *Player, at rma.Disp) {
	mine := at + rma.Disp(p.Me)
	minus := ^uint64(0)
	for _, q := range []rma.Rank{p.Me, p.After(1)} {
		for _, step := range []struct{ old, new, was, result uint64 }{
			{0, 7, 0, 7},
			{0, 8, 7, 7},
			{8, 9, 7, 7},
			{7, 7, 7, 7},
			{7, minus, 7, minus},
			{7, 1, minus, minus},
			{minus, 0, minus, 0},
		} {
			p.Equal(p.CAS(q, mine, step.old, step.new), step.was, "CAS %#x to %#x", step.old, step.new)
			p.Equal(p.Get(q, mine), step.result, "the word after CAS %#x to %#x", step.old, step.new)
		}
	}
}

// casElectsOne lets all ranks try to be the first at one word.
func casElectsOne(p *Player, at rma.Disp) {
	for i := range rma.Disp(elections) {
		chair, votes := at+2*i, at+2*i+1
		was := p.CAS(0, chair, 0, uint64(p.Me)+1)
		if was == 0 {
			p.take(0, votes, "election %d: the first place", i)
			was = uint64(p.Me) + 1
		}
		p.Equal(p.Get(0, chair), was, "election %d: the winner", i)
		p.Meet()
		if p.Get(0, votes) == 0 {
			p.Fail("election %d has no winner", i)
		}
	}
}

// casLoopOnce increments by Get and CAS.
func casLoopOnce(p *Player, at rma.Disp) {
	n := p.Share(onceTotal / 2)
	for range n {
		value := p.Get(0, at)
		for {
			was := p.CAS(0, at, value, value+1)
			if was == value || p.Err() != nil || p.Context.Err() != nil {
				break
			}
			value = was
		}
		if value >= uint64(n*p.Ranks) {
			p.Fail("CAS counted to %d after fewer than %d increments", value, n*p.Ranks)
			break
		}
		p.take(0, at+1+rma.Disp(value), "CAS: value %d", value)
	}
	p.Meet()
	p.Equal(p.Get(0, at), uint64(n*p.Ranks), "the counter in the end")
}

// mixedAtomics lets every kind of atomic change its own part of one word.
func mixedAtomics(p *Player, at rma.Disp) {
	n := p.Share(240)
	count := map[int]uint64{}
	for i := range n {
		kind := (i + int(p.Me)) % 3
		count[kind]++
		switch kind {
		case 0:
			p.FetchOp(0, at, rma.Sum, 1)
		case 1:
			p.Accumulate(0, at, rma.Sum, 1<<20)
			p.Flush(0)
		case 2:
			value := p.FetchOp(0, at, rma.NoOp, 0)
			for p.Err() == nil && p.Context.Err() == nil {
				was := p.CAS(0, at, value, value+1<<40)
				if was == value {
					break
				}
				value = was
			}
		}
	}
	p.FetchOp(0, at+1, rma.Sum, count[0]|count[1]<<20|count[2]<<40)
	p.Meet()
	p.Equal(p.Get(0, at), p.Get(0, at+1), "the sum of FetchOp, Accumulate and CAS, 20 bits each,")
}

// Cases of Accumulate.
var accumulateCases = []Case{
	{Name: "accumulate/results", Ranks: 2, Words: 128, Setup: Scene(MaxRanks, accumulateResults)},
	{Name: "accumulate/sum-of-all", Ranks: 4, Words: 64, Setup: Scene(1, accumulateSum)},
	{Name: "accumulate/late-sum", Ranks: 4, Words: 64, Setup: Scene(1, accumulateLate)},
}

func accumulateResults(p *Player, at rma.Disp) {
	mine := at + rma.Disp(p.Me)
	minus := ^uint64(0)
	for _, q := range []rma.Rank{p.Me, p.After(1)} {
		for _, step := range []struct {
			op              rma.Op
			operand, result uint64
		}{
			{rma.Sum, 5, 5}, {rma.Sum, minus, 4}, {rma.Replace, 1 << 63, 1 << 63}, {rma.NoOp, 3, 1 << 63},
			{rma.Sum, 1 << 63, 0}, {rma.Sum, minus, minus}, {rma.Replace, 0, 0},
		} {
			p.Accumulate(q, mine, step.op, step.operand)
			p.Flush(q)
			p.Equal(p.Get(q, mine), step.result, "the word after Accumulate %v %#x", step.op, step.operand)
		}
	}
}

// accumulateSum flushes each increment.
func accumulateSum(p *Player, at rma.Disp) {
	n := p.Share(200)
	for range n {
		p.Accumulate(0, at, rma.Sum, 3)
		p.Flush(0)
	}
	p.Meet()
	p.Equal(p.Get(0, at), uint64(3*n*p.Ranks), "the sum of all ranks' increments")
}

// accumulateLate flushes once for many increments. They arrive in any order, and none
// is lost.
func accumulateLate(p *Player, at rma.Disp) {
	n := p.Share(200)
	for i := range n {
		p.Accumulate(0, at, rma.Sum, uint64(i))
	}
	p.FlushAll()
	p.Meet()
	p.Equal(p.Get(0, at), uint64(n*(n-1)/2*p.Ranks), "the sum of all ranks' increments")
}

// Cases of rma.Shared, for fabrics whose ranks share memory.
var sharedCases = []Case{
	{Name: "shared/results", Ranks: 2, Words: 128, Setup: shared(MaxRanks, sharedResults)},
	{Name: "shared/one-memory", Ranks: 3, Words: 128, Setup: shared(MaxRanks, sharedOneMemory)},
	{Name: "shared/add-once", Ranks: 4, Words: 2048, Setup: shared(1+onceTable, sharedAddOnce)},
	{Name: "shared/wakes", Ranks: 3, Words: 8, Setup: shared(1, sharedWakes)},
	{Name: "shared/refuses", Ranks: 2, Words: 8, Setup: shared(1, sharedRefuses)},
}

// shared is the Setup of a case about direct access. The body skips a fabric on which some
// rank's memory is out of reach.
func shared(words int, act func(p *Player, w rma.Shared, at rma.Disp)) func(f rma.Fabric) (Body, error) {
	return Scene(words, func(p *Player, at rma.Disp) {
		w, ok := p.Window.(rma.Shared)
		if !ok {
			p.Fail("%w: a %T is not an rma.Shared", ErrSkip, p.Window)
			return
		}
		for target := range rma.Rank(p.Ranks) {
			if _, ok := w.Direct(target, at); !ok {
				p.Fail("%w: the memory of rank %d is out of reach", ErrSkip, target)
				return
			}
		}
		act(p, w, at)
	})
}

// word is target's word, which the fabric says that it can reach.
func (p *Player) word(w rma.Shared, target rma.Rank, disp rma.Disp) *rma.Word {
	x, ok := w.Direct(target, disp)
	if !ok {
		p.Fail("rank %d's memory is out of reach now", target)
	}
	if x.Target != target || x.Disp != disp {
		p.Fail("the word of rank %d at %s says that it is rank %d's at %s", target, disp, x.Target, x.Disp)
	}
	return &x
}

func sharedResults(p *Player, w rma.Shared, at rma.Disp) {
	mine := at + rma.Disp(p.Me)
	for _, q := range []rma.Rank{p.Me, p.After(1)} {
		x := p.word(w, q, mine)
		p.Equal(x.Load(), 0, "the word at first")
		x.Store(40)
		p.Equal(x.Add(2), 40, "what Add found")
		p.Equal(x.Add(^uint64(0)), 42, "what Add found")
		p.Equal(x.Swap(7), 41, "what Swap found")
		if x.CompareAndSwap(8, 9) {
			p.Fail("CompareAndSwap of 8 swaps a word that holds 7")
		}
		if !x.CompareAndSwap(7, 9) {
			p.Fail("CompareAndSwap of 7 does not swap a word that holds 7")
		}
		p.Equal(x.Load(), 9, "the word in the end")
		x.Store(0)
	}
}

// sharedOneMemory lets instructions, operations and the memory itself see each other's work.
func sharedOneMemory(p *Player, w rma.Shared, at rma.Disp) {
	mine := at + rma.Disp(p.Me)
	for n, q := 0, p.Me; n < 2; n, q = n+1, p.After(1) {
		x := p.word(w, q, mine)
		x.Store(5)
		p.Equal(w.Get(q, mine), 5, "a Get after a store")
		w.Put(q, mine, 6)
		w.Flush(q)
		p.Equal(x.Load(), 6, "a load after a Put")
		p.Equal(w.FetchOp(q, mine, rma.Sum, 1), 6, "a FetchOp after a load")
		if memory, ok := w.Memory(q, mine, 1); ok {
			p.Equal(memory[0], 7, "the memory after a FetchOp")
			memory[0] = 8
			p.Equal(x.Load(), 8, "a load after a change of the memory")
		}
		x.Store(0)
	}
}

func sharedAddOnce(p *Player, w rma.Shared, at rma.Disp) {
	counter, n := p.word(w, 0, at), p.Share(onceTotal)
	for range n {
		value := counter.Add(1)
		if value >= uint64(n*p.Ranks) {
			p.Fail("Add found %d after fewer than %d additions", value, n*p.Ranks)
			break
		}
		p.take(0, at+1+rma.Disp(value), "Add: value %d", value)
	}
	p.Meet()
	p.Equal(counter.Load(), uint64(n*p.Ranks), "the counter in the end")
}

// sharedWakes sends a number round the ranks. Each rank awaits its own word. The rank before
// changes it by an instruction and notifies.
func sharedWakes(p *Player, w rma.Shared, at rma.Disp) {
	next := p.word(w, p.After(1), at)
	for n := 1; n <= p.Share(200); n++ {
		if p.Me > 0 || n > 1 {
			want := n
			if p.Me == 0 {
				want = n - 1
			}
			if _, err := w.Await(p.Context, p.Me, at, rma.Is(uint64(want))); err != nil {
				p.Fail("turn %d: %w", n, err)
				return
			}
		}
		next.Store(uint64(n))
		w.Notify(next.Target, next.Disp)
	}
}

func sharedRefuses(p *Player, w rma.Shared, at rma.Disp) {
	for what, access := range map[string]func(){
		"Direct of a rank that does not exist": func() { w.Direct(rma.Rank(p.Ranks), at) },
		"Direct past the memory":               func() { w.Direct(p.Me, 1<<40) },
		"Memory past the memory":               func() { w.Memory(p.Me, at, 1<<40) },
	} {
		func() {
			defer func() {
				err, _ := recover().(error)
				if address := new(rma.AddressError); !errors.As(err, &address) {
					p.Fail("%s ends with %v, want a panic with an *rma.AddressError", what, err)
				}
			}()
			access()
		}()
	}
}
