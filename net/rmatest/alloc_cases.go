package rmatest

import (
	"fmt"

	"github.com/orwl/go-orwl/net/rma"
)

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
	return cast(f, table, func(p *player) {
		for i, at := range got {
			for q := range p.all {
				p.Put(q, table+1+rma.Disp(p.me), uint64(at))
			}
			p.FlushAll()
			p.meet()
			for q := range p.all {
				p.equal(p.Get(p.me, table+1+rma.Disp(q)), uint64(at), "the displacement of allocation %d in rank %d's process", i, q)
			}
			p.meet()
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
	return cast(f, meeting, func(p *player) {
		next := p.after(1)
		for i, disp := range words {
			p.Put(next, disp, distinct(p.me, i))
		}
		p.Flush(next)
		p.meet()
		for i, disp := range words {
			p.equal(p.Get(p.me, disp), distinct(p.after(-1), i), "word %d of all allocations", i)
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
		return nil, fmt.Errorf("Alloc of the %d words that are free: %w", free, err)
	}
	if err := refusesAlloc(f, 1, 0); err != nil {
		return nil, err
	}
	return cast(f, meeting, func(p *player) { p.meet() }), nil
}

// refusesAlloc checks the error of an allocation that does not fit.
func refusesAlloc(f rma.Fabric, words, free int) error {
	at, err := f.Alloc(words)
	refusal, ok := as[*rma.AllocError](err)
	switch {
	case !ok || refusal.Why != rma.ErrNoSpace:
		return fmt.Errorf("Alloc(%d) with %d words free returned %v, %v, want an *rma.AllocError for rma.ErrNoSpace", words, free, at, err)
	case refusal.Words != words || refusal.Free != free:
		return fmt.Errorf("Alloc(%d) with %d words free says %d of %d", words, free, refusal.Words, refusal.Free)
	}
	return nil
}
