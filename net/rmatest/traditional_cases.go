package rmatest

import (
	"fmt"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/rma/epoch"
)

// Cases of traditional windows, for fabrics that can show memory of the caller.
var traditionalCases = []Case{
	{Name: "traditional/sizes", Ranks: 3, Words: 512, Setup: traditional(traditionalSizes)},
	{Name: "traditional/again", Ranks: 5, Words: 512, Setup: traditional(traditionalAgain)},
}

// traditional is the Setup of a case about traditional windows.
func traditional(act func(p *player, e *epoch.Sync, x *epoch.Exposure)) func(f rma.Fabric) (Body, error) {
	return func(f rma.Fabric) (Body, error) {
		exposer, ok := f.(rma.Exposer)
		if !ok {
			return nil, fmt.Errorf("%w: a %T is not an rma.Exposer", ErrSkip, f)
		}
		x, err := epoch.NewExposure(exposer)
		if err != nil {
			return nil, err
		}
		return epochScene(0, 0, func(p *player, e *epoch.Sync, _ rma.Disp) { act(p, e, x) })(f)
	}
}

// expose makes a window in which each rank shows a slice of distinct words.
func (p *player) expose(e *epoch.Sync, x *epoch.Exposure, words, round int) (*epoch.Traditional, []uint64) {
	memory := make([]uint64, words)
	for i := range memory {
		memory[i] = distinct(p.me, 1000*round+i)
	}
	t, err := x.Expose(p.ctx, e, memory)
	p.check(err)
	return t, memory
}

// traditionalSizes exposes a slice of a different length at each rank, and an empty one
// at rank 1. It uses their first and last words.
func traditionalSizes(p *player, e *epoch.Sync, x *epoch.Exposure) {
	size := func(q rma.Rank) int {
		if q == 1 {
			return 0
		}
		return 2 + int(q)*7%11
	}
	t, memory := p.expose(e, x, size(p.me), 0)
	if t == nil {
		return
	}
	for q := range p.all {
		p.equal(uint64(t.Words(q)), uint64(size(q)), "the length of rank %d's slice", q)
		if q == 1 {
			continue
		}
		for i := range t.Words(q) {
			p.equal(p.Get(q, t.Base(q)+rma.Disp(i)), distinct(q, i), "word %d of rank %d's slice", i, q)
		}
	}
	p.check(e.Fence(p.ctx))
	if next := p.after(1); next != 1 {
		p.Put(next, t.Base(next), 1)
		p.Put(next, t.Base(next)+rma.Disp(size(next))-1, 2)
	}
	p.check(e.Fence(p.ctx))
	if p.me != 1 {
		p.equal(memory[0], 1, "the first word of the own slice")
		p.equal(memory[len(memory)-1], 2, "the last word of the own slice")
	}
	p.check(t.Withdraw(p.ctx))
	p.meet()
	for q := range p.all {
		if q != 1 {
			p.refusesEverything(q, t.Base(q))
		}
	}
	p.is(t.Withdraw(p.ctx), epoch.ErrNotOpen, "a second Withdraw")
}

// traditionalAgain makes several windows and keeps all of them. Between two windows
// there is an odd or an even number of fences.
func traditionalAgain(p *player, e *epoch.Sync, x *epoch.Exposure) {
	var windows []*epoch.Traditional
	for round := range 8 {
		t, _ := p.expose(e, x, 1+round, round)
		if t == nil {
			return
		}
		windows = append(windows, t)
		if round%4 == 3 {
			p.check(e.Fence(p.ctx))
		}
	}
	for round, t := range windows {
		for q := range p.all {
			p.equal(uint64(t.Words(q)), uint64(1+round), "the length of rank %d's slice in window %d", q, round)
			last := rma.Disp(t.Words(q)) - 1
			p.equal(p.Get(q, t.Base(q)+last), distinct(q, 1000*round+int(last)), "the last word of rank %d's slice in window %d", q, round)
		}
	}
	for _, t := range windows {
		p.check(t.Withdraw(p.ctx))
	}
}
