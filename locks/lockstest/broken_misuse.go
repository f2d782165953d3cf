package lockstest

import (
	"context"
	"errors"

	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/rma"
)

// Defects in Alone, Disown and Adopt.
var brokenCohorts = []Specimen{
	{
		Name: "always-alone", Of: "MCS", Defect: "Alone is always true",
		Break:      withSide(func(m queued, _ rma.Window) locks.Mutex { return &alone{m, true} }),
		RejectedBy: []string{"cohort/known"},
	},
	{
		Name: "never-alone", Of: "MCS", Defect: "Alone is always false",
		Break:      withSide(func(m queued, _ rma.Window) locks.Mutex { return &alone{m, false} }),
		RejectedBy: []string{"cohort/no-waiter", "cohort/contended"},
	},
	{
		Name: "disown-releases", Of: "TKT", Defect: "Disown releases the lock",
		Break:      withSide(func(m handedOn, _ rma.Window) locks.Mutex { return &disownReleases{m} }),
		RejectedBy: []string{"oblivious/hand-on", "oblivious/waiter"},
	},
	{
		Name: "adopts-anything", Of: "TKT", Defect: "Disown and Adopt accept misuse",
		Break:      withSide(func(m handedOn, _ rma.Window) locks.Mutex { return &adoptsAnything{m} }),
		RejectedBy: []string{"oblivious/misuse"},
	},
}

type alone struct {
	queued
	answer bool
}

func (m *alone) Alone() bool { return m.answer }

type disownReleases struct{ handedOn }

func (m *disownReleases) Disown() { m.Release() }

type adoptsAnything struct{ handedOn }

func (m *adoptsAnything) Disown() { forgiven(m.handedOn.Disown) }
func (m *adoptsAnything) Adopt()  { forgiven(m.handedOn.Adopt) }

// forgiven calls do and ignores its panic if it is a *locks.MisuseError.
func forgiven(do func()) {
	defer func() {
		if v := recover(); v != nil {
			if _, ok := v.(*locks.MisuseError); !ok {
				panic(v)
			}
		}
	}()
	do()
}

// Defects in the checks of misuse.
var brokenMisuse = []Specimen{
	{
		Name: "forgiving", Of: "RMA-RW", Defect: "misuse is silently accepted",
		Break:      withSide(func(m shareable, _ rma.Window) locks.Mutex { return &forgiving{m} }),
		RejectedBy: []string{"misuse/release", "misuse/acquire", "misuse/mode"},
	},
	{
		Name: "nameless", Of: "MCS", Defect: "the panic after misuse does not name the lock and the rank",
		Break:      withSide(func(m queued, _ rma.Window) locks.Mutex { return &nameless{m} }),
		RejectedBy: []string{"misuse/release"},
	},
}

type forgiving struct{ shareable }

func (m *forgiving) Release()     { forgiven(m.shareable.Release) }
func (m *forgiving) ReleaseRead() { forgiven(m.shareable.ReleaseRead) }

func (m *forgiving) Acquire(ctx context.Context) (err error) {
	forgiven(func() { err = m.shareable.Acquire(ctx) })
	return err
}

func (m *forgiving) AcquireRead(ctx context.Context) (err error) {
	forgiven(func() { err = m.shareable.AcquireRead(ctx) })
	return err
}

type nameless struct{ queued }

func (m *nameless) Release() {
	misused := true
	forgiven(func() { m.queued.Release(); misused = false })
	if misused {
		panic(&locks.MisuseError{What: "something"})
	}
}

// Defects in the counts.
var brokenCounts = []Specimen{
	{
		Name: "counts-twice", Of: "MCS", Defect: "each acquisition counts twice",
		Break: withSide(func(m queued, _ rma.Window) locks.Mutex {
			return &miscounts{m, func(c *locks.Counts) { c.Acquired *= 2 }}
		}),
		RejectedBy: []string{"counts/alone", "counts/waited", "counts/contended"},
	},
	{
		Name: "counts-no-waiting", Of: "MCS", Defect: "Waited is always zero",
		Break: withSide(func(m queued, _ rma.Window) locks.Mutex {
			return &miscounts{m, func(c *locks.Counts) { c.Waited = 0 }}
		}),
		RejectedBy: []string{"counts/waited"},
	},
	{
		Name: "counts-no-passing", Of: "HMCS", Defect: "Passed is always zero",
		Break: withSide(func(m queued, _ rma.Window) locks.Mutex {
			return &miscounts{m, func(c *locks.Counts) { c.Passed = 0 }}
		}),
		RejectedBy: []string{"counts/passed", "counts/contended"},
	},
}

type miscounts struct {
	queued
	change func(*locks.Counts)
}

func (m *miscounts) Counts() locks.Counts {
	c := m.queued.Counts()
	m.change(&c)
	return c
}

// Defects after the window has failed.
var brokenLives = []Specimen{
	{
		Name: "survives", Of: "MCS", Defect: "Acquire on a failed window reports that the rank has the lock",
		Break:      withSide(func(m queued, _ rma.Window) locks.Mutex { return &survives{m} }),
		RejectedBy: []string{"life/closed", "life/closed-under-holder"},
	},
	{
		Name: "plain-error", Of: "MCS", Defect: "Acquire on a failed window does not report that the lock is broken",
		Break:      withSide(func(m queued, _ rma.Window) locks.Mutex { return &plainError{m} }),
		RejectedBy: []string{"life/closed", "life/closed-under-holder"},
	},
}

type survives struct{ queued }

func (m *survives) Acquire(ctx context.Context) error {
	if err := m.queued.Acquire(ctx); !errors.Is(err, locks.ErrBroken) {
		return err
	}
	return nil
}

type plainError struct{ queued }

func (m *plainError) Acquire(ctx context.Context) error {
	err := m.queued.Acquire(ctx)
	var broken *locks.BrokenError
	if errors.As(err, &broken) {
		return broken.Cause
	}
	return err
}

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
