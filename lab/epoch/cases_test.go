package epoch_test

import (
	"fmt"

	"github.com/orwl/go-orwl/lab/epoch"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/rmatest"
)

// Cases of Fence.
var fenceCases = []rmatest.Case{
	{Name: "fence/all-see-all", Ranks: 3, Words: 256, Setup: epochScene(rmatest.MaxRanks, 0, fenceAllSeeAll)},
	{Name: "fence/no-rank-early", Ranks: 5, Words: 128, Setup: epochScene(1, 0, fenceNoRankEarly)},
}

// epochScene is scene with epochs for k neighbours. If k is 0, the number of
// neighbours is the default.
func epochScene(words, k int, act func(p *player, e *epoch.Sync, at rma.Disp)) func(f rma.Fabric) (rmatest.Body, error) {
	return func(f rma.Fabric) (rmatest.Body, error) {
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
var pscwCases = []rmatest.Case{
	{Name: "pscw/ring", Ranks: 3, Words: 256, Setup: epochScene(2, 0, pscwRing)},
	{Name: "pscw/neighbours", Ranks: 3, Words: 256, Setup: epochScene(2, 2, pscwNeighbours)},
	{Name: "pscw/all-to-one", Ranks: 4, Words: 256, Setup: epochScene(rmatest.MaxRanks, 0, pscwAllToOne)},
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

// Cases of Lock and Unlock, LockAll and UnlockAll. They do not flush inside a lock,
// because Unlock flushes.
var lockCases = []rmatest.Case{
	{Name: "lock/exclusive", Ranks: 3, Words: 256, Setup: epochScene(1, 0, lockExclusive)},
	{Name: "lock/shared-together", Ranks: 3, Words: 256, Setup: epochScene(1, 0, lockSharedTogether)},
	{Name: "lock/shared-or-exclusive", Ranks: 3, Words: 256, Setup: epochScene(2, 0, lockReadersWriters)},
	{Name: "lock/several", Ranks: 3, Words: 256, Setup: epochScene(1, 0, lockSeveral)},
	{Name: "lock/all-together", Ranks: 3, Words: 256, Setup: epochScene(1, 0, lockAllTogether)},
	{Name: "lock/all-or-exclusive", Ranks: 3, Words: 256, Setup: epochScene(3, 0, lockAllOrExclusive)},
}

// lockExclusive increments words at two ranks by a Get and a Put.
func lockExclusive(p *player, e *epoch.Sync, at rma.Disp) {
	n := p.share(200)
	for i := range n {
		target := rma.Rank((i + int(p.me)) % 2)
		p.check(e.Lock(p.ctx, target, epoch.Exclusive))
		p.Put(target, at, p.Get(target, at)+1)
		p.check(e.Unlock(target))
	}
	p.meet()
	p.equal(p.Get(0, at)+p.Get(1, at), uint64(n*p.ranks), "the number of increments under an exclusive lock")
}

// lockSharedTogether lets all ranks meet while they hold the same shared lock.
func lockSharedTogether(p *player, e *epoch.Sync, at rma.Disp) {
	for round := range 10 {
		target := rma.Rank(round % p.ranks)
		p.check(e.Lock(p.ctx, target, epoch.Shared))
		p.meet()
		p.check(e.Unlock(target))
	}
}

// lockReadersWriters keeps two words of rank 0 equal while no writer is inside.
func lockReadersWriters(p *player, e *epoch.Sync, at rma.Disp) {
	const target = 0
	n, writes := p.share(300), uint64(0)
	for i := range n {
		if (i+int(p.me))%3 != 0 {
			p.check(e.Lock(p.ctx, target, epoch.Shared))
			p.equal(p.Get(target, at), p.Get(target, at+1), "the first word, compared with the second,")
			p.check(e.Unlock(target))
			continue
		}
		writes++
		p.check(e.Lock(p.ctx, target, epoch.Exclusive))
		value := p.Get(target, at)
		p.put(target, at, value+1)
		p.equal(p.Get(target, at+1), value, "the second word inside an exclusive lock")
		p.Put(target, at+1, value+1)
		p.check(e.Unlock(target))
	}
	p.sum(target, at, writes)
}

// sum checks that a word is the sum of own over all ranks.
func (p *player) sum(target rma.Rank, at rma.Disp, own uint64) {
	p.meet()
	total := p.Get(target, at)
	p.meet()
	p.FetchOp(target, at, rma.Sum, -own)
	p.meet()
	p.equal(p.Get(target, at), 0, "the rest of %d, after each rank subtracted its part,", total)
}

// lockSeveral moves one unit from a rank to the next, under two locks. It takes the
// locks in the order of ranks.
func lockSeveral(p *player, e *epoch.Sync, at rma.Disp) {
	p.put(p.me, at, 1000)
	p.meet()
	for i := range p.share(120) {
		from := p.after(i)
		to := (from + 1) % rma.Rank(p.ranks)
		p.check(e.Lock(p.ctx, min(from, to), epoch.Exclusive))
		p.check(e.Lock(p.ctx, max(from, to), epoch.Exclusive))
		p.Put(from, at, p.Get(from, at)-1)
		p.Put(to, at, p.Get(to, at)+1)
		p.check(e.Unlock(from))
		p.check(e.Unlock(to))
	}
	p.meet()
	total := uint64(0)
	for q := range p.all {
		total += p.Get(q, at)
	}
	p.equal(total, uint64(1000*p.ranks), "the sum over all ranks")
}

// lockAllTogether lets all ranks meet while one holds a shared lock and all others
// hold LockAll.
func lockAllTogether(p *player, e *epoch.Sync, at rma.Disp) {
	for round := range 10 {
		if int(p.me) == round%p.ranks {
			p.check(e.Lock(p.ctx, p.after(1), epoch.Shared))
			p.meet()
			p.check(e.Unlock(p.after(1)))
			continue
		}
		p.check(e.LockAll(p.ctx))
		p.meet()
		p.check(e.UnlockAll())
	}
}

// lockAllOrExclusive keeps two words of every rank equal while no writer is inside,
// and compares them under LockAll. Additions under LockAll must not arrive while a
// rank holds an exclusive lock.
func lockAllOrExclusive(p *player, e *epoch.Sync, at rma.Disp) {
	for i := range p.share(150) {
		if (i+int(p.me))%3 == 0 {
			p.check(e.LockAll(p.ctx))
			for q := range p.all {
				p.equal(p.Get(q, at), p.Get(q, at+1), "the first word of rank %d, compared with the second,", q)
				p.Accumulate(q, at+2, rma.Sum, 1)
			}
			p.check(e.UnlockAll())
			continue
		}
		target := p.after(i)
		p.check(e.Lock(p.ctx, target, epoch.Exclusive))
		value, added := p.Get(target, at)+1, p.Get(target, at+2)
		p.put(target, at, value)
		p.put(target, at+1, value)
		p.equal(p.Get(target, at+2), added, "the second reading, under one exclusive lock, of additions under LockAll")
		p.check(e.Unlock(target))
	}
	p.meet()
	p.equal(p.Get(p.me, at), p.Get(p.me, at+1), "the first own word, compared with the second,")
}

// Cases of traditional windows, for fabrics that can show memory of the caller.
var traditionalCases = []rmatest.Case{
	{Name: "traditional/sizes", Ranks: 3, Words: 512, Setup: traditional(traditionalSizes)},
	{Name: "traditional/again", Ranks: 5, Words: 512, Setup: traditional(traditionalAgain)},
}

// traditional is the Setup of a case about traditional windows.
func traditional(act func(p *player, e *epoch.Sync, x *epoch.Exposure)) func(f rma.Fabric) (rmatest.Body, error) {
	return func(f rma.Fabric) (rmatest.Body, error) {
		exposer, ok := f.(rma.Exposer)
		if !ok {
			return nil, fmt.Errorf("%w: a %T is not an rma.Exposer", rmatest.ErrSkip, f)
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
