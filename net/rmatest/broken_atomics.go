package rmatest

import "github.com/orwl/go-orwl/net/rma"

// Defects of FetchOp, CAS and Accumulate.
var brokenAtomics = []Specimen{
	{
		Name:   "fetch-not-atomic",
		Defect: "FetchOp is a Get and a Put",
		Break:  window(func(w rma.Window) rma.Window { return &fetchNotAtomic{w} }),
		RejectedBy: []string{
			"atomic/fetch-sum-once", "atomic/fetch-replace-once", "atomic/mixed", "lock/all-together",
			"lock/all-or-exclusive",
		},
	},
	{
		Name:   "fetch-returns-new",
		Defect: "FetchOp returns the new value",
		Break:  window(func(w rma.Window) rma.Window { return &fetchReturnsNew{w} }),
		RejectedBy: []string{
			"atomic/fetch-sum-once", "atomic/fetch-replace-once", "atomic/fetch-results",
			"handover/turns-at-one-word", "order/flag-by-fetch",
		},
	},
	{
		Name:       "fetch-no-op-stores",
		Defect:     "FetchOp with NoOp stores its operand",
		Break:      window(func(w rma.Window) rma.Window { return &fetchNoOpStores{w} }),
		RejectedBy: []string{"atomic/fetch-results"},
	},
	{
		Name:       "fetch-32-bits",
		Defect:     "FetchOp adds only the lower halves",
		Break:      window(func(w rma.Window) rma.Window { return &fetch32Bits{w} }),
		RejectedBy: []string{"atomic/fetch-results", "atomic/mixed"},
	},
	{
		Name:   "cas-not-atomic",
		Defect: "CAS is a Get and a Put",
		Break:  window(func(w rma.Window) rma.Window { return &casNotAtomic{w} }),
		RejectedBy: []string{
			"atomic/cas-elects-one", "atomic/cas-loop-once", "atomic/mixed", "lock/exclusive",
			"lock/shared-or-exclusive",
		},
	},
	{
		Name:       "cas-always-swaps",
		Defect:     "CAS always stores",
		Break:      window(func(w rma.Window) rma.Window { return &casAlwaysSwaps{w} }),
		RejectedBy: []string{"atomic/cas-results", "atomic/cas-elects-one", "pscw/full-mailbox"},
	},
	{
		Name:       "cas-returns-new",
		Defect:     "CAS returns the new value",
		Break:      window(func(w rma.Window) rma.Window { return &casReturnsNew{w} }),
		RejectedBy: []string{"atomic/cas-results", "atomic/cas-elects-one", "order/flag-by-cas", "pscw/self"},
	},
	{
		Name:   "accumulate-not-atomic",
		Defect: "Accumulate is a Get and a Put",
		Break:  window(func(w rma.Window) rma.Window { return &accumulateNotAtomic{w} }),
		RejectedBy: []string{
			"atomic/mixed", "accumulate/sum-of-all", "accumulate/late-sum", "handover/one-waits-for-all",
		},
	},
	{
		Name:   "accumulate-replaces",
		Defect: "Accumulate stores its operand for every operation",
		Break:  window(func(w rma.Window) rma.Window { return &accumulateReplaces{w} }),
		RejectedBy: []string{
			"accumulate/results", "accumulate/sum-of-all", "order/flag-by-accumulate", "pscw/ring",
			"pscw/all-to-one", "lock/shared-or-exclusive",
		},
	},
}

// put is a Put with a Flush, so that every rank sees it.
func put(w rma.Window, target rma.Rank, disp rma.Disp, value uint64) {
	w.Put(target, disp, value)
	w.Flush(target)
}

// applied is the result of op on a word.
func applied(op rma.Op, old, operand uint64) uint64 {
	switch op {
	case rma.Sum:
		return old + operand
	case rma.Replace:
		return operand
	}
	return old
}

type fetchNotAtomic struct{ rma.Window }

func (w *fetchNotAtomic) FetchOp(target rma.Rank, disp rma.Disp, op rma.Op, operand uint64) uint64 {
	old := w.Get(target, disp)
	put(w, target, disp, applied(op, old, operand))
	return old
}

type fetchReturnsNew struct{ rma.Window }

func (w *fetchReturnsNew) FetchOp(target rma.Rank, disp rma.Disp, op rma.Op, operand uint64) uint64 {
	return applied(op, w.Window.FetchOp(target, disp, op, operand), operand)
}

type fetchNoOpStores struct{ rma.Window }

func (w *fetchNoOpStores) FetchOp(target rma.Rank, disp rma.Disp, op rma.Op, operand uint64) uint64 {
	if op == rma.NoOp {
		op = rma.Replace
	}
	return w.Window.FetchOp(target, disp, op, operand)
}

type fetch32Bits struct{ rma.Window }

func (w *fetch32Bits) FetchOp(target rma.Rank, disp rma.Disp, op rma.Op, operand uint64) uint64 {
	if op != rma.Sum {
		return w.Window.FetchOp(target, disp, op, operand)
	}
	for old := w.Get(target, disp); ; {
		was := w.CAS(target, disp, old, old&^0xffffffff|uint64(uint32(old)+uint32(operand)))
		if was == old || w.Err() != nil {
			return was
		}
		old = was
	}
}

type casNotAtomic struct{ rma.Window }

func (w *casNotAtomic) CAS(target rma.Rank, disp rma.Disp, old, new uint64) uint64 {
	was := w.Get(target, disp)
	if was == old {
		put(w, target, disp, new)
	}
	return was
}

type casAlwaysSwaps struct{ rma.Window }

func (w *casAlwaysSwaps) CAS(target rma.Rank, disp rma.Disp, _, new uint64) uint64 {
	return w.FetchOp(target, disp, rma.Replace, new)
}

type casReturnsNew struct{ rma.Window }

func (w *casReturnsNew) CAS(target rma.Rank, disp rma.Disp, old, new uint64) uint64 {
	was := w.Window.CAS(target, disp, old, new)
	if was == old {
		return new
	}
	return was
}

type accumulateNotAtomic struct{ rma.Window }

func (w *accumulateNotAtomic) Accumulate(target rma.Rank, disp rma.Disp, op rma.Op, operand uint64) {
	put(w, target, disp, applied(op, w.Get(target, disp), operand))
}

type accumulateReplaces struct{ rma.Window }

func (w *accumulateReplaces) Accumulate(target rma.Rank, disp rma.Disp, _ rma.Op, operand uint64) {
	w.Window.Accumulate(target, disp, rma.Replace, operand)
}
