package rmatest

import (
	"fmt"

	"github.com/orwl/go-orwl/net/rma"
)

// Cases of Put, Get and Flush.
var wordCases = []Case{
	{Name: "word/zero-at-first", Ranks: 2, Words: 256, Setup: scene(128, zeroAtFirst)},
	{Name: "word/put-flush-get", Ranks: 2, Words: 128, Setup: scene(MaxRanks, putFlushGet)},
	{Name: "word/put-flush-all-get", Ranks: 2, Words: 128, Setup: scene(MaxRanks, putFlushAllGet)},
	{Name: "word/flush-orders-puts", Ranks: 2, Words: 128, Setup: scene(MaxRanks, flushOrdersPuts)},
	{Name: "word/third-rank-sees-put", Ranks: 3, Words: 128, Setup: scene(2, thirdRankSeesPut)},
	{Name: "word/window", Ranks: 2, Words: 64, Setup: sameWindow},
}

func zeroAtFirst(p *player, at rma.Disp) {
	for q := range p.all {
		for i := range rma.Disp(128) {
			p.equal(p.Get(q, at+i), 0, "a new word")
		}
	}
}

// putFlushGet puts a word into every segment, including its own, and reads it back.
func putFlushGet(p *player, at rma.Disp) {
	mine := at + rma.Disp(p.me)
	for q := range p.all {
		p.Put(q, mine, distinct(p.me, int(q)))
		p.Flush(q)
		p.equal(p.Get(q, mine), distinct(p.me, int(q)), "the word put at rank %d and flushed", q)
	}
	p.meet()
	for q := range p.all {
		p.equal(p.Get(p.me, at+rma.Disp(q)), distinct(q, int(p.me)), "the word that rank %d put here", q)
	}
}

// putFlushAllGet flushes once for all segments.
func putFlushAllGet(p *player, at rma.Disp) {
	mine := at + rma.Disp(p.me)
	for round := range 8 {
		for q := range p.all {
			p.Put(q, mine, distinct(p.me, round))
		}
		p.FlushAll()
		for q := range p.all {
			p.equal(p.Get(q, mine), distinct(p.me, round), "the word put at rank %d before FlushAll", q)
		}
	}
}

// flushOrdersPuts puts into one word several times, with a flush after each Put. The
// last value stays.
func flushOrdersPuts(p *player, at rma.Disp) {
	mine := at + rma.Disp(p.me)
	for _, q := range []rma.Rank{p.me, p.after(1)} {
		for i := range 16 {
			p.Put(q, mine, distinct(p.me, i))
			p.Flush(q)
		}
		p.equal(p.Get(q, mine), distinct(p.me, 15), "the word after the last of several flushed puts")
	}
}

// thirdRankSeesPut puts a word at the next rank and tells the rank after that one to
// read it.
func thirdRankSeesPut(p *player, at rma.Disp) {
	data, flag := at, at+1
	for round := range 20 {
		p.put(p.after(1), data, distinct(p.me, round))
		p.put(p.after(2), flag, uint64(round)+1)
		p.await(p.me, flag, rma.Is(uint64(round)+1))
		p.equal(p.Get(p.after(-1), data), distinct(p.after(-2), round),
			"round %d: what rank %d put at rank %d and flushed", round, p.after(-2), p.after(-1))
		p.meet()
	}
}

// sameWindow checks the results of Fabric.Window.
func sameWindow(f rma.Fabric) (Body, error) {
	ranks := f.Topology().Ranks()
	for _, p := range []rma.Rank{-1, rma.Rank(ranks), rma.Rank(ranks) + 1000} {
		if err := rankError(f, p); err != nil {
			return nil, err
		}
	}
	return scene(0, func(p *player, _ rma.Disp) {
		again, err := f.Window(p.me)
		p.check(err)
		if again != p.Window {
			p.fail("Fabric.Window(%d) is another window the second time", p.me)
		}
		if p.me < 0 || int(p.me) >= p.ranks {
			p.fail("Window.Rank is %d, want 0 to %d", p.me, p.ranks-1)
		}
	})(f)
}

// rankError checks that the fabric refuses a rank out of range.
func rankError(f rma.Fabric, p rma.Rank) error {
	w, err := f.Window(p)
	refusal, ok := as[*rma.RankError](err)
	if w != nil || !ok {
		return fmt.Errorf("Fabric.Window(%d) of %d ranks returned %v, %v, want a *rma.RankError", p, f.Topology().Ranks(), w, err)
	}
	if refusal.Rank != p || refusal.Ranks != f.Topology().Ranks() {
		return fmt.Errorf("Fabric.Window(%d) names rank %d of %d", p, refusal.Rank, refusal.Ranks)
	}
	return nil
}
