package rmatest

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/orwl/go-orwl/net/rma"
)

// Specimen breaks a fabric by one defect that a backend could have. It proves that
// the suite finds this defect.
type Specimen struct {
	Name string
	// Defect describes the defect of the fabric that Break makes.
	Defect string
	// Break adds the defect to a fabric without one.
	Break func(f rma.Fabric) rma.Fabric
	// RejectedBy names the cases that must fail, each on its own. In the
	// simulator each fails within a few seeds. On a backend that completes
	// operations at once, or that seldom runs ranks at the same time, it may
	// fail only now and then.
	RejectedBy []string
}

// Broken is every specimen. Each case rejects at least one.
func Broken() []Specimen {
	return slices.Concat(brokenWords, brokenAtomics, brokenFlushes, brokenAwaits, brokenBulk, brokenMemory, brokenAddresses,
		brokenShared)
}

// window is the Break of a defect in each rank's window.
func window(wrap func(w rma.Window) rma.Window) func(f rma.Fabric) rma.Fabric {
	return func(f rma.Fabric) rma.Fabric {
		return wrapped(f, func(w rma.Window) rma.Window { return wrap(w) })
	}
}

// wrapped is a fabric that wraps each window once. It is an Exposer if f is one.
func wrapped(f rma.Fabric, wrap func(w rma.Window) rma.Window) rma.Fabric {
	b := &wrapper{Fabric: f, wrap: wrap, windows: make(map[rma.Rank]rma.Window)}
	if x, ok := f.(rma.Exposer); ok {
		return &exposer{wrapper: b, expose: x.Expose}
	}
	return b
}

type wrapper struct {
	rma.Fabric
	wrap func(w rma.Window) rma.Window

	mu      sync.Mutex
	windows map[rma.Rank]rma.Window
}

func (f *wrapper) Window(p rma.Rank) (rma.Window, error) {
	w, err := f.Fabric.Window(p)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.windows[p] == nil {
		f.windows[p] = f.wrap(w)
	}
	return f.windows[p], nil
}

type exposer struct {
	*wrapper
	expose func(p rma.Rank, memory []uint64) (rma.Disp, error)
}

func (f *exposer) Expose(p rma.Rank, memory []uint64) (rma.Disp, error) { return f.expose(p, memory) }

// Defects of Flush. They show only on a fabric that delays operations.
var brokenFlushes = []Specimen{
	{
		Name:   "flush-does-nothing",
		Defect: "Flush returns at once",
		Break:  window(func(w rma.Window) rma.Window { return &flushDoesNothing{w} }),
		RejectedBy: []string{
			"word/put-flush-get", "word/flush-orders-puts", "word/third-rank-sees-put",
			"order/flag-by-put", "order/flag-by-fetch", "order/flag-by-cas", "order/flag-by-accumulate",
			"order/chain",
		},
	},
	{
		Name:   "flush-all-does-nothing",
		Defect: "FlushAll returns at once",
		Break:  window(func(w rma.Window) rma.Window { return &flushAllDoesNothing{w} }),
		RejectedBy: []string{
			"word/put-flush-all-get", "accumulate/late-sum",
		},
	},
	{
		Name:       "flush-all-flushes-own",
		Defect:     "FlushAll flushes the own segment only",
		Break:      window(func(w rma.Window) rma.Window { return &flushAllFlushesOwn{w} }),
		RejectedBy: []string{"word/put-flush-all-get"},
	},
	{
		Name:       "flush-forgets-bulk",
		Defect:     "Flush does not wait for PutBytes",
		Break:      window(func(w rma.Window) rma.Window { return &flushForgetsBulk{Window: w} }),
		RejectedBy: []string{"order/bulk-then-flag", "bulk/words-inside", "region/bulk", "region/exposed"},
	},
	{
		Name:       "flush-forgets-accumulate",
		Defect:     "Flush does not wait for Accumulate",
		Break:      window(func(w rma.Window) rma.Window { return &flushForgetsAccumulate{Window: w} }),
		RejectedBy: []string{"accumulate/results", "accumulate/sum-of-all", "order/flag-by-accumulate"},
	},
}

type flushDoesNothing struct{ rma.Window }

func (w *flushDoesNothing) Flush(rma.Rank) {}

type flushAllDoesNothing struct{ rma.Window }

func (w *flushAllDoesNothing) FlushAll() {}

type flushAllFlushesOwn struct{ rma.Window }

func (w *flushAllFlushesOwn) FlushAll() { w.Flush(w.Rank()) }

// flushForgetsBulk delays each PutBytes until the next one.
type flushForgetsBulk struct {
	rma.Window
	late func()
}

func (w *flushForgetsBulk) PutBytes(target rma.Rank, disp rma.Disp, src []byte) {
	if w.late != nil {
		w.late()
	}
	kept := append([]byte(nil), src...)
	w.late = func() { w.Window.PutBytes(target, disp, kept) }
}

// flushForgetsAccumulate delays each Accumulate until the next one.
type flushForgetsAccumulate struct {
	rma.Window
	late func()
}

func (w *flushForgetsAccumulate) Accumulate(target rma.Rank, disp rma.Disp, op rma.Op, operand uint64) {
	if w.late != nil {
		w.late()
	}
	w.late = func() { w.Window.Accumulate(target, disp, op, operand) }
}

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

// Defects of Put, Get and memory itself.
var brokenWords = []Specimen{
	{
		Name:       "dirty-memory",
		Defect:     "new memory is not zero",
		Break:      window(func(w rma.Window) rma.Window { return &dirtyMemory{w} }),
		RejectedBy: []string{"word/zero-at-first", "region/zero-again"},
	},
	{
		Name:       "put-adds",
		Defect:     "Put adds to the word",
		Break:      window(func(w rma.Window) rma.Window { return &putAdds{w} }),
		RejectedBy: []string{"word/put-flush-all-get", "word/flush-orders-puts", "handover/ring", "order/flag-by-put"},
	},
	{
		Name:   "get-remembers",
		Defect: "Get of another rank's word always returns its first result",
		Break: window(func(w rma.Window) rma.Window {
			return &getRemembers{w, make(map[word]uint64)}
		}),
		RejectedBy: []string{"word/third-rank-sees-put", "order/chain"},
	},
	{
		Name:   "shifted",
		Defect: "rank 1 accesses every word one word too far",
		Break: window(func(w rma.Window) rma.Window {
			if w.Rank() == 1 {
				return &shifted{w}
			}
			return w
		}),
		RejectedBy: []string{"word/put-flush-get", "alloc/symmetric"},
	},
	{
		Name:       "window-anew",
		Defect:     "Fabric.Window returns another window each time",
		Break:      func(f rma.Fabric) rma.Fabric { return &windowAnew{f} },
		RejectedBy: []string{"word/window"},
	},
	{
		Name:       "window-out-of-range",
		Defect:     "Fabric.Window of a rank out of range returns that of rank 0",
		Break:      func(f rma.Fabric) rma.Fabric { return &windowOutOfRange{f} },
		RejectedBy: []string{"word/window"},
	},
}

// word names a word of a rank.
type word struct {
	rank rma.Rank
	disp rma.Disp
}

type dirtyMemory struct{ rma.Window }

func (w *dirtyMemory) Get(target rma.Rank, disp rma.Disp) uint64 {
	if value := w.Window.Get(target, disp); value != 0 {
		return value
	}
	return 0xdddddddd
}

type putAdds struct{ rma.Window }

func (w *putAdds) Put(target rma.Rank, disp rma.Disp, value uint64) {
	w.Accumulate(target, disp, rma.Sum, value)
}

type getRemembers struct {
	rma.Window
	seen map[word]uint64
}

func (w *getRemembers) Get(target rma.Rank, disp rma.Disp) uint64 {
	if value, ok := w.seen[word{target, disp}]; ok && target != w.Rank() {
		return value
	}
	value := w.Window.Get(target, disp)
	w.seen[word{target, disp}] = value
	return value
}

type shifted struct{ rma.Window }

func (w *shifted) Put(target rma.Rank, disp rma.Disp, value uint64) {
	w.Window.Put(target, disp+1, value)
}

func (w *shifted) Get(target rma.Rank, disp rma.Disp) uint64 { return w.Window.Get(target, disp+1) }

type windowAnew struct{ rma.Fabric }

func (f *windowAnew) Window(p rma.Rank) (rma.Window, error) {
	w, err := f.Fabric.Window(p)
	if err != nil {
		return nil, err
	}
	return NewTally(w), nil
}

type windowOutOfRange struct{ rma.Fabric }

func (f *windowOutOfRange) Window(p rma.Rank) (rma.Window, error) {
	if w, err := f.Fabric.Window(p); err == nil {
		return w, nil
	}
	return f.Fabric.Window(0)
}

// BrokenLives is every specimen for Lives. Each Life rejects at least one of them.
// RejectedBy names Lives instead of cases.
func BrokenLives() []Specimen {
	return []Specimen{
		{
			Name:       "close-does-nothing",
			Defect:     "Close does nothing",
			Break:      closing(func(rma.Fabric) error { return nil }),
			RejectedBy: []string{"life/after-close"},
		},
		{
			Name:   "close-once",
			Defect: "a second Close returns an error",
			Break: func(f rma.Fabric) rma.Fabric {
				closed := false
				return closing(func(f rma.Fabric) error {
					if closed {
						return rma.ErrClosed
					}
					closed = true
					return f.Close()
				})(f)
			},
			RejectedBy: []string{"life/after-close"},
		},
		{
			Name:       "failure-forgotten",
			Defect:     "Err returns the failure only once",
			Break:      window(func(w rma.Window) rma.Window { return &failureForgotten{Window: w} }),
			RejectedBy: []string{"life/after-close"},
		},
		{
			Name:   "failure-unnamed",
			Defect: "Await returns ErrClosed for every failure",
			Break: awaiting(func(ctx context.Context, w rma.Window, q rma.Rank, d rma.Disp, u rma.Until) (uint64, error) {
				value, err := w.Await(ctx, q, d, u)
				if w.Err() != nil {
					err = rma.ErrClosed
				}
				return value, err
			}),
			RejectedBy: []string{"life/context-ends-fabric"},
		},
		{
			Name:   "await-hides-failure",
			Defect: "Await returns no error when the window fails",
			Break: awaiting(func(ctx context.Context, w rma.Window, q rma.Rank, d rma.Disp, u rma.Until) (uint64, error) {
				value, err := w.Await(ctx, q, d, u)
				if w.Err() != nil {
					err = nil
				}
				return value, err
			}),
			RejectedBy: []string{"life/after-close", "life/close-wakes", "life/context-ends-fabric"},
		},
		{
			Name:       "await-deaf",
			Defect:     "Await does not notice the end of its context",
			Break:      awaiting(deaf),
			RejectedBy: []string{"life/cancel-wakes", "life/cancel-or-change"},
		},
		{
			Name:       "await-cancelled-for-good",
			Defect:     "a cancelled Await makes the window fail",
			Break:      window(func(w rma.Window) rma.Window { return &awaitContextSticks{Window: w} }),
			RejectedBy: []string{"life/cancel-wakes"},
		},
		{
			Name:       "await-wakes-again",
			Defect:     "an Await after a cancelled one returns at once",
			Break:      window(func(w rma.Window) rma.Window { return &awaitWakesAgain{Window: w} }),
			RejectedBy: []string{"life/cancel-or-change"},
		},
		{
			Name:       "panic-after-failure",
			Defect:     "an operation of a failed window panics",
			Break:      window(func(w rma.Window) rma.Window { return &panicAfterFailure{Window: w} }),
			RejectedBy: []string{"life/close-under-way"},
		},
	}
}

// closing is the Break of a fabric with close as its Close.
func closing(close func(f rma.Fabric) error) func(f rma.Fabric) rma.Fabric {
	return func(f rma.Fabric) rma.Fabric { return &closeBroken{f, close} }
}

type closeBroken struct {
	rma.Fabric
	close func(f rma.Fabric) error
}

func (f *closeBroken) Close() error { return f.close(f.Fabric) }

type failureForgotten struct {
	rma.Window
	told bool
}

func (w *failureForgotten) Err() error {
	err := w.Window.Err()
	if w.told {
		return nil
	}
	w.told = err != nil
	return err
}

func deaf(ctx context.Context, w rma.Window, q rma.Rank, d rma.Disp, u rma.Until) (uint64, error) {
	return w.Await(context.WithoutCancel(ctx), q, d, u)
}

type awaitWakesAgain struct {
	rma.Window
	late bool
}

func (w *awaitWakesAgain) Await(ctx context.Context, q rma.Rank, d rma.Disp, u rma.Until) (uint64, error) {
	if w.late {
		w.late = false
		return w.Get(q, d), nil
	}
	value, err := w.Window.Await(ctx, q, d, u)
	w.late = errors.Is(err, context.Canceled)
	return value, err
}

type panicAfterFailure struct{ rma.Window }

func (w *panicAfterFailure) FlushAll() {
	if err := w.Err(); err != nil {
		panic(err)
	}
}
