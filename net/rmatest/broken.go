package rmatest

import (
	"slices"
	"sync"

	"github.com/orwl/go-orwl/net/rma"
)

// Specimen is a way to break a fabric: one defect, such as a backend may have. It
// is there to show that the suite finds it.
type Specimen struct {
	Name string
	// Defect says what is wrong with the fabric that Break makes.
	Defect string
	// Break puts the defect on top of a fabric that has none.
	Break func(f rma.Fabric) rma.Fabric
	// RejectedBy names the cases that must fail, each on its own. Where
	// operations are never late or ranks hardly ever meet, a case may fail only
	// now and then; in the simulator it fails within a few seeds.
	RejectedBy []string
}

// Broken is every specimen. Each case rejects at least one.
func Broken() []Specimen {
	return slices.Concat(brokenWords, brokenAtomics, brokenFlushes, brokenAwaits, brokenBulk, brokenMemory, brokenAddresses)
}

// window is the Break of a defect that is in each rank's window.
func window(wrap func(w rma.Window) rma.Window) func(f rma.Fabric) rma.Fabric {
	return func(f rma.Fabric) rma.Fabric {
		return wrapped(f, func(w rma.Window) rma.Window { return wrap(w) })
	}
}

// wrapped is a fabric that shows each window wrapped, the same one each time. It
// remains an Exposer if it is one.
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
