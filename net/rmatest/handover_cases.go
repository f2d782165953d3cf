package rmatest

import "github.com/orwl/go-orwl/net/rma"

// Cases of Await by many ranks: each change wakes every rank that it concerns. A lost
// wake-up shows as a rank that waits until the time limit of the runner.
var handoverCases = []Case{
	{Name: "handover/turns-at-one-word", Ranks: 4, Words: 64, Setup: scene(2, turnsAtOneWord)},
	{Name: "handover/all-at-once", Ranks: 4, Words: 64, Setup: scene(2, allAtOnce)},
	{Name: "handover/one-waits-for-all", Ranks: 4, Words: 64, Setup: scene(2, oneWaitsForAll)},
	{Name: "handover/crowd", Ranks: 6, Words: 64, Setup: scene(2, crowd)},
	{Name: "handover/ring", Ranks: 4, Words: 64, Setup: scene(1, ring)},
	{Name: "handover/ping-pong", Ranks: 2, Words: 128, Setup: scene(MaxRanks, pingPong)},
}

// turnsAtOneWord is a ticket lock: all ranks wait for different values of one word,
// and each turn wakes one rank.
func turnsAtOneWord(p *player, at rma.Disp) {
	serving, inside := at, at+1
	for turn := range p.share(256) {
		p.await(0, serving, rma.Is(uint64(turn*p.ranks+int(p.me))))
		p.equal(p.FetchOp(0, inside, rma.Sum, 1), 0, "turn %d: the number of other ranks inside", turn)
		p.FetchOp(0, inside, rma.Sum, minusOne)
		p.FetchOp(0, serving, rma.Sum, 1)
	}
}

// allAtOnce wakes all ranks in each round. The leader and the word change from round
// to round. A word comes again after 2P rounds, and every rank leads two of these.
func allAtOnce(p *player, at rma.Disp) {
	for round := range 100 {
		leader := rma.Rank(round % p.ranks)
		home := rma.Rank(round / 2 % p.ranks)
		word := at + rma.Disp(round%2)
		if p.me == leader {
			p.put(home, word, uint64(round)+1)
		}
		p.equal(p.await(home, word, rma.AtLeast(uint64(round)+1)), uint64(round)+1, "the word of round %d", round)
	}
}

// oneWaitsForAll counts the arrivals of all ranks. Only rank 0 waits for them.
func oneWaitsForAll(p *player, at rma.Disp) {
	arrivals, again := at, at+1
	for round := range uint64(p.share(200)) {
		if p.me != 0 {
			p.Accumulate(0, arrivals, rma.Sum, 1)
			p.Flush(0)
			p.await(p.me, again, rma.Is(round+1))
			continue
		}
		want := (round + 1) * uint64(p.ranks-1)
		p.equal(p.await(0, arrivals, rma.AtLeast(want)), want, "arrivals of round %d", round)
		for q := range p.all {
			p.put(q, again, round+1)
		}
	}
}

// crowd lets all ranks wait for the same change of one word. Their conditions differ,
// and change from round to round: some wait for the value, some for a part of it.
func crowd(p *player, at rma.Disp) {
	word, seen := at, at+1
	home := rma.Rank(p.ranks - 1)
	value := func(round int) uint64 { return uint64(round+1)<<32 | uint64(round+1) }
	for round := range p.share(300) {
		now, before := value(round), value(round-1)
		if leader := rma.Rank(round % p.ranks); p.me == leader {
			p.await(home, seen, rma.Is(uint64(round*(p.ranks-1))))
			changes[round%len(changes)].make(p, home, word, before, now)
			continue
		}
		const low = 1<<32 - 1
		until := []rma.Until{
			rma.Is(now), rma.Is(now & low).Masked(low), rma.Is(now &^ low).Masked(^uint64(low)),
			rma.IsNot(before), rma.AtLeast(now), rma.Is(now & 1).Masked(1),
		}[(int(p.me)+round)/2%6]
		p.equal(p.await(home, word, until), now, "the word of round %d, awaited until %v", round, until)
		p.FetchOp(home, seen, rma.Sum, 1)
	}
}

// ring passes a number from rank to rank, lap after lap.
func ring(p *player, at rma.Disp) {
	laps := p.share(600)
	for lap := range laps {
		hop := uint64(lap*p.ranks + int(p.me))
		if hop > 0 {
			p.await(p.me, at, rma.Is(hop))
		}
		if last := lap == laps-1 && int(p.me) == p.ranks-1; !last {
			p.put(p.after(1), at, hop+1)
		}
	}
}

// pingPong lets pairs of neighbours wake each other, each pair on a word of its own.
// Both also change another word, which a backend may watch together with the awaited
// one.
func pingPong(p *player, at rma.Disp) {
	other := p.me ^ 1
	if int(other) >= p.ranks {
		return // the last rank of an odd number has no partner
	}
	ball := at + rma.Disp(p.me)/2
	noise := ball + MaxRanks/2
	for round := range uint64(p.share(3000)) {
		if p.me < other {
			p.put(other, ball, round+1)
		}
		p.Accumulate(other, noise, rma.Sum, 1)
		p.await(p.me, ball, rma.Is(round+1))
		p.FetchOp(p.me, noise, rma.Sum, 1)
		if p.me > other {
			p.put(other, ball, round+1)
		}
	}
}
