package lockstest

import (
	"context"
	"math/bits"

	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/rma"
)

// Defects in exclusion and visibility.
var brokenExclusion = []Specimen{
	{
		Name: "no-lock", Of: "MCS", Defect: "Acquire returns at once",
		Break:      withSide(func(m queued, _ rma.Window) locks.Mutex { return &noLock{m} }),
		RejectedBy: []string{"exclusion/writers", "visibility/put", "progress/hand-over"},
	},
	{
		Name: "readers-unlocked", Of: "RMA-RW", Defect: "AcquireRead returns at once",
		Break:      withSide(func(m shareable, _ rma.Window) locks.Mutex { return &readersUnlocked{m} }),
		RejectedBy: []string{"exclusion/readers-writers", "visibility/to-readers"},
	},
	{
		Name: "readers-exclude", Of: "RMA-RW", Defect: "readers exclude each other",
		Break:      withSide(func(m shareable, _ rma.Window) locks.Mutex { return &readersExclude{m} }),
		RejectedBy: []string{"exclusion/readers-together", "try/readers"},
	},
	{
		Name: "release-unflushed", Of: "MCS", Defect: "Release does not complete the holder's operations",
		Break:      withWindow(func(w rma.Window) rma.Window { return &unflushed{w} }),
		RejectedBy: []string{"visibility/put", "visibility/accumulate", "visibility/bulk"},
	},
	{
		Name: "read-release-unflushed", Of: "RMA-RW", Defect: "neither release completes the holder's operations",
		Break:      withWindow(func(w rma.Window) rma.Window { return &unflushed{w} }),
		RejectedBy: []string{"visibility/to-readers", "visibility/from-readers"},
	},
	{
		Name: "ignores-bargers", Of: "RMA-RW", Defect: "the next writer does not wait for a writer inside that has not queued up",
		Break: func(s Subject) Subject {
			s = withWindow(func(w rma.Window) rma.Window { return &hasty{w} })(s)
			return withOptions(steppingBack)(s)
		},
		RejectedBy: []string{"exclusion/writers", "exclusion/readers-writers"},
	},
}

type noLock struct{ queued }

func (m *noLock) Acquire(context.Context) error { return nil }
func (m *noLock) Release()                      {}

type readersUnlocked struct{ shareable }

func (m *readersUnlocked) AcquireRead(context.Context) error { return nil }
func (m *readersUnlocked) ReleaseRead()                      {}

type readersExclude struct{ shareable }

func (m *readersExclude) AcquireRead(ctx context.Context) error { return m.Acquire(ctx) }
func (m *readersExclude) TryAcquireRead() bool                  { return m.TryAcquire() }
func (m *readersExclude) ReleaseRead()                          { m.Release() }

type unflushed struct{ rma.Window }

func (w *unflushed) FlushAll() {}

// hasty does not wait until another rank clears a single bit.
type hasty struct{ rma.Window }

func (w *hasty) Await(ctx context.Context, target rma.Rank, disp rma.Disp, until rma.Until) (uint64, error) {
	if bits.OnesCount64(until.Mask) == 1 {
		return w.Get(target, disp), w.Err()
	}
	return w.Window.Await(ctx, target, disp, until)
}
