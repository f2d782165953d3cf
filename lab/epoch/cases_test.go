package epoch_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/orwl/go-orwl/lab/epoch"
	"github.com/orwl/go-orwl/net/mem"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/rmatest"
	"github.com/orwl/go-orwl/net/sim"
	"github.com/orwl/go-orwl/net/topology"
)

// cases are those of epochs, in the form of package rmatest.
var cases = slices.Concat(fenceCases, pscwCases, lockCases, traditionalCases)

// Epochs keep their promises between goroutines, and in the simulator under many schedules with every allowed delay.
func TestCases(t *testing.T) {
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			f, err := mem.New(mem.Options{Topology: topology.Flat(c.Ranks), Words: c.Words})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), rmatest.Patience)
			defer cancel()
			if err := errors.Join(rmatest.Execute(ctx, f, c), f.Close()); err != nil && !errors.Is(err, rmatest.ErrSkip) {
				t.Error(err)
			}
			played := sim.System{
				Topology: topology.Flat(c.Ranks), Words: c.Words, Shared: true, Faults: sim.Faults{Delays: 1, Pauses: 1},
				Setup: func(f *sim.Fabric) (sim.Program, error) {
					body, err := c.Setup(f)
					return sim.Program{Rank: func(ctx context.Context, w rma.Window) error {
						return rmatest.Perform(ctx, f, body, w.Rank())
					}}, err
				},
			}.Seeds(0, 20)
			if err := played.Err(); err != nil && !errors.Is(err, rmatest.ErrSkip) {
				t.Error(err)
			}
		})
	}
}

// Cases of Fence.
var fenceCases = []rmatest.Case{
	{Name: "fence/all-see-all", Ranks: 3, Words: 256, Setup: epochScene(rmatest.MaxRanks, 0, fenceAllSeeAll)},
	{Name: "fence/no-rank-early", Ranks: 5, Words: 128, Setup: epochScene(1, 0, fenceNoRankEarly)},
}

// epochScene is rmatest.Scene with epochs for k neighbours. If k is 0, the number of
// neighbours is the default.
func epochScene(words, k int, act func(p *rmatest.Player, e *epoch.Sync, at rma.Disp)) func(f rma.Fabric) (rmatest.Body, error) {
	return func(f rma.Fabric) (rmatest.Body, error) {
		epochs, err := epoch.New(f, epoch.Options{Neighbours: k})
		if err != nil {
			return nil, err
		}
		return rmatest.Scene(words, func(p *rmatest.Player, at rma.Disp) { act(p, epochs.At(p.Window), at) })(f)
	}
}

// fenceAllSeeAll puts a word into every segment, flushes nothing, and reads its
// own segment after a fence.
func fenceAllSeeAll(p *rmatest.Player, e *epoch.Sync, at rma.Disp) {
	for round := range 10 {
		for q := range p.All {
			p.Put(q, at+rma.Disp(p.Me), rmatest.Distinct(p.Me, round))
		}
		p.Check(e.Fence(p.Context))
		for q := range p.All {
			p.Equal(p.Get(p.Me, at+rma.Disp(q)), rmatest.Distinct(q, round), "round %d: what rank %d put before the fence", round, q)
		}
		p.Check(e.Fence(p.Context))
	}
}

// fenceNoRankEarly counts the ranks that have come to a fence and checks the count
// after it.
func fenceNoRankEarly(p *rmatest.Player, e *epoch.Sync, at rma.Disp) {
	for round := range 30 {
		p.FetchOp(0, at, rma.Sum, 1)
		p.Check(e.Fence(p.Context))
		if came := p.Get(0, at); came < uint64((round+1)*p.Ranks) || came > uint64((round+2)*p.Ranks) {
			p.Fail("round %d: %d of %d ranks had come when one passed", round, int(came)-round*p.Ranks, p.Ranks)
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
func pscwRing(p *rmatest.Player, e *epoch.Sync, at rma.Disp) {
	next, previous := p.After(1), p.After(-1)
	for round := range 30 {
		p.Put(p.Me, at+1, rmatest.Distinct(p.Me, round))
		p.Check(e.Post(p.Context, []rma.Rank{previous}))
		p.Check(e.Start(p.Context, []rma.Rank{next}))
		p.Equal(p.Get(next, at+1), rmatest.Distinct(next, round), "round %d: what the rank after put before its Post", round)
		p.Put(next, at, rmatest.Distinct(p.Me, round))
		p.Check(e.Complete())
		p.Check(e.Wait(p.Context))
		p.Equal(p.Get(p.Me, at), rmatest.Distinct(previous, round), "round %d: what the rank before put", round)
	}
}

// pscwNeighbours is a stencil of one dimension, with room for two posts.
func pscwNeighbours(p *rmatest.Player, e *epoch.Sync, at rma.Disp) {
	next, previous := p.After(1), p.After(-1)
	both := []rma.Rank{next, previous}
	for round := range 30 {
		p.Check(e.Post(p.Context, both))
		p.Check(e.Start(p.Context, both))
		p.Put(next, at, rmatest.Distinct(p.Me, round))
		p.Put(previous, at+1, rmatest.Distinct(p.Me, round))
		p.Check(e.Complete())
		p.Check(e.Wait(p.Context))
		p.Equal(p.Get(p.Me, at), rmatest.Distinct(previous, round), "round %d: what the rank before put", round)
		p.Equal(p.Get(p.Me, at+1), rmatest.Distinct(next, round), "round %d: what the rank after put", round)
	}
}

// others are all ranks except this one.
func others(p *rmatest.Player) (group []rma.Rank) {
	for q := range p.All {
		if q != p.Me {
			group = append(group, q)
		}
	}
	return group
}

// pscwAllToOne lets all ranks put into one rank's memory, another rank each round.
func pscwAllToOne(p *rmatest.Player, e *epoch.Sync, at rma.Disp) {
	for round := range 20 {
		one := rma.Rank(round % p.Ranks)
		if p.Me != one {
			p.Check(e.Start(p.Context, []rma.Rank{one}))
			p.Put(one, at+rma.Disp(p.Me), rmatest.Distinct(p.Me, round))
			p.Check(e.Complete())
			continue
		}
		p.Check(e.Post(p.Context, others(p)))
		p.Check(e.Wait(p.Context))
		for _, q := range others(p) {
			p.Equal(p.Get(p.Me, at+rma.Disp(q)), rmatest.Distinct(q, round), "round %d: what rank %d put", round, q)
		}
	}
}

// pscwOneToAll lets one rank put into the memory of all others, another rank each
// round.
func pscwOneToAll(p *rmatest.Player, e *epoch.Sync, at rma.Disp) {
	for round := range 20 {
		one := rma.Rank(round % p.Ranks)
		if p.Me != one {
			p.Check(e.Post(p.Context, []rma.Rank{one}))
			p.Check(e.Wait(p.Context))
			p.Equal(p.Get(p.Me, at), rmatest.Distinct(one, round), "round %d: what rank %d put", round, one)
			continue
		}
		p.Check(e.Start(p.Context, others(p)))
		for _, q := range others(p) {
			p.Put(q, at, rmatest.Distinct(p.Me, round))
		}
		p.Check(e.Complete())
	}
}

// pscwOneByOne lets rank 0 start with the others in another order than they post.
func pscwOneByOne(p *rmatest.Player, e *epoch.Sync, at rma.Disp) {
	for round := range 10 {
		if p.Me != 0 {
			p.Check(e.Post(p.Context, []rma.Rank{0}))
			p.Check(e.Wait(p.Context))
			p.Equal(p.Get(p.Me, at), rmatest.Distinct(0, round), "round %d: what rank 0 put", round)
			continue
		}
		for n := range p.Ranks - 1 {
			q := rma.Rank(1 + (n+round)%(p.Ranks-1))
			if round%2 == 1 {
				q = rma.Rank(p.Ranks - 1 - n)
			}
			p.Check(e.Start(p.Context, []rma.Rank{q}))
			p.Put(q, at, rmatest.Distinct(0, round))
			p.Check(e.Complete())
		}
	}
}

// pscwSelf opens a rank's memory to no rank, and to itself.
func pscwSelf(p *rmatest.Player, e *epoch.Sync, at rma.Disp) {
	for round, group := range [][]rma.Rank{{}, {p.Me}, {}, {p.Me}, nil} {
		p.Check(e.Post(p.Context, group))
		p.Check(e.Start(p.Context, group))
		p.Put(p.Me, at, rmatest.Distinct(p.Me, round))
		if len(group) == 0 {
			p.Flush(p.Me)
		}
		p.Check(e.Complete())
		p.Check(e.Wait(p.Context))
		p.Equal(p.Get(p.Me, at), rmatest.Distinct(p.Me, round), "round %d: the own word", round)
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
func lockExclusive(p *rmatest.Player, e *epoch.Sync, at rma.Disp) {
	n := p.Share(200)
	for i := range n {
		target := rma.Rank((i + int(p.Me)) % 2)
		p.Check(e.Lock(p.Context, target, epoch.Exclusive))
		p.Put(target, at, p.Get(target, at)+1)
		p.Check(e.Unlock(target))
	}
	p.Meet()
	p.Equal(p.Get(0, at)+p.Get(1, at), uint64(n*p.Ranks), "the number of increments under an exclusive lock")
}

// lockSharedTogether lets all ranks meet while they hold the same shared lock.
func lockSharedTogether(p *rmatest.Player, e *epoch.Sync, at rma.Disp) {
	for round := range 10 {
		target := rma.Rank(round % p.Ranks)
		p.Check(e.Lock(p.Context, target, epoch.Shared))
		p.Meet()
		p.Check(e.Unlock(target))
	}
}

// lockReadersWriters keeps two words of rank 0 equal while no writer is inside.
func lockReadersWriters(p *rmatest.Player, e *epoch.Sync, at rma.Disp) {
	const target = 0
	n, writes := p.Share(300), uint64(0)
	for i := range n {
		if (i+int(p.Me))%3 != 0 {
			p.Check(e.Lock(p.Context, target, epoch.Shared))
			p.Equal(p.Get(target, at), p.Get(target, at+1), "the first word, compared with the second,")
			p.Check(e.Unlock(target))
			continue
		}
		writes++
		p.Check(e.Lock(p.Context, target, epoch.Exclusive))
		value := p.Get(target, at)
		p.Store(target, at, value+1)
		p.Equal(p.Get(target, at+1), value, "the second word inside an exclusive lock")
		p.Put(target, at+1, value+1)
		p.Check(e.Unlock(target))
	}
	sum(p, target, at, writes)
}

// sum checks that a word is the sum of own over all ranks.
func sum(p *rmatest.Player, target rma.Rank, at rma.Disp, own uint64) {
	p.Meet()
	total := p.Get(target, at)
	p.Meet()
	p.FetchOp(target, at, rma.Sum, -own)
	p.Meet()
	p.Equal(p.Get(target, at), 0, "the rest of %d, after each rank subtracted its part,", total)
}

// lockSeveral moves one unit from a rank to the next, under two locks. It takes the
// locks in the order of ranks.
func lockSeveral(p *rmatest.Player, e *epoch.Sync, at rma.Disp) {
	p.Store(p.Me, at, 1000)
	p.Meet()
	for i := range p.Share(120) {
		from := p.After(i)
		to := (from + 1) % rma.Rank(p.Ranks)
		p.Check(e.Lock(p.Context, min(from, to), epoch.Exclusive))
		p.Check(e.Lock(p.Context, max(from, to), epoch.Exclusive))
		p.Put(from, at, p.Get(from, at)-1)
		p.Put(to, at, p.Get(to, at)+1)
		p.Check(e.Unlock(from))
		p.Check(e.Unlock(to))
	}
	p.Meet()
	total := uint64(0)
	for q := range p.All {
		total += p.Get(q, at)
	}
	p.Equal(total, uint64(1000*p.Ranks), "the sum over all ranks")
}

// lockAllTogether lets all ranks meet while one holds a shared lock and all others
// hold LockAll.
func lockAllTogether(p *rmatest.Player, e *epoch.Sync, at rma.Disp) {
	for round := range 10 {
		if int(p.Me) == round%p.Ranks {
			p.Check(e.Lock(p.Context, p.After(1), epoch.Shared))
			p.Meet()
			p.Check(e.Unlock(p.After(1)))
			continue
		}
		p.Check(e.LockAll(p.Context))
		p.Meet()
		p.Check(e.UnlockAll())
	}
}

// lockAllOrExclusive keeps two words of every rank equal while no writer is inside,
// and compares them under LockAll. Additions under LockAll must not arrive while a
// rank holds an exclusive lock.
func lockAllOrExclusive(p *rmatest.Player, e *epoch.Sync, at rma.Disp) {
	for i := range p.Share(150) {
		if (i+int(p.Me))%3 == 0 {
			p.Check(e.LockAll(p.Context))
			for q := range p.All {
				p.Equal(p.Get(q, at), p.Get(q, at+1), "the first word of rank %d, compared with the second,", q)
				p.Accumulate(q, at+2, rma.Sum, 1)
			}
			p.Check(e.UnlockAll())
			continue
		}
		target := p.After(i)
		p.Check(e.Lock(p.Context, target, epoch.Exclusive))
		value, added := p.Get(target, at)+1, p.Get(target, at+2)
		p.Store(target, at, value)
		p.Store(target, at+1, value)
		p.Equal(p.Get(target, at+2), added, "the second reading, under one exclusive lock, of additions under LockAll")
		p.Check(e.Unlock(target))
	}
	p.Meet()
	p.Equal(p.Get(p.Me, at), p.Get(p.Me, at+1), "the first own word, compared with the second,")
}

// Cases of traditional windows, for fabrics that can show memory of the caller.
var traditionalCases = []rmatest.Case{
	{Name: "traditional/sizes", Ranks: 3, Words: 512, Setup: traditional(traditionalSizes)},
	{Name: "traditional/again", Ranks: 5, Words: 512, Setup: traditional(traditionalAgain)},
}

// traditional is the Setup of a case about traditional windows.
func traditional(act func(p *rmatest.Player, e *epoch.Sync, x *epoch.Exposure)) func(f rma.Fabric) (rmatest.Body, error) {
	return func(f rma.Fabric) (rmatest.Body, error) {
		exposer, ok := f.(rma.Exposer)
		if !ok {
			return nil, fmt.Errorf("%w: a %T is not an rma.Exposer", rmatest.ErrSkip, f)
		}
		x, err := epoch.NewExposure(exposer)
		if err != nil {
			return nil, err
		}
		return epochScene(0, 0, func(p *rmatest.Player, e *epoch.Sync, _ rma.Disp) { act(p, e, x) })(f)
	}
}

// expose makes a window in which each rank shows a slice of distinct words.
func expose(p *rmatest.Player, e *epoch.Sync, x *epoch.Exposure, words, round int) (*epoch.Traditional, []uint64) {
	memory := make([]uint64, words)
	for i := range memory {
		memory[i] = rmatest.Distinct(p.Me, 1000*round+i)
	}
	t, err := x.Expose(p.Context, e, memory)
	p.Check(err)
	return t, memory
}

// traditionalSizes exposes a slice of a different length at each rank, and an empty one
// at rank 1. It uses their first and last words.
func traditionalSizes(p *rmatest.Player, e *epoch.Sync, x *epoch.Exposure) {
	size := func(q rma.Rank) int {
		if q == 1 {
			return 0
		}
		return 2 + int(q)*7%11
	}
	t, memory := expose(p, e, x, size(p.Me), 0)
	if t == nil {
		return
	}
	for q := range p.All {
		p.Equal(uint64(t.Words(q)), uint64(size(q)), "the length of rank %d's slice", q)
		if q == 1 {
			continue
		}
		for i := range t.Words(q) {
			p.Equal(p.Get(q, t.Base(q)+rma.Disp(i)), rmatest.Distinct(q, i), "word %d of rank %d's slice", i, q)
		}
	}
	p.Check(e.Fence(p.Context))
	if next := p.After(1); next != 1 {
		p.Put(next, t.Base(next), 1)
		p.Put(next, t.Base(next)+rma.Disp(size(next))-1, 2)
	}
	p.Check(e.Fence(p.Context))
	if p.Me != 1 {
		p.Equal(memory[0], 1, "the first word of the own slice")
		p.Equal(memory[len(memory)-1], 2, "the last word of the own slice")
	}
	p.Check(t.Withdraw(p.Context))
	p.Meet()
	for q := range p.All {
		if q != 1 {
			p.RefusesEverything(q, t.Base(q))
		}
	}
	p.Is(t.Withdraw(p.Context), epoch.ErrNotOpen, "a second Withdraw")
}

// traditionalAgain makes several windows and keeps all of them. Between two windows
// there is an odd or an even number of fences.
func traditionalAgain(p *rmatest.Player, e *epoch.Sync, x *epoch.Exposure) {
	var windows []*epoch.Traditional
	for round := range 8 {
		t, _ := expose(p, e, x, 1+round, round)
		if t == nil {
			return
		}
		windows = append(windows, t)
		if round%4 == 3 {
			p.Check(e.Fence(p.Context))
		}
	}
	for round, t := range windows {
		for q := range p.All {
			p.Equal(uint64(t.Words(q)), uint64(1+round), "the length of rank %d's slice in window %d", q, round)
			last := rma.Disp(t.Words(q)) - 1
			p.Equal(p.Get(q, t.Base(q)+last), rmatest.Distinct(q, 1000*round+int(last)), "the last word of rank %d's slice in window %d", q, round)
		}
	}
	for _, t := range windows {
		p.Check(t.Withdraw(p.Context))
	}
}
