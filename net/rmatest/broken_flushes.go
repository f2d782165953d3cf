package rmatest

import "github.com/orwl/go-orwl/net/rma"

// Defects of Flush. They show only on a fabric that delays operations.
var brokenFlushes = []Specimen{
	{
		Name:   "flush-does-nothing",
		Defect: "Flush returns at once",
		Break:  window(func(w rma.Window) rma.Window { return &flushDoesNothing{w} }),
		RejectedBy: []string{
			"word/put-flush-get", "word/flush-orders-puts", "word/third-rank-sees-put",
			"order/flag-by-put", "order/flag-by-fetch", "order/flag-by-cas", "order/flag-by-accumulate",
			"order/chain", "pscw/ring", "pscw/neighbours", "pscw/all-to-one", "pscw/one-to-all",
			"pscw/one-by-one", "pscw/full-mailbox", "pscw/self", "lock/exclusive", "lock/several",
			"lock/all-or-exclusive",
		},
	},
	{
		Name:   "flush-all-does-nothing",
		Defect: "FlushAll returns at once",
		Break:  window(func(w rma.Window) rma.Window { return &flushAllDoesNothing{w} }),
		RejectedBy: []string{
			"word/put-flush-all-get", "accumulate/late-sum", "fence/all-see-all", "traditional/sizes",
			"traditional/again",
		},
	},
	{
		Name:       "flush-all-flushes-own",
		Defect:     "FlushAll flushes the own segment only",
		Break:      window(func(w rma.Window) rma.Window { return &flushAllFlushesOwn{w} }),
		RejectedBy: []string{"word/put-flush-all-get", "fence/all-see-all"},
	},
	{
		Name:       "flush-forgets-bulk",
		Defect:     "Flush does not wait for PutBytes",
		Break:      window(func(w rma.Window) rma.Window { return &flushForgetsBulk{Window: w} }),
		RejectedBy: []string{"order/bulk-then-flag", "bulk/words-inside", "region/bulk", "traditional/again"},
	},
	{
		Name:       "flush-forgets-accumulate",
		Defect:     "Flush does not wait for Accumulate",
		Break:      window(func(w rma.Window) rma.Window { return &flushForgetsAccumulate{Window: w} }),
		RejectedBy: []string{"accumulate/results", "accumulate/sum-of-all", "order/flag-by-accumulate"},
	},
}

type flushDoesNothing struct{ rma.Window }

func (w *flushDoesNothing) Flush(rma.Rank) {}

type flushAllDoesNothing struct{ rma.Window }

func (w *flushAllDoesNothing) FlushAll() {}

type flushAllFlushesOwn struct{ rma.Window }

func (w *flushAllFlushesOwn) FlushAll() { w.Flush(w.Rank()) }

// flushForgetsBulk delays each PutBytes until the next one.
type flushForgetsBulk struct {
	rma.Window
	late func()
}

func (w *flushForgetsBulk) PutBytes(target rma.Rank, disp rma.Disp, src []byte) {
	if w.late != nil {
		w.late()
	}
	kept := append([]byte(nil), src...)
	w.late = func() { w.Window.PutBytes(target, disp, kept) }
}

// flushForgetsAccumulate delays each Accumulate until the next one.
type flushForgetsAccumulate struct {
	rma.Window
	late func()
}

func (w *flushForgetsAccumulate) Accumulate(target rma.Rank, disp rma.Disp, op rma.Op, operand uint64) {
	if w.late != nil {
		w.late()
	}
	w.late = func() { w.Window.Accumulate(target, disp, op, operand) }
}
