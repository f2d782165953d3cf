package rmatest

import (
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/rma/epoch"
)

// Cases of Fence.
var fenceCases = []Case{
	{Name: "fence/all-see-all", Ranks: 3, Words: 256, Setup: epochScene(MaxRanks, 0, fenceAllSeeAll)},
	{Name: "fence/no-rank-early", Ranks: 5, Words: 128, Setup: epochScene(1, 0, fenceNoRankEarly)},
}

// epochScene is scene with epochs for k neighbours. If k is 0, the number of
// neighbours is the default.
func epochScene(words, k int, act func(p *player, e *epoch.Sync, at rma.Disp)) func(f rma.Fabric) (Body, error) {
	return func(f rma.Fabric) (Body, error) {
		epochs, err := epoch.New(f, epoch.Options{Neighbours: k})
		if err != nil {
			return nil, err
		}
		return scene(words, func(p *player, at rma.Disp) { act(p, epochs.At(p.Window), at) })(f)
	}
}

// fenceAllSeeAll puts a word into every segment, flushes nothing, and reads its
// own segment after a fence.
func fenceAllSeeAll(p *player, e *epoch.Sync, at rma.Disp) {
	for round := range 10 {
		for q := range p.all {
			p.Put(q, at+rma.Disp(p.me), distinct(p.me, round))
		}
		p.check(e.Fence(p.ctx))
		for q := range p.all {
			p.equal(p.Get(p.me, at+rma.Disp(q)), distinct(q, round), "round %d: what rank %d put before the fence", round, q)
		}
		p.check(e.Fence(p.ctx))
	}
}

// fenceNoRankEarly counts the ranks that have come to a fence and checks the count
// after it.
func fenceNoRankEarly(p *player, e *epoch.Sync, at rma.Disp) {
	for round := range 30 {
		p.FetchOp(0, at, rma.Sum, 1)
		p.check(e.Fence(p.ctx))
		if came := p.Get(0, at); came < uint64((round+1)*p.ranks) || came > uint64((round+2)*p.ranks) {
			p.fail("round %d: %d of %d ranks had come when one passed", round, int(came)-round*p.ranks, p.ranks)
		}
	}
}

// Cases of Post, Start, Complete and Wait.
var pscwCases = []Case{
	{Name: "pscw/ring", Ranks: 3, Words: 256, Setup: epochScene(2, 0, pscwRing)},
	{Name: "pscw/neighbours", Ranks: 3, Words: 256, Setup: epochScene(2, 2, pscwNeighbours)},
	{Name: "pscw/all-to-one", Ranks: 4, Words: 256, Setup: epochScene(MaxRanks, 0, pscwAllToOne)},
	{Name: "pscw/one-to-all", Ranks: 4, Words: 256, Setup: epochScene(1, 0, pscwOneToAll)},
	{Name: "pscw/one-by-one", Ranks: 4, Words: 256, Setup: epochScene(1, 0, pscwOneByOne)},
	{Name: "pscw/full-mailbox", Ranks: 4, Words: 256, Setup: epochScene(1, 1, pscwOneByOne)},
	{Name: "pscw/self", Ranks: 1, Words: 256, Setup: epochScene(1, 0, pscwSelf)},
}

// pscwRing opens each rank's memory to the previous rank, which reads a word and puts
// a word. Nothing else synchronises the ranks, so some posts come early.
func pscwRing(p *player, e *epoch.Sync, at rma.Disp) {
	next, previous := p.after(1), p.after(-1)
	for round := range 30 {
		p.Put(p.me, at+1, distinct(p.me, round))
		p.check(e.Post(p.ctx, []rma.Rank{previous}))
		p.check(e.Start(p.ctx, []rma.Rank{next}))
		p.equal(p.Get(next, at+1), distinct(next, round), "round %d: what the rank after put before its Post", round)
		p.Put(next, at, distinct(p.me, round))
		p.check(e.Complete())
		p.check(e.Wait(p.ctx))
		p.equal(p.Get(p.me, at), distinct(previous, round), "round %d: what the rank before put", round)
	}
}

// pscwNeighbours is a stencil of one dimension, with room for two posts.
func pscwNeighbours(p *player, e *epoch.Sync, at rma.Disp) {
	next, previous := p.after(1), p.after(-1)
	both := []rma.Rank{next, previous}
	for round := range 30 {
		p.check(e.Post(p.ctx, both))
		p.check(e.Start(p.ctx, both))
		p.Put(next, at, distinct(p.me, round))
		p.Put(previous, at+1, distinct(p.me, round))
		p.check(e.Complete())
		p.check(e.Wait(p.ctx))
		p.equal(p.Get(p.me, at), distinct(previous, round), "round %d: what the rank before put", round)
		p.equal(p.Get(p.me, at+1), distinct(next, round), "round %d: what the rank after put", round)
	}
}

// others are all ranks except this one.
func (p *player) others() (group []rma.Rank) {
	for q := range p.all {
		if q != p.me {
			group = append(group, q)
		}
	}
	return group
}

// pscwAllToOne lets all ranks put into one rank's memory, another rank each round.
func pscwAllToOne(p *player, e *epoch.Sync, at rma.Disp) {
	for round := range 20 {
		one := rma.Rank(round % p.ranks)
		if p.me != one {
			p.check(e.Start(p.ctx, []rma.Rank{one}))
			p.Put(one, at+rma.Disp(p.me), distinct(p.me, round))
			p.check(e.Complete())
			continue
		}
		p.check(e.Post(p.ctx, p.others()))
		p.check(e.Wait(p.ctx))
		for _, q := range p.others() {
			p.equal(p.Get(p.me, at+rma.Disp(q)), distinct(q, round), "round %d: what rank %d put", round, q)
		}
	}
}

// pscwOneToAll lets one rank put into the memory of all others, another rank each
// round.
func pscwOneToAll(p *player, e *epoch.Sync, at rma.Disp) {
	for round := range 20 {
		one := rma.Rank(round % p.ranks)
		if p.me != one {
			p.check(e.Post(p.ctx, []rma.Rank{one}))
			p.check(e.Wait(p.ctx))
			p.equal(p.Get(p.me, at), distinct(one, round), "round %d: what rank %d put", round, one)
			continue
		}
		p.check(e.Start(p.ctx, p.others()))
		for _, q := range p.others() {
			p.Put(q, at, distinct(p.me, round))
		}
		p.check(e.Complete())
	}
}

// pscwOneByOne lets rank 0 start with the others in another order than they post.
func pscwOneByOne(p *player, e *epoch.Sync, at rma.Disp) {
	for round := range 10 {
		if p.me != 0 {
			p.check(e.Post(p.ctx, []rma.Rank{0}))
			p.check(e.Wait(p.ctx))
			p.equal(p.Get(p.me, at), distinct(0, round), "round %d: what rank 0 put", round)
			continue
		}
		for n := range p.ranks - 1 {
			q := rma.Rank(1 + (n+round)%(p.ranks-1))
			if round%2 == 1 {
				q = rma.Rank(p.ranks - 1 - n)
			}
			p.check(e.Start(p.ctx, []rma.Rank{q}))
			p.Put(q, at, distinct(0, round))
			p.check(e.Complete())
		}
	}
}

// pscwSelf opens a rank's memory to no rank, and to itself.
func pscwSelf(p *player, e *epoch.Sync, at rma.Disp) {
	for round, group := range [][]rma.Rank{{}, {p.me}, {}, {p.me}, nil} {
		p.check(e.Post(p.ctx, group))
		p.check(e.Start(p.ctx, group))
		p.Put(p.me, at, distinct(p.me, round))
		if len(group) == 0 {
			p.Flush(p.me)
		}
		p.check(e.Complete())
		p.check(e.Wait(p.ctx))
		p.equal(p.Get(p.me, at), distinct(p.me, round), "round %d: the own word", round)
	}
}
