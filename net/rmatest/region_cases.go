package rmatest

import (
	"errors"
	"fmt"

	"github.com/orwl/go-orwl/net/rma"
)

// Cases of dynamic memory: Attach and Detach.
var regionCases = []Case{
	{Name: "region/shared-by-all", Ranks: 2, Words: 64, Setup: Scene(1, regionShared)},
	{Name: "region/bulk", Ranks: 2, Words: 64, Setup: Scene(1, regionBulk)},
	{Name: "region/zero-again", Ranks: 2, Words: 64, Setup: Scene(1, regionZero)},
	{Name: "region/disjoint", Ranks: 2, Words: 64, Setup: Scene(1, regionsDisjoint)},
	{Name: "region/stale", Ranks: 2, Words: 64, Setup: Scene(3, regionStale)},
	{Name: "region/bounds", Ranks: 2, Words: 64, Setup: Scene(1, regionBounds)},
	{Name: "region/not-attached", Ranks: 2, Words: 64, Setup: Scene(1, regionNotAttached)},
	{Name: "region/no-space", Ranks: 2, Words: 64, Setup: Scene(1, regionNoSpace)},
}

// attach attaches a region and checks it. It tells the displacement to all ranks
// through the allocated word at. It returns the regions of all ranks.
func (p *Player) attach(words int, at rma.Disp) (own rma.Region, bases []rma.Disp) {
	own, err := p.Attach(words)
	p.Check(err)
	if len(own.Words) != words {
		p.Fail("Attach(%d) gave %d words", words, len(own.Words))
		own.Words = make([]uint64, words)
	}
	if !own.Base.IsDynamic() {
		p.Fail("Attach gave displacement %v, which is not dynamic", own.Base)
	}
	for i, word := range own.Words {
		p.Equal(word, 0, "word %d of a new region", i)
	}
	p.Store(p.Me, at, uint64(own.Base))
	p.Meet()
	bases = make([]rma.Disp, p.Ranks)
	for q := range p.All {
		bases[q] = rma.Disp(p.Get(q, at))
	}
	p.Meet()
	return own, bases
}

// regionShared lets all ranks use all regions by every operation. Between meetings the
// owners use them alone, by ordinary loads and stores.
func regionShared(p *Player, at rma.Disp) {
	const words = 3 + MaxRanks
	own, bases := p.attach(words, at)
	for q := range p.All {
		base := bases[q]
		p.FetchOp(q, base, rma.Sum, 1)
		p.Accumulate(q, base+1, rma.Sum, 2)
		for old := uint64(0); p.Err() == nil && p.Context.Err() == nil; {
			was := p.CAS(q, base+2, old, old+3)
			if was == old {
				break
			}
			old = was
		}
		p.Put(q, base+3+rma.Disp(p.Me), Distinct(p.Me, int(q)))
	}
	p.FlushAll()
	p.Meet()
	for i := range own.Words {
		switch {
		case i < 3:
			p.Equal(own.Words[i], uint64((i+1)*p.Ranks), "word %d of the own region", i)
		case i < 3+p.Ranks:
			p.Equal(own.Words[i], Distinct(rma.Rank(i-3), int(p.Me)), "what rank %d put into the own region", i-3)
		default:
			p.Equal(own.Words[i], 0, "an unchanged word of the own region")
		}
		own.Words[i] = Distinct(p.Me, 1000+i)
	}
	p.Meet()
	for q := range p.All {
		for i := range rma.Disp(words) {
			p.Equal(p.Get(q, bases[q]+i), Distinct(q, 1000+int(i)), "what rank %d stored into its own region", q)
		}
	}
	p.Meet()
	p.Check(p.Detach(own.Base))
}

func regionBulk(p *Player, at rma.Disp) {
	own, bases := p.attach(100, at)
	next := p.After(1)
	buffer := make([]byte, 8*99)
	fill(buffer, Distinct(p.Me, 0))
	p.PutBytes(next, bases[next]+1, buffer)
	p.Flush(next)
	clear(buffer)
	p.GetBytes(next, bases[next]+1, buffer)
	p.filled(buffer, Distinct(p.Me, 0), "of the next rank's region")
	p.Meet()
	p.Equal(own.Words[0], 0, "the word before the piece that PutBytes stored")
	p.Check(p.Detach(own.Base))
}

// regionZero attaches and detaches regions, and leaves nonzero words in each.
func regionZero(p *Player, at rma.Disp) {
	seen := map[rma.Disp]bool{}
	for round := range 20 {
		own, bases := p.attach(8, at) // checks that the region is zero
		if seen[own.Base] {
			p.Fail("round %d: Attach gave %v again", round, own.Base)
		}
		seen[own.Base] = true
		next := p.After(1)
		for i := range rma.Disp(8) {
			p.Equal(p.Get(next, bases[next]+i), 0, "round %d: a word of the next rank's new region", round)
		}
		p.Meet()
		for i := range own.Words {
			own.Words[i] = minusOne
		}
		p.Check(p.Detach(own.Base))
	}
}

func regionsDisjoint(p *Player, at rma.Disp) {
	var regions []rma.Region
	for i := range 9 {
		own, _ := p.attach(1+i%3*5, at)
		regions = append(regions, own)
		for j := range own.Words {
			p.Store(p.Me, own.Base+rma.Disp(j), Distinct(p.Me, 100*i+j))
		}
	}
	for i, own := range regions {
		for j, word := range own.Words {
			p.Equal(word, Distinct(p.Me, 100*i+j), "word %d of region %d", j, i)
		}
	}
	for _, own := range regions {
		p.Check(p.Detach(own.Base))
	}
}

// regionStale uses a detached region, also after another one was attached in its place.
func regionStale(p *Player, at rma.Disp) {
	first, firsts := p.attach(4, at)
	p.Meet()
	p.Check(p.Detach(first.Base))
	p.Meet()
	for q := range p.All {
		p.RefusesEverything(q, firsts[q])
	}
	p.Meet()
	second, seconds := p.attach(4, at)
	if second.Base == first.Base {
		p.Fail("Attach after Detach gave %v again", first.Base)
	}
	for q := range p.All {
		p.RefusesEverything(q, firsts[q])
		p.Equal(p.Get(q, seconds[q]), 0, "a word of the region attached in place of another")
	}
	p.Meet()
	p.Is(p.Detach(first.Base), rma.ErrNotAttached, "Detach of a region that was detached before")
	p.Check(p.Detach(second.Base))
	p.stillGood(at + 1)
}

func regionBounds(p *Player, at rma.Disp) {
	own, bases := p.attach(5, at)
	for q := range p.All {
		p.Store(q, bases[q]+4, 1)
		p.RefusesEverything(q, bases[q]+5)
		p.refuses("PutBytes beyond the end", q, bases[q]+4, func() { p.PutBytes(q, bases[q]+4, make([]byte, 16)) })
		p.refuses("GetBytes beyond the end", q, bases[q]+4, func() { p.GetBytes(q, bases[q]+4, make([]byte, 16)) })
	}
	p.Meet()
	p.Check(p.Detach(own.Base))
}

func regionNotAttached(p *Player, at rma.Disp) {
	own, bases := p.attach(4, at)
	for _, base := range []rma.Disp{at, -1, own.Base + 1, rma.Dynamic(1000, 0), rma.Dynamic(rma.MaxSlots-1, 5)} {
		p.Is(p.Detach(base), rma.ErrNotAttached, "Detach(%v)", base)
	}
	p.Equal(p.Get(p.After(1), bases[p.After(1)]), 0, "a word of a region that is still attached")
	p.Meet()
	p.Check(p.Detach(own.Base))
	p.Is(p.Detach(own.Base), rma.ErrNotAttached, "a second Detach")
}

func regionNoSpace(p *Player, _ rma.Disp) {
	for _, words := range []int{0, -1, rma.MaxRegion + 1} {
		_, err := p.Attach(words)
		p.Is(err, rma.ErrNoSpace, "Attach(%d)", words)
		if refusal, ok := errors.AsType[*rma.AllocError](err); !ok || refusal.Words != words {
			p.Fail("Attach(%d): the error is %v, want an *rma.AllocError that says so", words, err)
		}
	}
	p.Check(p.Err())
}

// Addresses that do not exist. Every operation panics as the contract says and
// changes nothing, and the window stays usable.
var addressCases = []Case{
	{Name: "address/rank", Ranks: 2, Words: 64, Setup: Scene(2, badRanks)},
	{Name: "address/displacement", Ranks: 2, Words: 64, Setup: Scene(2, badDisplacements)},
	{Name: "address/unaligned-bulk", Ranks: 2, Words: 64, Setup: Scene(2, unalignedBulk)},
}

func badRanks(p *Player, at rma.Disp) {
	for _, q := range []rma.Rank{-1, rma.Rank(p.Ranks), 1 << 40, -1 << 40} {
		p.RefusesEverything(q, at)
		p.refuses("Flush", q, 0, func() { p.Flush(q) })
	}
	p.stillGood(at)
}

func badDisplacements(p *Player, at rma.Disp) {
	for q := range p.All {
		for _, disp := range []rma.Disp{-1, -1 << 40, 1 << 40, rma.Dynamic(0, 0), rma.Dynamic(7, 3) + 5, rma.Dynamic(rma.MaxSlots-1, 1)} {
			p.RefusesEverything(q, disp)
		}
	}
	p.stillGood(at)
}

func unalignedBulk(p *Player, at rma.Disp) {
	for q := range p.All {
		for _, bytes := range []int{1, 7, 9, 15} {
			buffer := make([]byte, bytes)
			p.refuses(fmt.Sprintf("PutBytes of %d bytes", bytes), q, at, func() { p.PutBytes(q, at, buffer) })
			p.refuses(fmt.Sprintf("GetBytes of %d bytes", bytes), q, at, func() { p.GetBytes(q, at, buffer) })
		}
	}
	p.stillGood(at)
}

// stillGood checks that memory is unchanged and that operations work.
func (p *Player) stillGood(at rma.Disp) {
	p.Check(p.Err())
	p.Meet()
	p.Equal(p.Get(p.Me, at), 0, "a word after refused operations")
	p.Store(p.Me, at+1, Distinct(p.Me, 1))
	p.Equal(p.Get(p.Me, at+1), Distinct(p.Me, 1), "a word put after refused operations")
}

// Cases of allocated memory.
var allocCases = []Case{
	{Name: "alloc/symmetric", Ranks: 2, Words: 512, Setup: symmetric},
	{Name: "alloc/disjoint", Ranks: 2, Words: 512, Setup: disjoint},
	{Name: "alloc/no-space", Ranks: 2, Words: 128, Setup: noSpace},
}

var allocSizes = []int{1, 2, 3, 7, 8, 9, 64, 100, 1}

// symmetric compares the displacements that Alloc returned in each rank's process.
func symmetric(f rma.Fabric) (Body, error) {
	table, err := f.Alloc(1 + MaxRanks) // the meeting word, then a word for each rank
	if err != nil {
		return nil, err
	}
	var got []rma.Disp
	for _, words := range allocSizes {
		at, err := f.Alloc(words)
		if err != nil {
			return nil, fmt.Errorf("Alloc(%d): %w", words, err)
		}
		got = append(got, at)
	}
	return cast(f, table, func(p *Player) {
		for i, at := range got {
			for q := range p.All {
				p.Put(q, table+1+rma.Disp(p.Me), uint64(at))
			}
			p.FlushAll()
			p.Meet()
			for q := range p.All {
				p.Equal(p.Get(p.Me, table+1+rma.Disp(q)), uint64(at), "the displacement of allocation %d in rank %d's process", i, q)
			}
			p.Meet()
		}
	}), nil
}

// disjoint fills every word of every allocation at every rank.
func disjoint(f rma.Fabric) (Body, error) {
	meeting, err := f.Alloc(1)
	if err != nil {
		return nil, err
	}
	var words []rma.Disp
	for _, n := range allocSizes {
		at, err := f.Alloc(n)
		if err != nil {
			return nil, fmt.Errorf("Alloc(%d): %w", n, err)
		}
		for i := range rma.Disp(n) {
			words = append(words, at+i)
		}
	}
	return cast(f, meeting, func(p *Player) {
		next := p.After(1)
		for i, disp := range words {
			p.Put(next, disp, Distinct(p.Me, i))
		}
		p.Flush(next)
		p.Meet()
		for i, disp := range words {
			p.Equal(p.Get(p.Me, disp), Distinct(p.After(-1), i), "word %d of all allocations", i)
		}
	}), nil
}

// noSpace asks for more words than are free, for no words, and for all free words.
func noSpace(f rma.Fabric) (Body, error) {
	meeting, err := f.Alloc(1)
	if err != nil {
		return nil, err
	}
	free, err := allFree(f)
	if err != nil {
		return nil, err
	}
	for _, words := range []int{free + 1, 1 << 50, 0, -1} {
		if err := refusesAlloc(f, words, free); err != nil {
			return nil, err
		}
	}
	if _, err := f.Alloc(free); err != nil {
		return nil, fmt.Errorf("the %d words that are free: %w", free, err)
	}
	if err := refusesAlloc(f, 1, 0); err != nil {
		return nil, err
	}
	return cast(f, meeting, func(p *Player) { p.Meet() }), nil
}

// refusesAlloc checks the error of an allocation that does not fit.
func refusesAlloc(f rma.Fabric, words, free int) error {
	at, err := f.Alloc(words)
	refusal, ok := errors.AsType[*rma.AllocError](err)
	switch {
	case !ok || refusal.Why != rma.ErrNoSpace:
		return fmt.Errorf("Alloc(%d) with %d words free returned %v, %v, want an *rma.AllocError for rma.ErrNoSpace", words, free, at, err)
	case refusal.Words != words || refusal.Free != free:
		return fmt.Errorf("Alloc(%d) with %d words free says %d of %d", words, free, refusal.Words, refusal.Free)
	}
	return nil
}

// Cases of fabrics that can show memory of the caller.
var exposeCases = []Case{{Name: "region/exposed", Ranks: 3, Words: 128, Setup: exposed}}

// exposed has each rank show a slice of its own: others read and write its first and last words, until it is detached.
func exposed(f rma.Fabric) (Body, error) {
	exposer, ok := f.(rma.Exposer)
	if !ok {
		return nil, fmt.Errorf("%w: a %T is not an rma.Exposer", ErrSkip, f)
	}
	return Scene(MaxRanks, func(p *Player, at rma.Disp) {
		size := func(q rma.Rank) int { return 2 + int(q)*7%11 }
		memory := make([]uint64, size(p.Me))
		for i := range memory {
			memory[i] = Distinct(p.Me, i)
		}
		base, err := exposer.Expose(p.Me, memory)
		p.Check(err)
		for q := range p.All {
			p.Store(q, at+rma.Disp(p.Me), uint64(base))
		}
		p.Meet()
		of := func(q rma.Rank) rma.Disp { return rma.Disp(p.Get(p.Me, at+rma.Disp(q))) }
		for q := range p.All {
			for i := range size(q) {
				p.Equal(p.Get(q, of(q)+rma.Disp(i)), Distinct(q, i), "word %d of rank %d's slice", i, q)
			}
		}
		p.Meet()
		next := p.After(1)
		last := size(next) - 1
		p.Store(next, of(next), 1)
		p.PutBytes(next, of(next)+rma.Disp(last), []byte{2, 0, 0, 0, 0, 0, 0, 0})
		p.Flush(next)
		p.Meet()
		p.Equal(memory[0], 1, "the first word of the own slice")
		p.Equal(memory[len(memory)-1], 2, "the last word of the own slice")
		p.Detach(base)
		p.Meet()
		for q := range p.All {
			p.RefusesEverything(q, of(q))
		}
	})(f)
}
