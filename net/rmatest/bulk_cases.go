package rmatest

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/orwl/go-orwl/net/rma"
)

// Cases of PutBytes and GetBytes.
var bulkCases = []Case{
	{Name: "bulk/round-trip", Ranks: 2, Words: 1024, Setup: Scene(bulkRoom, bulkRoundTrip)},
	{Name: "bulk/words-inside", Ranks: 2, Words: 64, Setup: Scene(16, bulkWords)},
	{Name: "bulk/zero-length", Ranks: 2, Words: 64, Setup: Scene(2, bulkNothing)},
	{Name: "bulk/buffer-reusable", Ranks: 2, Words: 128, Setup: Scene(64, bulkBuffer)},
	{Name: "bulk/end-of-memory", Ranks: 2, Words: 256, Setup: bulkEnd},
	{Name: "bulk/megabyte", Ranks: 2, Words: 1<<17 + 64, Setup: Scene(1<<17, bulkMegabyte)},
}

const bulkRoom = 640

// bulkRoundTrip moves pieces of many sizes to many displacements and checks that the
// words around them are unchanged.
func bulkRoundTrip(p *Player, at rma.Disp) {
	for _, q := range []rma.Rank{p.After(1), p.Me} {
		for _, words := range []int{1, 2, 3, 7, 8, 9, 63, 64, 65, 511} {
			for _, offset := range []rma.Disp{1, 2, 7, 64} {
				first, last := at+offset-1, at+offset+rma.Disp(words)
				p.Put(q, first, minusOne)
				p.Put(q, last, minusOne)
				p.Flush(q)
				buffer := make([]byte, 8*words)
				fill(buffer, Distinct(p.Me, words))
				p.PutBytes(q, first+1, buffer)
				p.Flush(q)
				clear(buffer)
				p.GetBytes(q, first+1, buffer)
				p.filled(buffer, Distinct(p.Me, words), "of %d bytes put at offset %d of rank %d", 8*words, offset, q)
				p.Equal(p.Get(q, first), minusOne, "the word before %d bytes at rank %d", 8*words, q)
				p.Equal(p.Get(q, last), minusOne, "the word after %d bytes at rank %d", 8*words, q)
			}
		}
		p.Meet() // until the other ranks have read their pieces here
	}
}

// bulkWords writes words and reads them in bulk, and then writes in bulk and reads
// words.
func bulkWords(p *Player, at rma.Disp) {
	next := p.After(1)
	buffer := make([]byte, 8*4)
	for i := range 4 {
		p.Put(next, at+rma.Disp(i), Distinct(p.Me, i))
	}
	p.Flush(next)
	p.GetBytes(next, at, buffer)
	for i := range 4 {
		p.Equal(binary.NativeEndian.Uint64(buffer[8*i:]), Distinct(p.Me, i), "word %d in the machine's byte order", i)
		binary.NativeEndian.PutUint64(buffer[8*i:], Distinct(p.Me, 8+i))
	}
	p.PutBytes(next, at+8, buffer)
	p.Flush(next)
	for i := range 4 {
		p.Equal(p.Get(next, at+8+rma.Disp(i)), Distinct(p.Me, 8+i), "word %d of what PutBytes stored", i)
	}
}

func bulkNothing(p *Player, at rma.Disp) {
	for q := range p.All {
		p.PutBytes(q, at, nil)
		p.PutBytes(q, at+1, []byte{})
		p.Flush(q)
		p.GetBytes(q, at, nil)
		p.Equal(p.Get(q, at), 0, "the word where nothing was put")
		p.Equal(p.Get(q, at+1), 0, "the word where nothing was put")
	}
}

// bulkBuffer changes the buffer as soon as PutBytes has returned.
func bulkBuffer(p *Player, at rma.Disp) {
	next := p.After(1)
	buffer := make([]byte, 8*16)
	for round := range 8 {
		for part := range 4 {
			fill(buffer, Distinct(p.Me, 4*round+part))
			p.PutBytes(next, at+rma.Disp(16*part), buffer)
		}
		clear(buffer)
		p.Flush(next)
		for part := range 4 {
			p.GetBytes(next, at+rma.Disp(16*part), buffer)
			p.filled(buffer, Distinct(p.Me, 4*round+part), "of part %d, after its buffer was reused,", part)
		}
	}
}

// bulkEnd allocates all free memory and uses the end of it.
func bulkEnd(f rma.Fabric) (Body, error) {
	meeting, err := f.Alloc(1)
	if err != nil {
		return nil, err
	}
	words, err := allFree(f)
	if err != nil {
		return nil, err
	}
	at, err := f.Alloc(words)
	if err != nil {
		return nil, fmt.Errorf("the %d words that are free: %w", words, err)
	}
	end := at + rma.Disp(words)
	return cast(f, meeting, func(p *Player) {
		next := p.After(1)
		buffer := make([]byte, 8*3)
		fill(buffer, Distinct(p.Me, 0))
		p.PutBytes(next, end-3, buffer)
		p.Flush(next)
		clear(buffer)
		p.GetBytes(next, end-3, buffer)
		p.filled(buffer, Distinct(p.Me, 0), "of the last three of memory")
		p.Store(next, end-1, Distinct(p.Me, 1))
		p.Equal(p.Get(next, end-1), Distinct(p.Me, 1), "the last word of memory")
		p.refuses("PutBytes beyond the end", next, end-2, func() { p.PutBytes(next, end-2, buffer) })
		p.refuses("GetBytes beyond the end", next, end-2, func() { p.GetBytes(next, end-2, buffer) })
		p.refuses("Put at the end", next, end, func() { p.Put(next, end, 1) })
		p.refuses("Get at the end", next, end, func() { p.Get(next, end) })
	}), nil
}

// allFree is the number of free words. It comes from the error of an allocation that
// is too large.
func allFree(f rma.Fabric) (int, error) {
	_, err := f.Alloc(1 << 50)
	var refusal *rma.AllocError
	if !errors.As(err, &refusal) {
		return 0, fmt.Errorf("for 1<<50 words the error is %v, want a *rma.AllocError", err)
	}
	return refusal.Free, nil
}

// bulkMegabyte moves one piece of 1 MiB between two ranks.
func bulkMegabyte(p *Player, at rma.Disp) {
	if p.Me == 0 {
		buffer := make([]byte, 1<<20)
		fill(buffer, 1)
		p.PutBytes(1, at, buffer)
		fill(buffer, 2) // another content than PutBytes sent
		p.Flush(1)
		p.GetBytes(1, at, buffer)
		p.filled(buffer, 1, "of a megabyte")
	}
	p.Meet()
	if p.Me == 1 {
		buffer := make([]byte, 1<<20)
		p.GetBytes(1, at, buffer)
		p.filled(buffer, 1, "of a megabyte")
	}
}
