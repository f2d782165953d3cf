package locks

import (
	"context"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/orwl/go-orwl/internal/invariant"
	"github.com/orwl/go-orwl/net/rma"
)

// memory is one rank's access to the words of a lock. Where ranks share memory a
// word is reached by an atomic instruction, elsewhere by an operation of the
// window; the algorithms are the same, and what the simulator verifies is the
// weaker of the two.
type memory struct {
	w      rma.Window
	shared rma.Shared   // nil: by operations only
	failed *atomic.Bool // whether the window has failed; true if only the window knows
	// together says that all ranks share memory, so that nothing ever needs a Flush, and
	// direct that their words are reached directly besides.
	together, direct bool
	beside           rma.Considerate // or nil
	home             Rank
	// The lock's words: those at home only, and those that every rank has; and
	// where near begins.
	homeBase, rankBase, nearBase rma.Disp
	near                         [][]uint64 // nil: by operations only
}

// neighbourhood is the words of a set of locks at each rank, for a process: nil
// for a rank whose memory it cannot reach directly.
type neighbourhood struct {
	once sync.Once
	near [][]uint64
	all  bool // no rank is out of reach
}

// look fills it in, from the first window that asks; they all share one memory.
func (n *neighbourhood) look(w rma.Shared, ranks int, base rma.Disp, words int) {
	n.once.Do(func() {
		near, all := make([][]uint64, ranks), true
		for p := range near {
			words, ok := w.Direct(Rank(p), base, words)
			near[p], all = words, all && ok && words != nil
		}
		n.near, n.all = near, all
	})
}

// newMemory is the access of w's rank.
func (l *Lock) newMemory(w rma.Window) memory {
	m := memory{w: w, home: l.o.Home, homeBase: l.words.home, rankBase: l.words.rank, nearBase: l.words.base}
	m.beside, _ = w.(rma.Considerate)
	shared, ok := w.(rma.Shared)
	if !ok {
		m.failed = new(atomic.Bool)
		m.failed.Store(true)
		return m
	}
	l.near.look(shared, l.tree.Ranks(), l.words.base, l.words.words)
	m.failed, m.together = shared.Failed(), l.near.all
	if !l.o.Operations {
		m.shared, m.near, m.direct = shared, l.near.near, l.near.all
	}
	return m
}

// line is how many bytes the processor's cache moves at once.
const line = 64

// apart is v in lines of memory in which nothing else is: what a rank writes in every turn
// must not share one with what another rank uses.
func apart[T any](v T) *T {
	lines := &struct {
		v T
		_ [line]byte
	}{v: v}
	return &lines.v
}

// apartRow is so many in a row, of which that is true together.
func apartRow[T any](n int) []T {
	var v T
	return make([]T, n, n+1+int(line/unsafe.Sizeof(v)))
}

// broken reports whether the window has failed.
func (m *memory) broken() bool { return m.failed.Load() && m.w.Err() != nil }

// atHome is the i-th of the words at the lock's home.
func (m *memory) atHome(i int) word { return m.word(m.home, m.homeBase+rma.Disp(i)) }

// at is the i-th of the words of rank p.
func (m *memory) at(p Rank, i int) word { return m.word(p, m.rankBase+rma.Disp(i)) }

func (m *memory) word(target Rank, disp rma.Disp) word {
	x := word{m: m, target: target, disp: disp}
	if m.near != nil {
		if near := m.near[target]; near != nil {
			x.at = &near[disp-m.nearBase]
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
	m      *memory
	target Rank
	disp   rma.Disp
}

func (x *word) load() uint64 {
	if x.at != nil {
		return atomic.LoadUint64(x.at)
	}
	return x.m.w.Get(x.target, x.disp)
}

func (x *word) store(v uint64) {
	if x.at != nil {
		atomic.SwapUint64(x.at, v) // what is in memory of others must not be overtaken by later loads, even with -race
		return
	}
	x.farStore(v)
}

func (x *word) farStore(v uint64) {
	x.m.w.Put(x.target, x.disp, v)
	x.m.flush(x.target)
}

func (m *memory) flush(target Rank) {
	if !m.together {
		m.w.Flush(target)
	}
}

// clear stores zero in a word that nobody else changes and nobody awaits; before
// others do again, they learn of an atomic change that the rank makes later. That
// makes an ordinary store enough, a third of the time of an atomic one. It is an
// atomic one where the race detector looks: who has changed the word and woken
// the rank may look at it once more, and does not care what it sees.
func (x *word) clear() {
	if x.at != nil && !invariant.Enabled {
		*x.at = 0
		return
	}
	x.store(0)
}

func (x *word) swap(v uint64) uint64 {
	if x.at != nil {
		return atomic.SwapUint64(x.at, v)
	}
	return x.m.w.FetchOp(x.target, x.disp, rma.Replace, v)
}

// add returns what the word held before.
func (x *word) add(delta uint64) uint64 {
	if x.at != nil {
		return atomic.AddUint64(x.at, delta) - delta
	}
	return x.farAdd(delta)
}

func (x *word) farAdd(delta uint64) uint64 {
	return x.m.w.FetchOp(x.target, x.disp, rma.Sum, delta)
}

// cas reports whether the word held old, and now holds new.
func (x *word) cas(old, new uint64) bool {
	if x.at != nil {
		return atomic.CompareAndSwapUint64(x.at, old, new)
	}
	return x.farCAS(old, new)
}

func (x *word) farCAS(old, new uint64) bool {
	return x.m.w.CAS(x.target, x.disp, old, new) == old && !x.m.broken()
}

// accumulate is add without an answer.
func (x *word) accumulate(delta uint64) {
	if x.at != nil {
		atomic.AddUint64(x.at, delta)
		return
	}
	x.m.w.Accumulate(x.target, x.disp, rma.Sum, delta)
	x.m.flush(x.target)
}

// wake wakes whoever awaits the word and may go on.
func (x *word) wake() {
	if x.at != nil {
		x.m.shared.Notify(x.target, x.disp)
	}
}

// publish is a store that is seen by whoever awaits the word.
func (x *word) publish(v uint64) {
	if x.at != nil {
		x.m.shared.Put(x.target, x.disp, v)
		return
	}
	x.farStore(v)
}

// await is Window.Await on the word.
func (x *word) await(ctx context.Context, until rma.Until) (uint64, error) {
	return x.m.w.Await(ctx, x.target, x.disp, until)
}
