package lockstest

import "github.com/orwl/go-orwl/locks"

// One rank acquires, another one releases.
var obliviousCases = []Case{
	{Name: "oblivious/hand-on", Ranks: 2, act: obliviousHandOn},
	{Name: "oblivious/waiter", Ranks: 3, act: obliviousWaiter},
	{Name: "oblivious/misuse", Ranks: 1, act: obliviousMisuse},
}

func (p *player) oblivious() locks.Oblivious {
	o, ok := p.lock.(locks.Oblivious)
	if !ok {
		p.skip("must be released by the rank that acquired it")
	}
	return o
}

// obliviousHandOn lets one rank acquire. Each rank hands the lock on to the next, and
// the last rank releases it.
func obliviousHandOn(p *player) {
	o := p.oblivious()
	const turn = 0
	for round := range 3 {
		base := round * p.ranks
		place := (int(p.me) + round) % p.ranks
		p.hear(turn, base+place)
		if place == 0 {
			p.acquire(write)
			p.enter(write)
		} else {
			o.Adopt()
		}
		if place == p.ranks-1 {
			p.leave(write)
			p.release(write)
		} else {
			o.Disown()
		}
		p.tell(turn)
		p.hear(turn, base+p.ranks)
	}
	p.works()
}

// obliviousWaiter hands the lock on while another rank waits. The rank that disowned
// the lock may queue up again.
func obliviousWaiter(p *player) {
	o := p.oblivious()
	const waits, disowned = 0, 1
	for round := range 3 {
		switch place := (int(p.me) + round) % p.ranks; place {
		case 0:
			p.acquire(write)
			p.enter(write)
			p.Put(p.after(1), p.at(0), uint64(round)+1)
			p.tell(disowned)
			p.hear(waits, 2*round+1)
			p.FlushAll()
			o.Disown()
			p.tell(disowned)
			p.acquireTelling(write, waits)
			p.release(write)
		case 1:
			p.hear(disowned, 2*round+2)
			o.Adopt()
			p.hear(waits, 2*round+2)
			p.leave(write)
			p.release(write)
		case 2:
			p.hear(disowned, 2*round+1)
			p.acquireTelling(write, waits)
			p.enter(write)
			p.leave(write)
			p.release(write)
		}
		p.meet()
	}
	p.works()
}

func obliviousMisuse(p *player) {
	o := p.oblivious()
	if p.me == 0 {
		p.misused("Disown of a lock that the rank does not hold", o.Disown)
		p.acquire(write)
		p.misused("Adopt of a lock that the rank holds", o.Adopt)
		o.Disown()
		p.misused("Disown twice", o.Disown)
		p.misused("Release of a lock that the rank has disowned", p.lock.Release)
		o.Adopt()
		p.release(write)
	}
	p.works()
}
