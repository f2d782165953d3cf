package rmatest

import "github.com/orwl/go-orwl/net/rma"

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
