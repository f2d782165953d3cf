package rmatest

import (
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
