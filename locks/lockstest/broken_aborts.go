package lockstest

import (
	"context"
	"errors"

	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/rma"
)

// Defects in giving up.
var brokenAborts = []Specimen{
	{
		Name: "deaf", Of: "MCS", Defect: "Acquire ignores its context",
		Break:      withSide(func(m queued, _ rma.Window) locks.Mutex { return &deaf{m} }),
		RejectedBy: []string{"abort/done", "abort/waiting", "abort/again", "abort/middle", "abort/all"},
	},
	{
		Name: "deaf-writer", Of: "RMA-RW", Defect: "Acquire ignores its context",
		Break:      withSide(func(m shareable, _ rma.Window) locks.Mutex { return &deafWriter{m} }),
		RejectedBy: []string{"abort/done", "abort/waiting", "abort/behind-readers"},
	},
	{
		Name: "gives-up-late", Of: "D-MCS", Defect: "Acquire gives up after it has queued up, but the row says that it never does",
		Break:      withSide(func(m plain, _ rma.Window) locks.Mutex { return &givesUpLate{m} }),
		RejectedBy: []string{"abort/stays"},
	},
	{
		Name: "loses-late-grant", Of: "MCS", Defect: "Acquire fails because its context has ended, but the rank has the lock",
		Break:      withSide(func(m queued, _ rma.Window) locks.Mutex { return &losesLateGrant{m} }),
		RejectedBy: []string{"abort/at-grant", "abort/storm"},
	},
	{
		Name: "abandons-silently", Of: "MCS", Defect: "a rank that gives up does not mark its node: the lock is handed to a node that no rank waits in",
		Break:      withWindow(func(w rma.Window) rma.Window { return &abandonsSilently{w} }),
		RejectedBy: []string{"abort/waiting", "abort/middle", "abort/all", "abort/storm"},
	},
	{
		Name: "forgets-its-place", Of: "MCS", Defect: "a rank that comes back does not find its old node and queues up twice",
		Break:      withWindow(func(w rma.Window) rma.Window { return &forgetsPlace{w} }),
		RejectedBy: []string{"abort/again"},
	},
	{
		Name: "wrong-error", Of: "MCS", Defect: "a rank that gives up does not return the context's error",
		Break:      withSide(func(m queued, _ rma.Window) locks.Mutex { return &wrongError{m} }),
		RejectedBy: []string{"abort/done", "abort/waiting"},
	},
}

type deaf struct{ queued }

func (m *deaf) Acquire(ctx context.Context) error {
	return m.queued.Acquire(context.WithoutCancel(ctx))
}

type deafWriter struct{ shareable }

func (m *deafWriter) Acquire(ctx context.Context) error {
	return m.shareable.Acquire(context.WithoutCancel(ctx))
}

type givesUpLate struct{ plain }

func (m *givesUpLate) Acquire(ctx context.Context) error {
	err := m.plain.Acquire(ctx)
	if err == nil && ctx.Err() != nil {
		m.Release()
		return ctx.Err()
	}
	return err
}

type losesLateGrant struct{ queued }

func (m *losesLateGrant) Acquire(ctx context.Context) error {
	return errors.Join(m.queued.Acquire(ctx), ctx.Err())
}

// mark is the status of an abandoned node of MCS.
const mark = 1 << 63

type abandonsSilently struct{ rma.Window }

func (w *abandonsSilently) CAS(target rma.Rank, disp rma.Disp, old, new uint64) uint64 {
	if new == mark {
		return old
	}
	return w.Window.CAS(target, disp, old, new)
}

type forgetsPlace struct{ rma.Window }

func (w *forgetsPlace) Get(target rma.Rank, disp rma.Disp) uint64 {
	v := w.Window.Get(target, disp)
	if v == mark {
		w.Put(target, disp, 0)
		w.Flush(target)
		return 0
	}
	return v
}

type wrongError struct{ queued }

func (m *wrongError) Acquire(ctx context.Context) error {
	if err := m.queued.Acquire(ctx); err != nil {
		return errors.New("no")
	}
	return nil
}
