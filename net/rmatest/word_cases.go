package rmatest

import (
	"encoding/binary"
	"errors"
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
	refusal, ok := errors.AsType[*rma.RankError](err)
	if w != nil || !ok {
		return fmt.Errorf("Fabric.Window(%d) of %d ranks returned %v, %v, want a *rma.RankError", p, f.Topology().Ranks(), w, err)
	}
	if refusal.Rank != p || refusal.Ranks != f.Topology().Ranks() {
		return fmt.Errorf("Fabric.Window(%d) names rank %d of %d", p, refusal.Rank, refusal.Ranks)
	}
	return nil
}

// Cases of message passing: data, a flush, a flag. A rank that sees the flag also sees
// the data. There is a case for every operation that can raise the flag.
var orderCases = []Case{
	{Name: "order/flag-by-put", Ranks: 2, Words: 64, Setup: scene(16, message(0))},
	{Name: "order/flag-by-fetch", Ranks: 2, Words: 64, Setup: scene(16, message(2))},
	{Name: "order/flag-by-cas", Ranks: 2, Words: 64, Setup: scene(16, message(3))},
	{Name: "order/flag-by-accumulate", Ranks: 2, Words: 64, Setup: scene(16, message(5))},
	{Name: "order/bulk-then-flag", Ranks: 2, Words: 256, Setup: scene(200, bulkMessage)},
	{Name: "order/chain", Ranks: 3, Words: 64, Setup: scene(3, chain)},
}

// message sends eight words to the next rank and raises the flag by one of changes.
// The receiver acknowledges before the next round.
func message(by int) func(p *player, at rma.Disp) {
	const flag, ack, data = 0, 1, 8
	return func(p *player, at rma.Disp) {
		next, previous := p.after(1), p.after(-1)
		for round := range uint64(30) {
			for i := range rma.Disp(8) {
				p.Put(next, at+data+i, distinct(p.me, int(round)*8+int(i)))
			}
			p.Flush(next)
			changes[by].make(p, next, at+flag, round, round+1)

			p.await(p.me, at+flag, rma.Is(round+1))
			for i := range rma.Disp(8) {
				p.equal(p.Get(p.me, at+data+i), distinct(previous, int(round)*8+int(i)), "round %d: word %d of the message", round, i)
			}
			p.put(previous, at+ack, round+1)
			p.await(p.me, at+ack, rma.Is(round+1))
		}
	}
}

// bulkMessage is message with bulk data. The receiver reads it in bulk and by words.
func bulkMessage(p *player, at rma.Disp) {
	const flag, ack, data, words = 0, 1, 2, 192
	next, previous := p.after(1), p.after(-1)
	buffer := make([]byte, 8*words)
	for round := range uint64(30) {
		fill(buffer, distinct(p.me, int(round)))
		p.PutBytes(next, at+data, buffer)
		p.Flush(next)
		p.put(next, at+flag, round+1)

		p.await(p.me, at+flag, rma.Is(round+1))
		p.GetBytes(p.me, at+data, buffer)
		p.filled(buffer, distinct(previous, int(round)), "round %d: the message", round)
		p.equal(p.Get(p.me, at+data+words-1), binary.NativeEndian.Uint64(buffer[8*words-8:]), "round %d: the last word", round)
		p.put(previous, at+ack, round+1)
		p.await(p.me, at+ack, rma.Is(round+1))
	}
}

// chain passes a flag from rank to rank. Before the first rank sets the flag, it puts
// a word at another rank. Every later rank of the chain must see this word.
func chain(p *player, at rma.Disp) {
	const data, flag = 0, 1
	for round := range 20 {
		first := rma.Rank(round % p.ranks)
		home := rma.Rank((round + 1) % p.ranks)
		hop := uint64(round + 1)
		if p.me == first {
			p.put(home, at+data, distinct(first, round))
		} else {
			p.await(p.me, at+flag, rma.Is(hop))
			p.equal(p.Get(home, at+data), distinct(first, round), "round %d: what the first rank of the chain put", round)
		}
		if p.after(1) != first {
			p.put(p.after(1), at+flag, hop)
		}
		p.meet()
	}
}

// fill gives every word of a buffer a different value.
func fill(buffer []byte, seed uint64) {
	for i := 0; i < len(buffer); i += 8 {
		binary.NativeEndian.PutUint64(buffer[i:], (seed+uint64(i))*0x9E3779B97F4A7C15)
	}
}

// filled checks that a buffer is as fill left it.
func (p *player) filled(buffer []byte, seed uint64, what string, args ...any) {
	want := make([]byte, 8)
	for i := 0; i < len(buffer); i += 8 {
		fill(want, seed+uint64(i))
		if got, want := binary.NativeEndian.Uint64(buffer[i:]), binary.NativeEndian.Uint64(want); got != want {
			p.equal(got, want, "word "+what, args...)
			return
		}
	}
}

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
