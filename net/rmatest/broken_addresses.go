package rmatest

import (
	"context"

	"github.com/orwl/go-orwl/net/rma"
)

// Defects of operations on addresses that do not exist.
var brokenAddresses = []Specimen{
	{
		Name:   "unchecked",
		Defect: "an operation on an address that does not exist does nothing",
		Break:  refusing(func(any) {}),
		RejectedBy: []string{
			"bulk/end-of-memory", "region/stale", "region/bounds", "address/rank", "address/displacement",
			"address/unaligned-bulk",
		},
	},
	{
		Name:       "untyped-panic",
		Defect:     "an operation on an address that does not exist panics with a string",
		Break:      refusing(func(refusal any) { panic("out of range") }),
		RejectedBy: []string{"address/rank", "address/displacement", "address/unaligned-bulk", "region/bounds"},
	},
	{
		Name:   "wrong-panic",
		Defect: "the panic names another displacement",
		Break: refusing(func(refusal any) {
			e := *refusal.(*rma.AddressError)
			e.Disp++
			panic(&e)
		}),
		RejectedBy: []string{"address/rank", "address/displacement", "address/unaligned-bulk", "region/bounds"},
	},
	{
		Name:   "rank-modulo",
		Defect: "a rank out of range is taken modulo the number of ranks",
		Break: func(f rma.Fabric) rma.Fabric {
			ranks := rma.Rank(f.Topology().Ranks())
			return wrapped(f, func(w rma.Window) rma.Window { return &rankModulo{w, ranks} })
		},
		RejectedBy: []string{"address/rank"},
	},
}

// refusing is the Break of a fabric that calls instead where it should panic.
func refusing(instead func(refusal any)) func(f rma.Fabric) rma.Fabric {
	return window(func(w rma.Window) rma.Window { return &refusesBadly{w, instead} })
}

type refusesBadly struct {
	rma.Window
	instead func(refusal any)
}

// refused replaces the panic of an operation. Every operation defers it.
func (w *refusesBadly) refused() {
	switch value := recover().(type) {
	case nil:
	case *rma.AddressError:
		w.instead(value)
	default:
		panic(value)
	}
}

func (w *refusesBadly) Put(target rma.Rank, disp rma.Disp, value uint64) {
	defer w.refused()
	w.Window.Put(target, disp, value)
}

func (w *refusesBadly) Get(target rma.Rank, disp rma.Disp) uint64 {
	defer w.refused()
	return w.Window.Get(target, disp)
}

func (w *refusesBadly) Accumulate(target rma.Rank, disp rma.Disp, op rma.Op, operand uint64) {
	defer w.refused()
	w.Window.Accumulate(target, disp, op, operand)
}

func (w *refusesBadly) FetchOp(target rma.Rank, disp rma.Disp, op rma.Op, operand uint64) uint64 {
	defer w.refused()
	return w.Window.FetchOp(target, disp, op, operand)
}

func (w *refusesBadly) CAS(target rma.Rank, disp rma.Disp, old, new uint64) uint64 {
	defer w.refused()
	return w.Window.CAS(target, disp, old, new)
}

func (w *refusesBadly) Await(ctx context.Context, target rma.Rank, disp rma.Disp, until rma.Until) (uint64, error) {
	defer w.refused()
	return w.Window.Await(ctx, target, disp, until)
}

func (w *refusesBadly) PutBytes(target rma.Rank, disp rma.Disp, src []byte) {
	defer w.refused()
	w.Window.PutBytes(target, disp, src)
}

func (w *refusesBadly) GetBytes(target rma.Rank, disp rma.Disp, dst []byte) {
	defer w.refused()
	w.Window.GetBytes(target, disp, dst)
}

func (w *refusesBadly) Flush(target rma.Rank) {
	defer w.refused()
	w.Window.Flush(target)
}

type rankModulo struct {
	rma.Window
	ranks rma.Rank
}

func (w *rankModulo) at(target rma.Rank) rma.Rank { return (target%w.ranks + w.ranks) % w.ranks }

func (w *rankModulo) Put(target rma.Rank, disp rma.Disp, value uint64) {
	w.Window.Put(w.at(target), disp, value)
}

func (w *rankModulo) Flush(target rma.Rank) { w.Window.Flush(w.at(target)) }
