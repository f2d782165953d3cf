package lockstest

import (
	"context"
	"math/bits"
	"slices"

	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/rma"
)

// Specimen is a way to break a lock: one defect that an implementation could have. It
// shows that the suite finds the defect.
type Specimen struct {
	Name string
	// Of is the row of the table that Break changes. It does not have the defect.
	Of string
	// Defect says what is wrong with the broken lock.
	Defect string
	// Break puts the defect into a lock.
	Break func(s Subject) Subject
	// RejectedBy names the cases that must fail, each on its own, in the simulator
	// within a few seeds.
	RejectedBy []string
}

// Broken lists every specimen. Each case rejects at least one.
func Broken() []Specimen {
	return slices.Concat(brokenExclusion, brokenOrder, brokenProgress, brokenTries, brokenAborts,
		brokenCohorts, brokenMisuse, brokenCounts, brokenLives)
}

// withSide is the Break of a defect in each rank's side.
func withSide[M locks.Mutex](wrap func(m M, w rma.Window) locks.Mutex) func(Subject) Subject {
	return func(s Subject) Subject {
		whole := s.New
		s.New = func(f rma.Fabric, o locks.Options) (At, error) {
			at, err := whole(f, o)
			return func(w rma.Window) locks.Mutex { return wrap(at(w).(M), w) }, err
		}
		return s
	}
}

// withWindow is the Break of a defect in the lock's window operations.
func withWindow(wrap func(w rma.Window) rma.Window) func(Subject) Subject {
	return func(s Subject) Subject {
		whole := s.New
		s.New = func(f rma.Fabric, o locks.Options) (At, error) {
			at, err := whole(f, o)
			return func(w rma.Window) locks.Mutex { return at(wrap(w)) }, err
		}
		return s
	}
}

// withOptions is the Break of a lock that ignores its options.
func withOptions(with func(o *locks.Options)) func(Subject) Subject {
	return func(s Subject) Subject {
		whole := s.New
		s.New = func(f rma.Fabric, o locks.Options) (At, error) {
			with(&o)
			return whole(f, o)
		}
		return s
	}
}

// The interfaces of the sides of the broken rows.
type (
	queued interface { // MCS, HMCS
		locks.Mutex
		locks.Tryer
		locks.Cohort
		locks.Counter
	}
	plain interface { // D-MCS
		locks.Mutex
		locks.Counter
	}
	handedOn interface { // TKT
		locks.Mutex
		locks.Oblivious
		locks.Counter
	}
	shareable interface { // RMA-RW
		locks.RWMutex
		locks.Tryer
		locks.ReadTryer
		locks.Counter
	}
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

// Defects that leave ranks waiting for ever.
var brokenProgress = []Specimen{
	{
		Name: "unflushed-hand-over", Of: "D-MCS", Defect: "Flush does nothing: a successor or a predecessor may never learn of the lock's Puts",
		Break:      withWindow(func(w rma.Window) rma.Window { return &unflushedHandOver{w} }),
		RejectedBy: []string{"progress/hand-over", "progress/everybody", "order/fifo"},
	},
	{
		Name: "keeps", Of: "MCS", Defect: "every third Release does nothing",
		Break:      withSide(func(m queued, _ rma.Window) locks.Mutex { return &keeps{queued: m} }),
		RejectedBy: []string{"progress/hand-over", "progress/everybody"},
	},
}

type unflushedHandOver struct{ rma.Window }

func (w *unflushedHandOver) Flush(rma.Rank) {}

type keeps struct {
	queued
	releases int
}

func (m *keeps) Release() {
	if m.releases++; m.releases%3 != 0 {
		m.queued.Release()
	}
}

// Defects in TryAcquire.
var brokenTries = []Specimen{
	{
		Name: "try-fails", Of: "MCS", Defect: "TryAcquire always fails",
		Break:      withSide(func(m queued, _ rma.Window) locks.Mutex { return &tryFails{m} }),
		RejectedBy: []string{"try/free", "try/contended"},
	},
	{
		Name: "try-waits", Of: "MCS", Defect: "TryAcquire waits",
		Break:      withSide(func(m queued, _ rma.Window) locks.Mutex { return &tryWaits{m} }),
		RejectedBy: []string{"try/held"},
	},
	{
		Name: "try-succeeds", Of: "MCS", Defect: "TryAcquire always returns true",
		Break:      withSide(func(m queued, _ rma.Window) locks.Mutex { return &trySucceeds{queued: m} }),
		RejectedBy: []string{"try/held", "try/contended"},
	},
	{
		Name: "try-read-fails", Of: "RMA-RW", Defect: "TryAcquireRead fails beside a reader",
		Break:      withSide(func(m shareable, _ rma.Window) locks.Mutex { return &tryReadFails{m} }),
		RejectedBy: []string{"try/readers"},
	},
	{
		Name: "try-leaves-a-trace", Of: "MCS", Defect: "after a TryAcquire that fails, every later TryAcquire fails",
		Break:      withSide(func(m queued, _ rma.Window) locks.Mutex { return &tryLeavesTrace{queued: m} }),
		RejectedBy: []string{"try/contended"},
	},
}

type tryFails struct{ queued }

func (m *tryFails) TryAcquire() bool { return false }

type tryWaits struct{ queued }

func (m *tryWaits) TryAcquire() bool { return m.Acquire(context.Background()) == nil }

type trySucceeds struct {
	queued
	lied bool
}

func (m *trySucceeds) TryAcquire() bool {
	m.lied = !m.queued.TryAcquire()
	return true
}

func (m *trySucceeds) Release() {
	if !m.lied {
		m.queued.Release()
	}
	m.lied = false
}

type tryReadFails struct{ shareable }

func (m *tryReadFails) TryAcquireRead() bool { return m.TryAcquire() }

type tryLeavesTrace struct {
	queued
	failed bool
}

func (m *tryLeavesTrace) TryAcquire() bool {
	m.failed = m.failed || !m.queued.TryAcquire()
	return !m.failed
}
