package rmatest

import (
	"slices"

	"github.com/orwl/go-orwl/net/rma"
)

// Defects of Alloc, Attach, Detach and Expose.
var brokenMemory = []Specimen{
	{
		Name:   "alloc-overlaps",
		Defect: "Alloc returns the last word of the allocation before it as its first",
		Break: allocating(func(f rma.Fabric, words int) (rma.Disp, error) {
			at, err := f.Alloc(words)
			return max(0, at-1), err
		}),
		RejectedBy: []string{"alloc/disjoint"},
	},
	{
		Name:   "alloc-gives-anything",
		Defect: "Alloc never refuses",
		Break: allocating(func(f rma.Fabric, words int) (rma.Disp, error) {
			at, _ := f.Alloc(words)
			return at, nil
		}),
		RejectedBy: []string{"alloc/no-space", "bulk/end-of-memory"},
	},
	{
		Name:       "attach-keeps-contents",
		Defect:     "Attach returns the contents of the last region",
		Break:      window(func(w rma.Window) rma.Window { return &attachKeeps{Window: w} }),
		RejectedBy: []string{"region/zero-again"},
	},
	{
		Name:       "attach-overlaps",
		Defect:     "a second region overlaps the first one",
		Break:      window(func(w rma.Window) rma.Window { return &attachOverlaps{Window: w} }),
		RejectedBy: []string{"region/disjoint"},
	},
	{
		Name:       "attach-copy",
		Defect:     "Region.Words is not the memory that other ranks see",
		Break:      window(func(w rma.Window) rma.Window { return &attachCopy{w} }),
		RejectedBy: []string{"region/shared-by-all"},
	},
	{
		Name:       "attach-gives-anything",
		Defect:     "Attach returns one word where it should refuse",
		Break:      window(func(w rma.Window) rma.Window { return &attachAnything{w} }),
		RejectedBy: []string{"region/no-space"},
	},
	{
		Name:       "detach-does-nothing",
		Defect:     "Detach does not remove the region",
		Break:      window(func(w rma.Window) rma.Window { return &detachNothing{Window: w} }),
		RejectedBy: []string{"region/stale", "traditional/sizes"},
	},
	{
		Name:       "detach-forgives",
		Defect:     "Detach of a region that is not attached returns no error",
		Break:      window(func(w rma.Window) rma.Window { return &detachForgives{w} }),
		RejectedBy: []string{"region/stale", "region/not-attached"},
	},
	{
		Name:   "expose-copy",
		Defect: "Expose shows a copy of the slice",
		Break: exposing(func(x rma.Exposer, p rma.Rank, memory []uint64) (rma.Disp, error) {
			return x.Expose(p, slices.Clone(memory))
		}),
		RejectedBy: []string{"traditional/sizes"},
	},
	{
		Name:   "expose-shifted",
		Defect: "Expose returns a displacement one word too far",
		Break: exposing(func(x rma.Exposer, p rma.Rank, memory []uint64) (rma.Disp, error) {
			at, err := x.Expose(p, memory)
			return at + 1, err
		}),
		RejectedBy: []string{"traditional/sizes", "traditional/again"},
	},
}

// allocating is the Break of a fabric with alloc as its Alloc.
func allocating(alloc func(f rma.Fabric, words int) (rma.Disp, error)) func(f rma.Fabric) rma.Fabric {
	return func(f rma.Fabric) rma.Fabric { return &allocBroken{f, alloc} }
}

type allocBroken struct {
	rma.Fabric
	alloc func(f rma.Fabric, words int) (rma.Disp, error)
}

func (f *allocBroken) Alloc(words int) (rma.Disp, error) { return f.alloc(f.Fabric, words) }

// exposing is the Break of a fabric with expose as its Expose. A fabric without an
// Expose stays as it is.
func exposing(expose func(x rma.Exposer, p rma.Rank, memory []uint64) (rma.Disp, error)) func(f rma.Fabric) rma.Fabric {
	return func(f rma.Fabric) rma.Fabric {
		if x, ok := f.(rma.Exposer); ok {
			return &exposeBroken{x, expose}
		}
		return f
	}
}

type exposeBroken struct {
	rma.Exposer
	expose func(x rma.Exposer, p rma.Rank, memory []uint64) (rma.Disp, error)
}

func (f *exposeBroken) Expose(p rma.Rank, memory []uint64) (rma.Disp, error) {
	return f.expose(f.Exposer, p, memory)
}

type attachKeeps struct {
	rma.Window
	own  []rma.Region
	left []uint64
}

func (w *attachKeeps) Attach(words int) (rma.Region, error) {
	region, err := w.Window.Attach(words)
	copy(region.Words, w.left)
	w.own = append(w.own, region)
	return region, err
}

func (w *attachKeeps) Detach(base rma.Disp) error {
	for _, region := range w.own {
		if region.Base == base {
			w.left = slices.Clone(region.Words)
		}
	}
	return w.Window.Detach(base)
}

type attachOverlaps struct {
	rma.Window
	last rma.Region
}

func (w *attachOverlaps) Attach(words int) (rma.Region, error) {
	if words > 0 && words <= len(w.last.Words) {
		return rma.Region{Base: w.last.Base, Words: w.last.Words[:words]}, nil
	}
	var err error
	w.last, err = w.Window.Attach(words)
	return w.last, err
}

type attachCopy struct{ rma.Window }

func (w *attachCopy) Attach(words int) (rma.Region, error) {
	region, err := w.Window.Attach(words)
	region.Words = slices.Clone(region.Words)
	return region, err
}

type attachAnything struct{ rma.Window }

func (w *attachAnything) Attach(words int) (rma.Region, error) {
	if words < 1 || words > rma.MaxRegion {
		words = 1
	}
	return w.Window.Attach(words)
}

type detachNothing struct {
	rma.Window
	gone []rma.Disp
}

func (w *detachNothing) Detach(base rma.Disp) error {
	if slices.Contains(w.gone, base) {
		return rma.ErrNotAttached
	}
	if !base.IsDynamic() {
		return w.Window.Detach(base)
	}
	w.gone = append(w.gone, base)
	return nil
}

type detachForgives struct{ rma.Window }

func (w *detachForgives) Detach(base rma.Disp) error {
	_ = w.Window.Detach(base)
	return nil
}
