package rmatest

import "github.com/orwl/go-orwl/net/rma"

// Defects of direct access.
var brokenShared = []Specimen{
	{
		Name:       "notify-nothing",
		Defect:     "Notify does nothing",
		Break:      window(func(w rma.Window) rma.Window { return notifyNothing{asShared(w)} }),
		RejectedBy: []string{"shared/wakes"},
	},
	{
		Name:       "direct-not-atomic",
		Defect:     "an Add is a load and a store",
		Break:      window(func(w rma.Window) rma.Window { return wordsBy{asShared(w), addNotAtomic} }),
		RejectedBy: []string{"shared/add-once"},
	},
	{
		Name:       "direct-elsewhere",
		Defect:     "a Word is a copy, of which operations see nothing",
		Break:      window(func(w rma.Window) rma.Window { return wordsBy{asShared(w), elsewhere} }),
		RejectedBy: []string{"shared/one-memory"},
	},
	{
		Name:       "direct-always-swaps",
		Defect:     "CompareAndSwap always swaps",
		Break:      window(func(w rma.Window) rma.Window { return wordsBy{asShared(w), alwaysSwaps} }),
		RejectedBy: []string{"shared/results"},
	},
	{
		Name:       "direct-anywhere",
		Defect:     "Direct gives words that do not exist",
		Break:      window(func(w rma.Window) rma.Window { return directAnywhere{asShared(w)} }),
		RejectedBy: []string{"shared/refuses"},
	},
}

func asShared(w rma.Window) rma.Shared { return w.(rma.Shared) }

type notifyNothing struct{ rma.Shared }

func (notifyNothing) Notify(rma.Rank, rma.Disp) {}

type directAnywhere struct{ rma.Shared }

func (w directAnywhere) Direct(target rma.Rank, disp rma.Disp) (rma.Word, bool) {
	return rma.WordAt(new(uint64), target, disp), true
}

// wordsBy gives words that break makes of the right ones.
type wordsBy struct {
	rma.Shared
	broken func(x rma.Word) rma.Atomics
}

func (w wordsBy) Direct(target rma.Rank, disp rma.Disp) (rma.Word, bool) {
	x, ok := w.Shared.Direct(target, disp)
	return rma.WordBy(w.broken(x), target, disp), ok
}

// brokenWord is a right word, as Atomics. Specimens replace single methods.
type brokenWord struct{ x rma.Word }

func (b *brokenWord) Load(rma.Rank, rma.Disp) uint64               { return b.x.Load() }
func (b *brokenWord) Store(_ rma.Rank, _ rma.Disp, v uint64)       { b.x.Store(v) }
func (b *brokenWord) Swap(_ rma.Rank, _ rma.Disp, v uint64) uint64 { return b.x.Swap(v) }
func (b *brokenWord) Add(_ rma.Rank, _ rma.Disp, d uint64) uint64  { return b.x.Add(d) }
func (b *brokenWord) CompareAndSwap(_ rma.Rank, _ rma.Disp, old, new uint64) bool {
	return b.x.CompareAndSwap(old, new)
}

type addInTwo struct{ brokenWord }

func addNotAtomic(x rma.Word) rma.Atomics { return &addInTwo{brokenWord{x}} }

func (b *addInTwo) Add(_ rma.Rank, _ rma.Disp, delta uint64) uint64 {
	old := b.x.Load()
	b.x.Store(old + delta)
	return old
}

type swapsAlways struct{ brokenWord }

func alwaysSwaps(x rma.Word) rma.Atomics { return &swapsAlways{brokenWord{x}} }

func (b *swapsAlways) CompareAndSwap(_ rma.Rank, _ rma.Disp, _, new uint64) bool {
	b.x.Store(new)
	return true
}

// elsewhere is a word of its own.
func elsewhere(x rma.Word) rma.Atomics {
	return &brokenWord{rma.WordAt(new(uint64), x.Target, x.Disp)}
}
