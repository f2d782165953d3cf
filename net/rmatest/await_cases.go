package rmatest

import (
	"context"

	"github.com/orwl/go-orwl/net/rma"
)

// Cases of Await by one rank: conditions, values, contexts.
var awaitCases = []Case{
	{Name: "await/already-true", Ranks: 2, Words: 128, Setup: Scene(MaxRanks, awaitAlreadyTrue)},
	{Name: "await/context-done", Ranks: 2, Words: 128, Setup: Scene(MaxRanks, awaitContextDone)},
	{Name: "await/own-becomes-true", Ranks: 2, Words: 128, Setup: Scene(MaxRanks, awaitOwn)},
	{Name: "await/other-becomes-true", Ranks: 2, Words: 128, Setup: Scene(MaxRanks, awaitOther)},
	{Name: "await/only-this-word", Ranks: 2, Words: 128, Setup: Scene(96, awaitOnlyThisWord)},
	{Name: "await/dynamic", Ranks: 2, Words: 64, Setup: Scene(1, awaitDynamic)},
}

const minusOne = ^uint64(0)

// conditions are all relations, with and without a mask. Each has a word that
// satisfies it and a word that does not.
var conditions = []struct {
	until   rma.Until
	yes, no uint64
}{
	{rma.Is(7), 7, 8},
	{rma.Is(0), 0, 1 << 63},
	{rma.IsNot(7), 8, 7},
	{rma.IsNot(0), 1 << 63, 0},
	{rma.Below(5), 4, 5},
	{rma.Below(5), minusOne, 1<<63 - 1}, // signed
	{rma.Below(0), 1 << 63, 0},
	{rma.AtLeast(5), 5, 4},
	{rma.AtLeast(5), 1<<63 - 1, minusOne}, // signed
	{rma.AtLeast(0), 0, minusOne},
	{rma.Is(0x34).Masked(0xff), 0x1234, 0x3412},
	{rma.Is(0).Masked(1 << 63), 12345, 1<<63 | 12345},
	{rma.IsNot(0).Masked(1 << 63), minusOne, 1<<63 - 1},
	{rma.IsNot(0x30).Masked(0xf0), 0x4130 + 0x10, 0x1434},
	{rma.Below(4).Masked(0xff), 0xff03, 4},
	{rma.AtLeast(4).Masked(0xff), 0xff04, 0xff03},
	{rma.Below(0).Masked(1 << 63), 1 << 63, 1<<63 - 1},
}

func awaitAlreadyTrue(p *Player, at rma.Disp) {
	mine := at + rma.Disp(p.Me)
	for _, q := range []rma.Rank{p.Me, p.After(1)} {
		for _, c := range conditions {
			p.Store(q, mine, c.yes)
			p.Equal(p.await(q, mine, c.until), c.yes, "the word %v that Await found", c.until)
		}
	}
}

// awaitContextDone waits for a condition that stays false, with a context that is
// done. The window must stay usable.
func awaitContextDone(p *Player, at rma.Disp) {
	mine := at + rma.Disp(p.Me)
	done, cancel := context.WithCancel(p.Context)
	cancel()
	for _, q := range []rma.Rank{p.Me, p.After(1)} {
		for _, c := range conditions {
			p.Store(q, mine, c.no)
			value, err := p.Await(done, q, mine, c.until)
			if err == nil {
				p.Fail("Await %v returned %#x, which does not satisfy it", c.until, value)
				continue
			}
			p.Is(err, context.Canceled, "Await %v with a context that is done", c.until)
			p.Check(p.Err())
			p.Store(q, mine, c.yes)
			p.Equal(p.await(q, mine, c.until), c.yes, "the word %v that Await found after a cancelled one", c.until)
		}
	}
}

// awaitOwn waits for a word in the own segment. awaitOther waits for a word in the
// segment of the rank that changes it.
func awaitOwn(p *Player, at rma.Disp) {
	awaitChange(p, at, func(waiter, _ rma.Rank) rma.Rank { return waiter })
}

func awaitOther(p *Player, at rma.Disp) {
	awaitChange(p, at, func(_, changer rma.Rank) rma.Rank { return changer })
}

// awaitChange lets each rank wait for a change by the previous rank. Odd ranks change
// first and even ranks wait first, so some waits begin before the change and some
// after it.
func awaitChange(p *Player, at rma.Disp, home func(waiter, changer rma.Rank) rma.Rank) {
	own, others := at+rma.Disp(p.Me), at+rma.Disp(p.After(1))
	for _, change := range changes {
		for _, c := range conditions {
			p.Store(home(p.Me, p.After(-1)), own, c.no)
			p.Meet()
			if p.Me%2 == 1 {
				change.make(p, home(p.After(1), p.Me), others, c.no, c.yes)
			}
			got := p.await(home(p.Me, p.After(-1)), own, c.until)
			p.Equal(got, c.yes, "the word %v that Await returned after a %s", c.until, change.name)
			if p.Me%2 == 0 {
				change.make(p, home(p.After(1), p.Me), others, c.no, c.yes)
			}
		}
	}
}

// changes are the word operations. Each changes a word and makes the change visible
// to all ranks.
var changes = []struct {
	name string
	make func(p *Player, target rma.Rank, disp rma.Disp, was, value uint64)
}{
	{"Put", func(p *Player, target rma.Rank, disp rma.Disp, was, value uint64) {
		p.Store(target, disp, value)
	}},
	{"FetchOp replace", func(p *Player, target rma.Rank, disp rma.Disp, was, value uint64) {
		p.Equal(p.FetchOp(target, disp, rma.Replace, value), was, "the word that FetchOp replaced")
	}},
	{"FetchOp sum", func(p *Player, target rma.Rank, disp rma.Disp, was, value uint64) {
		p.Equal(p.FetchOp(target, disp, rma.Sum, value-was), was, "the word that FetchOp added to")
	}},
	{"CAS", func(p *Player, target rma.Rank, disp rma.Disp, was, value uint64) {
		p.Equal(p.CAS(target, disp, was, value), was, "the word that CAS replaced")
	}},
	{"Accumulate replace", func(p *Player, target rma.Rank, disp rma.Disp, was, value uint64) {
		p.Accumulate(target, disp, rma.Replace, value)
		p.Flush(target)
	}},
	{"Accumulate sum", func(p *Player, target rma.Rank, disp rma.Disp, was, value uint64) {
		p.Accumulate(target, disp, rma.Sum, value-was)
		p.Flush(target)
	}},
}

// awaitOnlyThisWord first changes other words to the awaited value, near and far.
// Then it changes the awaited word.
func awaitOnlyThisWord(p *Player, at rma.Disp) {
	const data, flag = 0, 16
	next := p.After(1)
	for round := range 40 {
		value := uint64(round) + 1
		for _, decoy := range []rma.Disp{flag + 1, flag - 1, flag + 16, flag + 64} {
			p.Store(next, at+decoy, value)
		}
		p.Store(next, at+data, Distinct(p.Me, round))
		p.Store(next, at+flag, value)
		p.await(p.Me, at+flag, rma.Is(value))
		p.Equal(p.Get(p.Me, at+data), Distinct(p.After(-1), round), "round %d: the word put before the awaited word", round)
		p.Meet()
	}
}

// awaitDynamic waits for words of attached memory, its own and another rank's.
func awaitDynamic(p *Player, at rma.Disp) {
	own, err := p.Attach(40)
	if err != nil {
		p.Fail("Attach: %w", err)
		return
	}
	p.Store(p.After(-1), at, uint64(own.Base))
	p.Meet()
	next := p.After(1)
	others := rma.Disp(p.Get(p.Me, at))
	for round := range uint64(20) {
		p.Store(next, others+39, round+1)
		p.await(p.Me, own.Base+39, rma.Is(round+1)) // the owner waits
		p.FetchOp(p.Me, own.Base+17, rma.Sum, 1)
		p.await(next, others+17, rma.Is(round+1)) // another rank waits
	}
	p.Meet()
	p.Check(p.Detach(own.Base))
}
