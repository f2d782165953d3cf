package lockstest

import (
	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/rma"
)

// Defects in order, bounds and cost.
var brokenOrder = []Specimen{
	{
		Name: "barging", Of: "MCS", Defect: "a rank that comes takes a free lock before the ranks in the queue",
		Break: func(s Subject) Subject {
			s.New = func(f rma.Fabric, o locks.Options) (At, error) {
				spec, _ := locks.ByName("TTS")
				return Of(spec).New(f, o)
			}
			return s
		},
		RejectedBy: []string{"order/fifo", "bypass/queue"},
	},
	{
		Name: "local-for-ever", Of: "HMCS", Defect: "the lock stays in an element for far more than T_L turns",
		Break:      withOptions(func(o *locks.Options) { o.TL = nil }),
		RejectedBy: []string{"bypass/locality"},
	},
	{
		Name: "readers-for-ever", Of: "RMA-RW", Defect: "far more than T_R readers come while a writer waits",
		Break:      withOptions(func(o *locks.Options) { o.TR = 0 }),
		RejectedBy: []string{"bypass/readers"},
	},
	{
		Name: "writers-for-ever", Of: "RMA-RW", Defect: "far more than T_W writers come while a reader waits",
		Break:      withOptions(func(o *locks.Options) { o.TW = 1000 }),
		RejectedBy: []string{"bypass/writers"},
	},
	{
		Name: "unannounced", Of: "RMA-RW", Defect: "a waiting writer stops no rank that comes after it",
		Break: func(s Subject) Subject {
			s.New = func(f rma.Fabric, o locks.Options) (At, error) {
				spec, _ := locks.ByName("foMPI-RW")
				return Of(spec).New(f, locks.Options{Home: o.Home})
			}
			return s
		},
		RejectedBy: []string{"bypass/head"},
	},
	{
		Name: "nosy", Of: "MCS", Defect: "a Get that the table does not mention precedes every atomic operation",
		Break:      withWindow(func(w rma.Window) rma.Window { return &nosy{w} }),
		RejectedBy: []string{"cost/uncontended", "cost/contended"},
	},
	{
		Name: "nosy-readers", Of: "RMA-RW", Defect: "the same, for readers",
		Break:      withWindow(func(w rma.Window) rma.Window { return &nosy{w} }),
		RejectedBy: []string{"cost/reader"},
	},
}

type nosy struct{ rma.Window }

func (w *nosy) FetchOp(target rma.Rank, disp rma.Disp, op rma.Op, operand uint64) uint64 {
	w.Get(target, disp)
	return w.Window.FetchOp(target, disp, op, operand)
}
