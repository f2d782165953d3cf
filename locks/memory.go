package locks

import (
	"context"
	"sync/atomic"

	"github.com/orwl/go-orwl/net/rma"
)

// memory is one rank's access to the words of a lock. Where ranks share memory a
// word is reached by an atomic instruction, elsewhere by an operation of the
// window; the algorithms are the same, and what the simulator verifies is the
// weaker of the two.
type memory struct {
	w      rma.Window
	shared rma.Shared // nil: by operations only
	home   Rank
	// The lock's words: those at home only, and those that every rank has.
	homeBase, rankBase rma.Disp
	// direct says that all ranks' words are reached directly, so that nothing
	// ever needs a Flush.
	direct bool
}

// newMemory is the access of w's rank.
func newMemory(w rma.Window, home Rank, ranks int, at layout, operations bool) memory {
	m := memory{w: w, home: home, homeBase: at.home, rankBase: at.rank}
	if shared, ok := w.(rma.Shared); ok && !operations {
		m.shared, m.direct = shared, true
		for p := range Rank(ranks) {
			_, ok := shared.Direct(p, at.rank, 0)
			m.direct = m.direct && ok
		}
	}
	return m
}

// atHome is the i-th of the words at the lock's home.
func (m *memory) atHome(i int) word { return m.word(m.home, m.homeBase+rma.Disp(i)) }

// at is the i-th of the words of rank p.
func (m *memory) at(p Rank, i int) word { return m.word(p, m.rankBase+rma.Disp(i)) }

func (m *memory) word(target Rank, disp rma.Disp) word {
	x := word{w: m.w, target: target, disp: disp}
	if m.shared != nil {
		if words, ok := m.shared.Direct(target, disp, 1); ok && words != nil {
			x.at, x.shared = &words[0], m.shared
		}
	}
	return x
}

// word is one word of a lock. What changes it is complete on return.
//
// Whoever changes a word that somebody may await calls wake afterwards: an
// atomic instruction alone wakes nobody.
type word struct {
	at     *uint64 // nil: by operations
	w      rma.Window
	shared rma.Shared
	target Rank
	disp   rma.Disp
}

func (x *word) load() uint64 {
	if x.at != nil {
		return atomic.LoadUint64(x.at)
	}
	return x.w.Get(x.target, x.disp)
}

func (x *word) store(v uint64) {
	if x.at != nil {
		atomic.StoreUint64(x.at, v)
		return
	}
	x.farStore(v)
}

func (x *word) farStore(v uint64) {
	x.w.Put(x.target, x.disp, v)
	x.w.Flush(x.target)
}

func (x *word) swap(v uint64) uint64 {
	if x.at != nil {
		return atomic.SwapUint64(x.at, v)
	}
	return x.w.FetchOp(x.target, x.disp, rma.Replace, v)
}

// add returns what the word held before.
func (x *word) add(delta uint64) uint64 {
	if x.at != nil {
		return atomic.AddUint64(x.at, delta) - delta
	}
	return x.farAdd(delta)
}

func (x *word) farAdd(delta uint64) uint64 {
	return x.w.FetchOp(x.target, x.disp, rma.Sum, delta)
}

// cas reports whether the word held old, and now holds new.
func (x *word) cas(old, new uint64) bool {
	if x.at != nil {
		return atomic.CompareAndSwapUint64(x.at, old, new)
	}
	return x.farCAS(old, new)
}

func (x *word) farCAS(old, new uint64) bool {
	return x.w.CAS(x.target, x.disp, old, new) == old && x.w.Err() == nil
}

// accumulate is add without an answer.
func (x *word) accumulate(delta uint64) {
	if x.at != nil {
		atomic.AddUint64(x.at, delta)
		return
	}
	x.w.Accumulate(x.target, x.disp, rma.Sum, delta)
	x.w.Flush(x.target)
}

// wake wakes whoever awaits the word and may go on.
func (x *word) wake() {
	if x.at != nil {
		x.shared.Notify(x.target, x.disp)
	}
}

// publish is a store that is seen by whoever awaits the word.
func (x *word) publish(v uint64) {
	x.store(v)
	x.wake()
}

// await is Window.Await on the word.
func (x *word) await(ctx context.Context, until rma.Until) (uint64, error) {
	return x.w.Await(ctx, x.target, x.disp, until)
}
