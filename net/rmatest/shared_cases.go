package rmatest

import (
	"errors"

	"github.com/orwl/go-orwl/net/rma"
)

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
func shared(words int, act func(p *player, w rma.Shared, at rma.Disp)) func(f rma.Fabric) (Body, error) {
	return scene(words, func(p *player, at rma.Disp) {
		w, ok := p.Window.(rma.Shared)
		if !ok {
			p.fail("%w: a %T is not an rma.Shared", ErrSkip, p.Window)
			return
		}
		for target := range rma.Rank(p.ranks) {
			if _, ok := w.Direct(target, at); !ok {
				p.fail("%w: the memory of rank %d is out of reach", ErrSkip, target)
				return
			}
		}
		act(p, w, at)
	})
}

// word is target's word, which the fabric says that it can reach.
func (p *player) word(w rma.Shared, target rma.Rank, disp rma.Disp) *rma.Word {
	x, ok := w.Direct(target, disp)
	if !ok {
		p.fail("rank %d's memory is out of reach now", target)
	}
	if x.Target != target || x.Disp != disp {
		p.fail("the word of rank %d at %s says that it is rank %d's at %s", target, disp, x.Target, x.Disp)
	}
	return &x
}

func sharedResults(p *player, w rma.Shared, at rma.Disp) {
	mine := at + rma.Disp(p.me)
	for _, q := range []rma.Rank{p.me, p.after(1)} {
		x := p.word(w, q, mine)
		p.equal(x.Load(), 0, "the word at first")
		x.Store(40)
		p.equal(x.Add(2), 40, "what Add found")
		p.equal(x.Add(^uint64(0)), 42, "what Add found")
		p.equal(x.Swap(7), 41, "what Swap found")
		if x.CompareAndSwap(8, 9) {
			p.fail("CompareAndSwap of 8 swaps a word that holds 7")
		}
		if !x.CompareAndSwap(7, 9) {
			p.fail("CompareAndSwap of 7 does not swap a word that holds 7")
		}
		p.equal(x.Load(), 9, "the word in the end")
		x.Store(0)
	}
}

// sharedOneMemory lets instructions, operations and the memory itself see each other's work.
func sharedOneMemory(p *player, w rma.Shared, at rma.Disp) {
	mine := at + rma.Disp(p.me)
	for n, q := 0, p.me; n < 2; n, q = n+1, p.after(1) {
		x := p.word(w, q, mine)
		x.Store(5)
		p.equal(w.Get(q, mine), 5, "a Get after a store")
		w.Put(q, mine, 6)
		w.Flush(q)
		p.equal(x.Load(), 6, "a load after a Put")
		p.equal(w.FetchOp(q, mine, rma.Sum, 1), 6, "a FetchOp after a load")
		if memory, ok := w.Memory(q, mine, 1); ok {
			p.equal(memory[0], 7, "the memory after a FetchOp")
			memory[0] = 8
			p.equal(x.Load(), 8, "a load after a change of the memory")
		}
		x.Store(0)
	}
}

func sharedAddOnce(p *player, w rma.Shared, at rma.Disp) {
	counter, n := p.word(w, 0, at), p.share(onceTotal)
	for range n {
		value := counter.Add(1)
		if value >= uint64(n*p.ranks) {
			p.fail("Add found %d after fewer than %d additions", value, n*p.ranks)
			break
		}
		p.take(0, at+1+rma.Disp(value), "Add: value %d", value)
	}
	p.meet()
	p.equal(counter.Load(), uint64(n*p.ranks), "the counter in the end")
}

// sharedWakes sends a number round the ranks. Each rank awaits its own word. The rank before
// changes it by an instruction and notifies.
func sharedWakes(p *player, w rma.Shared, at rma.Disp) {
	next := p.word(w, p.after(1), at)
	for n := 1; n <= p.share(200); n++ {
		if p.me > 0 || n > 1 {
			want := n
			if p.me == 0 {
				want = n - 1
			}
			if _, err := w.Await(p.ctx, p.me, at, rma.Is(uint64(want))); err != nil {
				p.fail("turn %d: %w", n, err)
				return
			}
		}
		next.Store(uint64(n))
		w.Notify(next.Target, next.Disp)
	}
}

func sharedRefuses(p *player, w rma.Shared, at rma.Disp) {
	for what, access := range map[string]func(){
		"Direct of a rank that does not exist": func() { w.Direct(rma.Rank(p.ranks), at) },
		"Direct past the memory":               func() { w.Direct(p.me, 1<<40) },
		"Memory past the memory":               func() { w.Memory(p.me, at, 1<<40) },
	} {
		func() {
			defer func() {
				err, _ := recover().(error)
				if address := new(rma.AddressError); !errors.As(err, &address) {
					p.fail("%s ends with %v, want a panic with an *rma.AddressError", what, err)
				}
			}()
			access()
		}()
	}
}
