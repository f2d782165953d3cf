package rmatest

import (
	"errors"
	"fmt"

	"github.com/orwl/go-orwl/net/rma"
)

// Addresses that do not exist. Every operation panics as the contract says and
// changes nothing, and the window stays usable.
var addressCases = []Case{
	{Name: "address/rank", Ranks: 2, Words: 64, Setup: scene(2, badRanks)},
	{Name: "address/displacement", Ranks: 2, Words: 64, Setup: scene(2, badDisplacements)},
	{Name: "address/unaligned-bulk", Ranks: 2, Words: 64, Setup: scene(2, unalignedBulk)},
}

func badRanks(p *player, at rma.Disp) {
	for _, q := range []rma.Rank{-1, rma.Rank(p.ranks), 1 << 40, -1 << 40} {
		p.refusesEverything(q, at)
		p.refuses("Flush", q, 0, func() { p.Flush(q) })
	}
	p.stillGood(at)
}

func badDisplacements(p *player, at rma.Disp) {
	for q := range p.all {
		for _, disp := range []rma.Disp{-1, -1 << 40, 1 << 40, rma.Dynamic(0, 0), rma.Dynamic(7, 3) + 5, rma.Dynamic(rma.MaxSlots-1, 1)} {
			p.refusesEverything(q, disp)
		}
	}
	p.stillGood(at)
}

func unalignedBulk(p *player, at rma.Disp) {
	for q := range p.all {
		for _, bytes := range []int{1, 7, 9, 15} {
			buffer := make([]byte, bytes)
			p.refuses(fmt.Sprintf("PutBytes of %d bytes", bytes), q, at, func() { p.PutBytes(q, at, buffer) })
			p.refuses(fmt.Sprintf("GetBytes of %d bytes", bytes), q, at, func() { p.GetBytes(q, at, buffer) })
		}
	}
	p.stillGood(at)
}

// refusesEverything tries every operation that takes an address.
func (p *player) refusesEverything(q rma.Rank, disp rma.Disp) {
	word := make([]byte, 8)
	p.refuses("Put", q, disp, func() { p.Put(q, disp, 1) })
	p.refuses("Get", q, disp, func() { p.Get(q, disp) })
	p.refuses("Accumulate", q, disp, func() { p.Accumulate(q, disp, rma.Sum, 1) })
	p.refuses("FetchOp", q, disp, func() { p.FetchOp(q, disp, rma.Sum, 1) })
	p.refuses("CAS", q, disp, func() { p.CAS(q, disp, 0, 1) })
	p.refuses("Await", q, disp, func() { _, _ = p.Await(p.ctx, q, disp, rma.AtLeast(0)) })
	p.refuses("PutBytes", q, disp, func() { p.PutBytes(q, disp, word) })
	p.refuses("GetBytes", q, disp, func() { p.GetBytes(q, disp, word) })
}

// refuses checks that an operation panics with an *AddressError that names the
// address.
func (p *player) refuses(what string, q rma.Rank, disp rma.Disp, operation func()) {
	defer func() {
		value := recover()
		if value == nil {
			p.fail("%s of rank %d, displacement %v did not panic", what, q, disp)
			return
		}
		err, ok := value.(error)
		refusal, typed := as[*rma.AddressError](err)
		switch {
		case !ok || !typed:
			p.fail("%s of rank %d, displacement %v panicked with %v, want an *rma.AddressError", what, q, disp, value)
		case refusal.Target != q || refusal.Disp != disp || refusal.Operation == "" || refusal.Why == "":
			p.fail("%s of rank %d, displacement %v panicked with %+v", what, q, disp, *refusal)
		}
	}()
	operation()
}

// stillGood checks that memory is unchanged and that operations work.
func (p *player) stillGood(at rma.Disp) {
	p.check(p.Err())
	p.meet()
	p.equal(p.Get(p.me, at), 0, "a word after refused operations")
	p.put(p.me, at+1, distinct(p.me, 1))
	p.equal(p.Get(p.me, at+1), distinct(p.me, 1), "a word put after refused operations")
}

// The function as is errors.As with two results.
func as[T error](err error) (T, bool) {
	var target T
	ok := errors.As(err, &target)
	return target, ok
}
