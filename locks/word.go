package locks

import (
	"context"
	"sync/atomic"

	"github.com/orwl/go-orwl/net/rma"
)

// memory is one rank's access to the words of a lock.
type memory struct {
	w      rma.Window
	shared rma.Shared      // nil: every word is reached by operations
	beside rma.Considerate // nil: the window does not know when to stay away
	ops    rma.Atomics     // the window's operations
	// immediate says that an operation is complete when it returns: a flush does nothing.
	immediate bool
	failed    *atomic.Bool // the window's; always true if only the window knows
	home      Rank         // of the words that the lock has once
	base      base
}

// base is where a lock's words begin, at its home and at every rank.
type base struct{ home, rank rma.Disp }

// newMemory is the access of w's rank.
func (l *Lock) newMemory(w rma.Window) memory {
	m := memory{w: w, home: l.o.Home, base: l.base}
	m.beside, _ = w.(rma.Considerate)
	_, m.immediate = w.(rma.Immediate)
	if shared, ok := w.(rma.Shared); !ok {
		m.failed = new(atomic.Bool)
		m.failed.Store(true)
	} else if m.failed = shared.Failed(); !l.o.Operations {
		m.shared = shared
	}
	m.ops = &operations{w, m.failed}
	return m
}

// broken reports whether the window has failed.
func (m *memory) broken() bool { return m.failed.Load() && m.w.Err() != nil }

// atHome is the i-th word at the lock's home.
func (m *memory) atHome(i int) word { return m.word(m.home, m.base.home+rma.Disp(i)) }

// at is the i-th word of rank p.
func (m *memory) at(p Rank, i int) word { return m.word(p, m.base.rank+rma.Disp(i)) }

func (m *memory) word(target Rank, disp rma.Disp) word {
	if m.shared != nil {
		if x, ok := m.shared.Direct(target, disp); ok {
			return word{Word: x, m: m, direct: true}
		}
	}
	return m.operated(target, disp)
}

// operated is a word that is reached by operations in any case.
func (m *memory) operated(target Rank, disp rma.Disp) word {
	return word{Word: rma.WordBy(m.ops, target, disp), m: m}
}

// word is one word of a lock. Where ranks share memory, its methods are atomic
// instructions; elsewhere they are operations of the window, complete on return.
//
// An instruction wakes no rank. After one that another rank may await, an algorithm
// calls wake; or it uses publish or accumulate, which wake everywhere.
type word struct {
	rma.Word
	m      *memory
	direct bool // reached by atomic instructions
}

// publish sets a word that another rank may await.
func (x *word) publish(v uint64) {
	x.m.w.Put(x.Target, x.Disp, v)
	x.m.w.Flush(x.Target)
}

// accumulate adds to a word that another rank may await.
func (x *word) accumulate(delta uint64) {
	x.m.w.Accumulate(x.Target, x.Disp, rma.Sum, delta)
	x.m.w.Flush(x.Target)
}

// wake wakes the ranks that await the word and can go on, after an instruction. An
// operation has done so already.
func (x *word) wake() {
	if x.direct {
		x.m.shared.Notify(x.Target, x.Disp)
	}
}

// mustTell reports whether a rank that has changed the word by an instruction has to look
// for the rank that it concerns: to wake it, or to report a hand-over.
func (x *word) mustTell() bool { return x.direct || x.m.beside != nil }

// await is Window.Await on the word.
func (x *word) await(ctx context.Context, until rma.Until) (uint64, error) {
	return x.m.w.Await(ctx, x.Target, x.Disp, until)
}

// forever is the context of a wait that nothing but a failure of the window ends.
func forever() context.Context { return context.Background() }

// operations accesses words by a window's operations. On a window that has failed they
// do nothing: a load, a swap and an addition return zero, and a CAS fails.
type operations struct {
	w      rma.Window
	failed *atomic.Bool // memory's
}

func (o *operations) Load(p Rank, d rma.Disp) uint64 { return o.w.Get(p, d) }

func (o *operations) Store(p Rank, d rma.Disp, v uint64) {
	o.w.Put(p, d, v)
	o.w.Flush(p)
}

func (o *operations) Swap(p Rank, d rma.Disp, v uint64) uint64 {
	return o.w.FetchOp(p, d, rma.Replace, v)
}

func (o *operations) Add(p Rank, d rma.Disp, delta uint64) uint64 {
	return o.w.FetchOp(p, d, rma.Sum, delta)
}

func (o *operations) CompareAndSwap(p Rank, d rma.Disp, old, new uint64) bool {
	return o.w.CAS(p, d, old, new) == old && (!o.failed.Load() || o.w.Err() == nil)
}
