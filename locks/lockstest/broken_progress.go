package lockstest

import (
	"context"

	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/rma"
)

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
