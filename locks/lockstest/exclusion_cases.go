package lockstest

import (
	"encoding/binary"

	"github.com/orwl/go-orwl/net/rma"
)

// No rank is inside together with a writer. Readers are inside together.
var exclusionCases = []Case{
	{Name: "exclusion/writers", Ranks: 2, act: exclusionWriters},
	{Name: "exclusion/readers-writers", Ranks: 3, needs: readerWriter, act: exclusionReadersWriters},
	{Name: "exclusion/readers-together", Ranks: 2, needs: readerWriter, act: exclusionReadersTogether},
}

// exclusionWriters counts the ranks inside by atomic operations. They need no flush
// by the lock.
func exclusionWriters(p *player) {
	for range p.share(60) {
		p.section(write)
	}
}

func exclusionReadersWriters(p *player) {
	for i := range p.share(90) {
		m := read
		if (i+int(p.me))%3 == 0 {
			m = write
		}
		p.section(m)
	}
}

// exclusionReadersTogether makes all ranks meet inside as readers, before and after
// writers.
func exclusionReadersTogether(p *player) {
	for round := range 4 {
		if int(p.me) == round%p.ranks {
			p.section(write)
		}
		p.meet()
		p.acquire(read)
		p.enter(read)
		p.meet()
		p.leave(read)
		p.release(read)
		p.meet()
	}
}

// The holder sees all operations of the last holder, including the unflushed ones.
var visibilityCases = []Case{
	{Name: "visibility/put", Ranks: 3, act: visibilityPut},
	{Name: "visibility/accumulate", Ranks: 3, act: visibilityAccumulate},
	{Name: "visibility/bulk", Ranks: 3, act: visibilityBulk},
	{Name: "visibility/to-readers", Ranks: 3, needs: readerWriter, act: visibilityToReaders},
	{Name: "visibility/from-readers", Ranks: 3, needs: readerWriter, act: visibilityFromReaders},
}

// visibilityPut counts in a word of each rank, by Get and Put.
func visibilityPut(p *player) {
	n := p.share(45)
	for range n {
		p.acquire(write)
		value := p.Get(0, p.at(0))
		for q := range rma.Rank(p.ranks) {
			p.equal(p.Get(q, p.at(0)), value, "the count at rank %d", q)
			p.Put(q, p.at(0), value+1)
		}
		p.release(write)
	}
	p.meet()
	p.equal(p.Get(p.after(1), p.at(0)), uint64(n*p.ranks), "the number of increments under the lock")
}

// visibilityAccumulate adds to words of one rank after the other.
func visibilityAccumulate(p *player) {
	for range p.share(45) {
		p.acquire(write)
		value := p.Get(p.after(1), p.at(0))
		p.equal(p.Get(p.after(2), p.at(1)), value, "the second sum")
		for q := range rma.Rank(p.ranks) {
			p.Accumulate(q, p.at(0), rma.Sum, 3)
			p.Accumulate(q, p.at(1), rma.Sum, 3)
		}
		p.release(write)
	}
}

// visibilityBulk writes several words together. They stay equal.
func visibilityBulk(p *player) {
	const n = 4
	var bytes [8 * n]byte
	target := rma.Rank(p.ranks - 1)
	for i := range p.share(45) {
		p.acquire(write)
		p.GetBytes(target, p.at(0), bytes[:])
		first := binary.NativeEndian.Uint64(bytes[:])
		for k := range n {
			p.equal(binary.NativeEndian.Uint64(bytes[8*k:]), first, "word %d of %d that were written together", k, n)
			binary.NativeEndian.PutUint64(bytes[8*k:], uint64(i)*64+uint64(p.me))
		}
		p.PutBytes(target, p.at(0), bytes[:])
		p.release(write)
	}
}

// visibilityToReaders lets every third acquisition write words of two ranks. Readers
// compare the words.
func visibilityToReaders(p *player) {
	a, b := rma.Rank(0), rma.Rank(p.ranks-1)
	for i := range p.share(60) {
		if (i+int(p.me))%3 == 0 {
			p.acquire(write)
			value := p.Get(a, p.at(0)) + 1
			p.Put(a, p.at(0), value)
			p.Put(b, p.at(1), value)
			p.release(write)
			continue
		}
		p.acquire(read)
		p.equal(p.Get(a, p.at(0)), p.Get(b, p.at(1)), "the first word, compared with the second by a reader,")
		p.release(read)
	}
}

// visibilityFromReaders lets each reader write a word of its own. A writer sees what a
// reader wrote before it left.
func visibilityFromReaders(p *player) {
	readers := min(p.ranks, 4)
	if p.me > 0 {
		for i := range 10 {
			p.acquire(read)
			if int(p.me) < readers {
				p.Put(1, p.at(int(p.me)), uint64(i)+1)
			}
			p.release(read)
			p.tell(int(p.me))
		}
		return
	}
	for range 10 {
		p.acquire(write)
		for q := 1; q < readers; q++ {
			left := p.told(q)
			if seen := p.Get(1, p.at(q)); int(seen) < left {
				p.fail("sees write %d of rank %d, which has left after write %d", seen, q, left)
			}
		}
		p.release(write)
	}
}
