package rmatest

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/orwl/go-orwl/net/rma"
)

// Cases of Put, Get and Flush.
var wordCases = []Case{
	{Name: "word/zero-at-first", Ranks: 2, Words: 256, Setup: Scene(128, zeroAtFirst)},
	{Name: "word/put-flush-get", Ranks: 2, Words: 128, Setup: Scene(MaxRanks, putFlushGet)},
	{Name: "word/put-flush-all-get", Ranks: 2, Words: 128, Setup: Scene(MaxRanks, putFlushAllGet)},
	{Name: "word/flush-orders-puts", Ranks: 2, Words: 128, Setup: Scene(MaxRanks, flushOrdersPuts)},
	{Name: "word/third-rank-sees-put", Ranks: 3, Words: 128, Setup: Scene(2, thirdRankSeesPut)},
	{Name: "word/window", Ranks: 2, Words: 64, Setup: sameWindow},
}

// A rank reads all its own words, and some of the others': with many ranks, each word takes a round trip.
func zeroAtFirst(p *Player, at rma.Disp) {
	for q := range p.All {
		for i := range rma.Disp(128) {
			if q == p.Me || i%8 == rma.Disp(p.Me)%8 {
				p.Equal(p.Get(q, at+i), 0, "a new word")
			}
		}
	}
}

// putFlushGet puts a word into every segment, including its own, and reads it back.
func putFlushGet(p *Player, at rma.Disp) {
	mine := at + rma.Disp(p.Me)
	for q := range p.All {
		p.Put(q, mine, Distinct(p.Me, int(q)))
		p.Flush(q)
		p.Equal(p.Get(q, mine), Distinct(p.Me, int(q)), "the word put at rank %d and flushed", q)
	}
	p.Meet()
	for q := range p.All {
		p.Equal(p.Get(p.Me, at+rma.Disp(q)), Distinct(q, int(p.Me)), "the word that rank %d put here", q)
	}
}

// putFlushAllGet flushes once for all segments.
func putFlushAllGet(p *Player, at rma.Disp) {
	mine := at + rma.Disp(p.Me)
	for round := range 8 {
		for q := range p.All {
			p.Put(q, mine, Distinct(p.Me, round))
		}
		p.FlushAll()
		for q := range p.All {
			p.Equal(p.Get(q, mine), Distinct(p.Me, round), "the word put at rank %d before FlushAll", q)
		}
	}
}

// flushOrdersPuts puts into one word several times, with a flush after each Put. The
// last value stays.
func flushOrdersPuts(p *Player, at rma.Disp) {
	mine := at + rma.Disp(p.Me)
	for _, q := range []rma.Rank{p.Me, p.After(1)} {
		for i := range 16 {
			p.Put(q, mine, Distinct(p.Me, i))
			p.Flush(q)
		}
		p.Equal(p.Get(q, mine), Distinct(p.Me, 15), "the word after the last of several flushed puts")
	}
}

// thirdRankSeesPut puts a word at the next rank and tells the rank after that one to
// read it.
func thirdRankSeesPut(p *Player, at rma.Disp) {
	data, flag := at, at+1
	for round := range 20 {
		p.Store(p.After(1), data, Distinct(p.Me, round))
		p.Store(p.After(2), flag, uint64(round)+1)
		p.await(p.Me, flag, rma.Is(uint64(round)+1))
		p.Equal(p.Get(p.After(-1), data), Distinct(p.After(-2), round),
			"round %d: what rank %d put at rank %d and flushed", round, p.After(-2), p.After(-1))
		p.Meet()
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
	return Scene(0, func(p *Player, _ rma.Disp) {
		again, err := f.Window(p.Me)
		p.Check(err)
		if again != p.Window {
			p.Fail("Fabric.Window(%d) is another window the second time", p.Me)
		}
		if p.Me < 0 || int(p.Me) >= p.Ranks {
			p.Fail("Window.Rank is %d, want 0 to %d", p.Me, p.Ranks-1)
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
	{Name: "order/flag-by-put", Ranks: 2, Words: 64, Setup: Scene(16, message(0))},
	{Name: "order/flag-by-fetch", Ranks: 2, Words: 64, Setup: Scene(16, message(2))},
	{Name: "order/flag-by-cas", Ranks: 2, Words: 64, Setup: Scene(16, message(3))},
	{Name: "order/flag-by-accumulate", Ranks: 2, Words: 64, Setup: Scene(16, message(5))},
	{Name: "order/bulk-then-flag", Ranks: 2, Words: 256, Setup: Scene(200, bulkMessage)},
	{Name: "order/chain", Ranks: 3, Words: 64, Setup: Scene(3, chain)},
}

// message sends eight words to the next rank and raises the flag by one of changes.
// The receiver acknowledges before the next round.
func message(by int) func(p *Player, at rma.Disp) {
	const flag, ack, data = 0, 1, 8
	return func(p *Player, at rma.Disp) {
		next, previous := p.After(1), p.After(-1)
		for round := range uint64(30) {
			for i := range rma.Disp(8) {
				p.Put(next, at+data+i, Distinct(p.Me, int(round)*8+int(i)))
			}
			p.Flush(next)
			changes[by].make(p, next, at+flag, round, round+1)

			p.await(p.Me, at+flag, rma.Is(round+1))
			for i := range rma.Disp(8) {
				p.Equal(p.Get(p.Me, at+data+i), Distinct(previous, int(round)*8+int(i)), "round %d: word %d of the message", round, i)
			}
			p.Store(previous, at+ack, round+1)
			p.await(p.Me, at+ack, rma.Is(round+1))
		}
	}
}

// bulkMessage is message with bulk data. The receiver reads it in bulk and by words.
func bulkMessage(p *Player, at rma.Disp) {
	const flag, ack, data, words = 0, 1, 2, 192
	next, previous := p.After(1), p.After(-1)
	buffer := make([]byte, 8*words)
	for round := range uint64(30) {
		fill(buffer, Distinct(p.Me, int(round)))
		p.PutBytes(next, at+data, buffer)
		p.Flush(next)
		p.Store(next, at+flag, round+1)

		p.await(p.Me, at+flag, rma.Is(round+1))
		p.GetBytes(p.Me, at+data, buffer)
		p.filled(buffer, Distinct(previous, int(round)), "round %d: the message", round)
		p.Equal(p.Get(p.Me, at+data+words-1), binary.NativeEndian.Uint64(buffer[8*words-8:]), "round %d: the last word", round)
		p.Store(previous, at+ack, round+1)
		p.await(p.Me, at+ack, rma.Is(round+1))
	}
}

// chain passes a flag from rank to rank. Before the first rank sets the flag, it puts
// a word at another rank. Every later rank of the chain must see this word.
func chain(p *Player, at rma.Disp) {
	const data, flag = 0, 1
	for round := range 20 {
		first := rma.Rank(round % p.Ranks)
		home := rma.Rank((round + 1) % p.Ranks)
		hop := uint64(round + 1)
		if p.Me == first {
			p.Store(home, at+data, Distinct(first, round))
		} else {
			p.await(p.Me, at+flag, rma.Is(hop))
			p.Equal(p.Get(home, at+data), Distinct(first, round), "round %d: what the first rank of the chain put", round)
		}
		if p.After(1) != first {
			p.Store(p.After(1), at+flag, hop)
		}
		p.Meet()
	}
}

// fill gives every word of a buffer a different value.
func fill(buffer []byte, seed uint64) {
	for i := 0; i < len(buffer); i += 8 {
		binary.NativeEndian.PutUint64(buffer[i:], (seed+uint64(i))*0x9E3779B97F4A7C15)
	}
}

// filled checks that a buffer is as fill left it.
func (p *Player) filled(buffer []byte, seed uint64, what string, args ...any) {
	want := make([]byte, 8)
	for i := 0; i < len(buffer); i += 8 {
		fill(want, seed+uint64(i))
		if got, want := binary.NativeEndian.Uint64(buffer[i:]), binary.NativeEndian.Uint64(want); got != want {
			p.Equal(got, want, "word "+what, args...)
			return
		}
	}
}

// Cases of Await by many ranks: each change wakes every rank that it concerns. A lost
// wake-up shows as a rank that waits until the time limit of the runner.
var handoverCases = []Case{
	{Name: "handover/turns-at-one-word", Ranks: 4, Words: 64, Setup: Scene(2, turnsAtOneWord)},
	{Name: "handover/all-at-once", Ranks: 4, Words: 64, Setup: Scene(2, allAtOnce)},
	{Name: "handover/one-waits-for-all", Ranks: 4, Words: 64, Setup: Scene(2, oneWaitsForAll)},
	{Name: "handover/crowd", Ranks: 6, Words: 64, Setup: Scene(2, crowd)},
	{Name: "handover/ring", Ranks: 4, Words: 64, Setup: Scene(1, ring)},
	{Name: "handover/ping-pong", Ranks: 2, Words: 128, Setup: Scene(MaxRanks, pingPong)},
}

// turnsAtOneWord is a ticket lock: all ranks wait for different values of one word,
// and each turn wakes one rank.
func turnsAtOneWord(p *Player, at rma.Disp) {
	serving, inside := at, at+1
	for turn := range p.Share(256) {
		p.await(0, serving, rma.Is(uint64(turn*p.Ranks+int(p.Me))))
		p.Equal(p.FetchOp(0, inside, rma.Sum, 1), 0, "turn %d: the number of other ranks inside", turn)
		p.FetchOp(0, inside, rma.Sum, minusOne)
		p.FetchOp(0, serving, rma.Sum, 1)
	}
}

// allAtOnce wakes all ranks in each round. The leader and the word change from round
// to round. A word comes again after 2P rounds, and every rank leads two of these.
func allAtOnce(p *Player, at rma.Disp) {
	for round := range 100 {
		leader := rma.Rank(round % p.Ranks)
		home := rma.Rank(round / 2 % p.Ranks)
		word := at + rma.Disp(round%2)
		if p.Me == leader {
			p.Store(home, word, uint64(round)+1)
		}
		p.Equal(p.await(home, word, rma.AtLeast(uint64(round)+1)), uint64(round)+1, "the word of round %d", round)
	}
}

// oneWaitsForAll counts the arrivals of all ranks. Only rank 0 waits for them.
func oneWaitsForAll(p *Player, at rma.Disp) {
	arrivals, again := at, at+1
	for round := range uint64(p.Share(200)) {
		if p.Me != 0 {
			p.Accumulate(0, arrivals, rma.Sum, 1)
			p.Flush(0)
			p.await(p.Me, again, rma.Is(round+1))
			continue
		}
		want := (round + 1) * uint64(p.Ranks-1)
		p.Equal(p.await(0, arrivals, rma.AtLeast(want)), want, "arrivals of round %d", round)
		for q := range p.All {
			p.Store(q, again, round+1)
		}
	}
}

// crowd lets all ranks wait for the same change of one word. Their conditions differ,
// and change from round to round: some wait for the value, some for a part of it.
func crowd(p *Player, at rma.Disp) {
	word, seen := at, at+1
	home := rma.Rank(p.Ranks - 1)
	value := func(round int) uint64 { return uint64(round+1)<<32 | uint64(round+1) }
	for round := range p.Share(300) {
		now, before := value(round), value(round-1)
		if leader := rma.Rank(round % p.Ranks); p.Me == leader {
			p.await(home, seen, rma.Is(uint64(round*(p.Ranks-1))))
			changes[round%len(changes)].make(p, home, word, before, now)
			continue
		}
		const low = 1<<32 - 1
		until := []rma.Until{
			rma.Is(now), rma.Is(now & low).Masked(low), rma.Is(now &^ low).Masked(^uint64(low)),
			rma.IsNot(before), rma.AtLeast(now), rma.Is(now & 1).Masked(1),
		}[(int(p.Me)+round)/2%6]
		p.Equal(p.await(home, word, until), now, "the word of round %d, awaited until %v", round, until)
		p.FetchOp(home, seen, rma.Sum, 1)
	}
}

// ring passes a number from rank to rank, lap after lap.
func ring(p *Player, at rma.Disp) {
	laps := p.Share(600)
	for lap := range laps {
		hop := uint64(lap*p.Ranks + int(p.Me))
		if hop > 0 {
			p.await(p.Me, at, rma.Is(hop))
		}
		if last := lap == laps-1 && int(p.Me) == p.Ranks-1; !last {
			p.Store(p.After(1), at, hop+1)
		}
	}
}

// pingPong lets pairs of neighbours wake each other, each pair on a word of its own.
// Both also change another word, which a backend may watch together with the awaited
// one.
func pingPong(p *Player, at rma.Disp) {
	other := p.Me ^ 1
	if int(other) >= p.Ranks {
		return // the last rank of an odd number has no partner
	}
	ball := at + rma.Disp(p.Me)/2
	noise := ball + MaxRanks/2
	for round := range uint64(p.Share(3000)) {
		if p.Me < other {
			p.Store(other, ball, round+1)
		}
		p.Accumulate(other, noise, rma.Sum, 1)
		p.await(p.Me, ball, rma.Is(round+1))
		p.FetchOp(p.Me, noise, rma.Sum, 1)
		if p.Me > other {
			p.Store(other, ball, round+1)
		}
	}
}
