package rmatest

import (
	"context"
	"errors"
	"fmt"

	"github.com/orwl/go-orwl/net/rma"
)

// Scene is the Setup of a case that needs allocated words, and one word more for Meet. The words
// begin at the displacement at, which is 0 if there are none.
func Scene(words int, act func(p *Player, at rma.Disp)) func(f rma.Fabric) (Body, error) {
	return func(f rma.Fabric) (Body, error) {
		meeting, err := f.Alloc(1)
		if err != nil {
			return nil, err
		}
		at := rma.Disp(0)
		if words > 0 {
			if at, err = f.Alloc(words); err != nil {
				return nil, err
			}
			rma.Label(f, at, words, "at")
		}
		rma.Label(f, meeting, 1, "meeting")
		return cast(f, meeting, func(p *Player) { act(p, at) }), nil
	}
}

// cast is the body that makes a player and calls act.
func cast(f rma.Fabric, meeting rma.Disp, act func(p *Player)) Body {
	ranks := f.Topology().Ranks()
	return func(ctx context.Context, w rma.Window) error {
		p := &Player{Window: w, Context: ctx, Me: w.Rank(), Ranks: ranks, meeting: meeting}
		act(p)
		if err := w.Err(); err != nil {
			p.Fail("the window failed: %w", err)
		}
		return p.err
	}
}

// Player is a rank in a case, and its window. It remembers the first mistake.
type Player struct {
	rma.Window
	Context context.Context // the body's
	Me      rma.Rank
	Ranks   int      // number of all ranks
	meeting rma.Disp // at rank 0: the number of ranks that have come to all meetings
	met     int      // number of meetings of this rank
	err     error
}

// Fail remembers a mistake, if it is the first one.
func (p *Player) Fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf("rank %d: %w", p.Me, fmt.Errorf(format, args...))
	}
}

// Check remembers err, if it is not nil.
func (p *Player) Check(err error) {
	if err != nil {
		p.Fail("%w", err)
	}
}

// Equal checks that a value is want.
func (p *Player) Equal(got, want uint64, what string, args ...any) {
	if got != want {
		p.Fail("%s is %#x, want %#x", fmt.Sprintf(what, args...), got, want)
	}
}

// Is checks that err matches want.
func (p *Player) Is(err, want error, what string, args ...any) {
	if !errors.Is(err, want) {
		p.Fail("%s: the error is %v, want one that matches %q", fmt.Sprintf(what, args...), err, want)
	}
}

// After is the rank n ranks further on, modulo the number of ranks.
func (p *Player) After(n int) rma.Rank {
	return rma.Rank(((int(p.Me)+n)%p.Ranks + p.Ranks) % p.Ranks)
}

// All yields all ranks, beginning with this one.
func (p *Player) All(yield func(q rma.Rank) bool) {
	for n := range p.Ranks {
		if !yield(p.After(n)) {
			return
		}
	}
}

// Share is each rank's part of about total steps, at least 2.
func (p *Player) Share(total int) int { return max(2, total/p.Ranks) }

// Store is a Put with a Flush, so that every rank sees it.
func (p *Player) Store(target rma.Rank, disp rma.Disp, value uint64) {
	p.Put(target, disp, value)
	p.Flush(target)
}

// await waits and checks that the value it gets satisfies the condition.
func (p *Player) await(target rma.Rank, disp rma.Disp, until rma.Until) uint64 {
	value, err := p.Await(p.Context, target, disp, until)
	switch {
	case err != nil:
		p.Fail("Await(rank %d, %v, %v): %w", target, disp, until, err)
	case !until.Holds(value):
		p.Fail("Await(rank %d, %v, %v) returned %#x", target, disp, until, value)
	}
	return value
}

// Meet waits until all ranks have called Meet as often. It flushes nothing.
func (p *Player) Meet() {
	p.met++
	p.FetchOp(0, p.meeting, rma.Sum, 1)
	p.await(0, p.meeting, rma.AtLeast(uint64(p.met*p.Ranks)))
}

// take marks the word as found and checks that no rank has found it before.
func (p *Player) take(target rma.Rank, disp rma.Disp, what string, args ...any) {
	if by := p.CAS(target, disp, 0, uint64(p.Me)+1); by != 0 {
		p.Fail("%s came twice, first to rank %d", fmt.Sprintf(what, args...), int(by)-1)
	}
}

// Distinct is a value that only rank p uses.
func Distinct(p rma.Rank, i int) uint64 { return 1<<60 | uint64(p)<<32 | uint64(i)<<8 | 0xa5 }

// RefusesEverything tries every operation that takes an address. Each must panic with an *rma.AddressError.
func (p *Player) RefusesEverything(q rma.Rank, disp rma.Disp) {
	word := make([]byte, 8)
	p.refuses("Put", q, disp, func() { p.Put(q, disp, 1) })
	p.refuses("Get", q, disp, func() { p.Get(q, disp) })
	p.refuses("Accumulate", q, disp, func() { p.Accumulate(q, disp, rma.Sum, 1) })
	p.refuses("FetchOp", q, disp, func() { p.FetchOp(q, disp, rma.Sum, 1) })
	p.refuses("CAS", q, disp, func() { p.CAS(q, disp, 0, 1) })
	p.refuses("Await", q, disp, func() { _, _ = p.Await(p.Context, q, disp, rma.AtLeast(0)) })
	p.refuses("PutBytes", q, disp, func() { p.PutBytes(q, disp, word) })
	p.refuses("GetBytes", q, disp, func() { p.GetBytes(q, disp, word) })
}

// refuses checks that an operation panics with an *AddressError that names the
// address.
func (p *Player) refuses(what string, q rma.Rank, disp rma.Disp, operation func()) {
	defer func() {
		value := recover()
		if value == nil {
			p.Fail("%s of rank %d, displacement %v did not panic", what, q, disp)
			return
		}
		err, ok := value.(error)
		refusal, typed := errors.AsType[*rma.AddressError](err)
		switch {
		case !ok || !typed:
			p.Fail("%s of rank %d, displacement %v panicked with %v, want an *rma.AddressError", what, q, disp, value)
		case refusal.Target != q || refusal.Disp != disp || refusal.Operation == "" || refusal.Why == "":
			p.Fail("%s of rank %d, displacement %v panicked with %+v", what, q, disp, *refusal)
		}
	}()
	operation()
}
