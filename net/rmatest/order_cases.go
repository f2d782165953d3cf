package rmatest

import (
	"encoding/binary"

	"github.com/orwl/go-orwl/net/rma"
)

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
