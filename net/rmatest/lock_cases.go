package rmatest

import (
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/rma/epoch"
)

// Cases of Lock and Unlock, LockAll and UnlockAll. They do not flush inside a lock,
// because Unlock flushes.
var lockCases = []Case{
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
