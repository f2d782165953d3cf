package rmatest

import (
	"context"

	"github.com/orwl/go-orwl/net/rma"
)

// Cases of Await by one rank: conditions, values, contexts.
var awaitCases = []Case{
	{Name: "await/already-true", Ranks: 2, Words: 128, Setup: scene(MaxRanks, awaitAlreadyTrue)},
	{Name: "await/context-done", Ranks: 2, Words: 128, Setup: scene(MaxRanks, awaitContextDone)},
	{Name: "await/own-becomes-true", Ranks: 2, Words: 128, Setup: scene(MaxRanks, awaitOwn)},
	{Name: "await/other-becomes-true", Ranks: 2, Words: 128, Setup: scene(MaxRanks, awaitOther)},
	{Name: "await/only-this-word", Ranks: 2, Words: 128, Setup: scene(96, awaitOnlyThisWord)},
	{Name: "await/dynamic", Ranks: 2, Words: 64, Setup: scene(1, awaitDynamic)},
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

func awaitAlreadyTrue(p *player, at rma.Disp) {
	mine := at + rma.Disp(p.me)
	for _, q := range []rma.Rank{p.me, p.after(1)} {
		for _, c := range conditions {
			p.put(q, mine, c.yes)
			p.equal(p.await(q, mine, c.until), c.yes, "the word %v that Await found", c.until)
		}
	}
}

// awaitContextDone waits for a condition that stays false, with a context that is
// done. The window must stay usable.
func awaitContextDone(p *player, at rma.Disp) {
	mine := at + rma.Disp(p.me)
	done, cancel := context.WithCancel(p.ctx)
	cancel()
	for _, q := range []rma.Rank{p.me, p.after(1)} {
		for _, c := range conditions {
			p.put(q, mine, c.no)
			value, err := p.Await(done, q, mine, c.until)
			if err == nil {
				p.fail("Await %v returned %#x, which does not satisfy it", c.until, value)
				continue
			}
			p.is(err, context.Canceled, "Await %v with a context that is done", c.until)
			p.check(p.Err())
			p.put(q, mine, c.yes)
			p.equal(p.await(q, mine, c.until), c.yes, "the word %v that Await found after a cancelled one", c.until)
		}
	}
}

// awaitOwn waits for a word in the own segment. awaitOther waits for a word in the
// segment of the rank that changes it.
func awaitOwn(p *player, at rma.Disp) {
	awaitChange(p, at, func(waiter, _ rma.Rank) rma.Rank { return waiter })
}

func awaitOther(p *player, at rma.Disp) {
	awaitChange(p, at, func(_, changer rma.Rank) rma.Rank { return changer })
}

// awaitChange lets each rank wait for a change by the previous rank. Odd ranks change
// first and even ranks wait first, so some waits begin before the change and some
// after it.
func awaitChange(p *player, at rma.Disp, home func(waiter, changer rma.Rank) rma.Rank) {
	own, others := at+rma.Disp(p.me), at+rma.Disp(p.after(1))
	for _, change := range changes {
		for _, c := range conditions {
			p.put(home(p.me, p.after(-1)), own, c.no)
			p.meet()
			if p.me%2 == 1 {
				change.make(p, home(p.after(1), p.me), others, c.no, c.yes)
			}
			got := p.await(home(p.me, p.after(-1)), own, c.until)
			p.equal(got, c.yes, "the word %v that Await returned after a %s", c.until, change.name)
			if p.me%2 == 0 {
				change.make(p, home(p.after(1), p.me), others, c.no, c.yes)
			}
		}
	}
}

// changes are the word operations. Each changes a word and makes the change visible
// to all ranks.
var changes = []struct {
	name string
	make func(p *player, target rma.Rank, disp rma.Disp, was, value uint64)
}{
	{"Put", func(p *player, target rma.Rank, disp rma.Disp, was, value uint64) {
		p.put(target, disp, value)
	}},
	{"FetchOp replace", func(p *player, target rma.Rank, disp rma.Disp, was, value uint64) {
		p.equal(p.FetchOp(target, disp, rma.Replace, value), was, "the word that FetchOp replaced")
	}},
	{"FetchOp sum", func(p *player, target rma.Rank, disp rma.Disp, was, value uint64) {
		p.equal(p.FetchOp(target, disp, rma.Sum, value-was), was, "the word that FetchOp added to")
	}},
	{"CAS", func(p *player, target rma.Rank, disp rma.Disp, was, value uint64) {
		p.equal(p.CAS(target, disp, was, value), was, "the word that CAS replaced")
	}},
	{"Accumulate replace", func(p *player, target rma.Rank, disp rma.Disp, was, value uint64) {
		p.Accumulate(target, disp, rma.Replace, value)
		p.Flush(target)
	}},
	{"Accumulate sum", func(p *player, target rma.Rank, disp rma.Disp, was, value uint64) {
		p.Accumulate(target, disp, rma.Sum, value-was)
		p.Flush(target)
	}},
}

// awaitOnlyThisWord first changes other words to the awaited value, near and far.
// Then it changes the awaited word.
func awaitOnlyThisWord(p *player, at rma.Disp) {
	const data, flag = 0, 16
	next := p.after(1)
	for round := range 40 {
		value := uint64(round) + 1
		for _, decoy := range []rma.Disp{flag + 1, flag - 1, flag + 16, flag + 64} {
			p.put(next, at+decoy, value)
		}
		p.put(next, at+data, distinct(p.me, round))
		p.put(next, at+flag, value)
		p.await(p.me, at+flag, rma.Is(value))
		p.equal(p.Get(p.me, at+data), distinct(p.after(-1), round), "round %d: the word put before the awaited word", round)
		p.meet()
	}
}

// awaitDynamic waits for words of attached memory, its own and another rank's.
func awaitDynamic(p *player, at rma.Disp) {
	own, err := p.Attach(40)
	if err != nil {
		p.fail("Attach: %w", err)
		return
	}
	p.put(p.after(-1), at, uint64(own.Base))
	p.meet()
	next := p.after(1)
	others := rma.Disp(p.Get(p.me, at))
	for round := range uint64(20) {
		p.put(next, others+39, round+1)
		p.await(p.me, own.Base+39, rma.Is(round+1)) // the owner waits
		p.FetchOp(p.me, own.Base+17, rma.Sum, 1)
		p.await(next, others+17, rma.Is(round+1)) // another rank waits
	}
	p.meet()
	p.check(p.Detach(own.Base))
}
