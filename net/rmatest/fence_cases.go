package rmatest

import (
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/rma/epoch"
)

// Fence.
var fenceCases = []Case{
	{Name: "fence/all-see-all", Ranks: 3, Words: 256, Setup: epochScene(MaxRanks, 0, fenceAllSeeAll)},
	{Name: "fence/nobody-early", Ranks: 5, Words: 128, Setup: epochScene(1, 0, fenceNobodyEarly)},
}

// epochScene is scene with one more thing: epochs for k neighbours, or for as many as
// is the default.
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

// fenceNobodyEarly counts who has come to a fence, and looks at the count behind
// it.
func fenceNobodyEarly(p *player, e *epoch.Sync, at rma.Disp) {
	for round := range 30 {
		p.FetchOp(0, at, rma.Sum, 1)
		p.check(e.Fence(p.ctx))
		if came := p.Get(0, at); came < uint64((round+1)*p.ranks) || came > uint64((round+2)*p.ranks) {
			p.fail("round %d: %d of %d ranks had come when one passed", round, int(came)-round*p.ranks, p.ranks)
		}
	}
}
