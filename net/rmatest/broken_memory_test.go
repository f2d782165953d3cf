package rmatest

import (
	"context"
	"encoding/binary"
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
		RejectedBy: []string{"region/stale", "region/exposed"},
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
		RejectedBy: []string{"region/exposed"},
	},
	{
		Name:   "expose-shifted",
		Defect: "Expose returns a displacement one word too far",
		Break: exposing(func(x rma.Exposer, p rma.Rank, memory []uint64) (rma.Disp, error) {
			at, err := x.Expose(p, memory)
			return at + 1, err
		}),
		RejectedBy: []string{"region/exposed"},
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

// Defects of PutBytes and GetBytes.
var brokenBulk = []Specimen{
	{
		Name:       "bulk-keeps-buffer",
		Defect:     "PutBytes reads the caller's buffer when it is flushed",
		Break:      window(func(w rma.Window) rma.Window { return &bulkKeepsBuffer{Window: w} }),
		RejectedBy: []string{"bulk/buffer-reusable"},
	},
	{
		Name:   "bulk-one-word-late",
		Defect: "PutBytes stores one word too far",
		Break: putting(func(w rma.Window, target rma.Rank, disp rma.Disp, src []byte) {
			w.PutBytes(target, disp+1, src)
		}),
		RejectedBy: []string{"bulk/round-trip", "order/bulk-then-flag"},
	},
	{
		Name:   "bulk-one-word-short",
		Defect: "PutBytes does not store the last word",
		Break: putting(func(w rma.Window, target rma.Rank, disp rma.Disp, src []byte) {
			w.PutBytes(target, disp, src[:max(0, len(src)-8)])
		}),
		RejectedBy: []string{"bulk/round-trip", "region/bulk"},
	},
	{
		Name:   "bulk-one-word-long",
		Defect: "PutBytes clears the word after the last one",
		Break: putting(func(w rma.Window, target rma.Rank, disp rma.Disp, src []byte) {
			w.PutBytes(target, disp, src)
			w.Put(target, disp+rma.Disp(len(src)/8), 0)
		}),
		RejectedBy: []string{"bulk/round-trip"},
	},
	{
		Name:   "bulk-byte-order",
		Defect: "PutBytes reverses the bytes of each word",
		Break: putting(func(w rma.Window, target rma.Rank, disp rma.Disp, src []byte) {
			turned := make([]byte, len(src))
			for i := 0; i+8 <= len(src); i += 8 {
				binary.BigEndian.PutUint64(turned[i:], binary.LittleEndian.Uint64(src[i:]))
			}
			w.PutBytes(target, disp, turned)
		}),
		RejectedBy: []string{"bulk/words-inside"},
	},
	{
		Name:   "bulk-of-nothing",
		Defect: "PutBytes of no bytes stores a word",
		Break: putting(func(w rma.Window, target rma.Rank, disp rma.Disp, src []byte) {
			if len(src) == 0 {
				src = []byte{1, 2, 3, 4, 5, 6, 7, 8}
			}
			w.PutBytes(target, disp, src)
		}),
		RejectedBy: []string{"bulk/zero-length"},
	},
	{
		Name:   "bulk-truncates",
		Defect: "PutBytes moves at most 64 KiB",
		Break: putting(func(w rma.Window, target rma.Rank, disp rma.Disp, src []byte) {
			w.PutBytes(target, disp, src[:min(len(src), 1<<16)])
		}),
		RejectedBy: []string{"bulk/megabyte"},
	},
	{
		Name:       "bulk-rounds-down",
		Defect:     "PutBytes and GetBytes ignore a last part of less than a word",
		Break:      window(func(w rma.Window) rma.Window { return &bulkRoundsDown{w} }),
		RejectedBy: []string{"address/unaligned-bulk"},
	},
}

// putting is the Break of a fabric with p as its PutBytes.
func putting(p func(w rma.Window, target rma.Rank, disp rma.Disp, src []byte)) func(f rma.Fabric) rma.Fabric {
	return window(func(w rma.Window) rma.Window { return &bulkBroken{w, p} })
}

type bulkBroken struct {
	rma.Window
	put func(w rma.Window, target rma.Rank, disp rma.Disp, src []byte)
}

func (w *bulkBroken) PutBytes(target rma.Rank, disp rma.Disp, src []byte) {
	w.put(w.Window, target, disp, src)
}

type bulkKeepsBuffer struct {
	rma.Window
	late []func()
}

func (w *bulkKeepsBuffer) PutBytes(target rma.Rank, disp rma.Disp, src []byte) {
	w.late = append(w.late, func() { w.Window.PutBytes(target, disp, src) })
}

func (w *bulkKeepsBuffer) Flush(target rma.Rank) {
	for _, put := range w.late {
		put()
	}
	w.late = nil
	w.Window.Flush(target)
}

type bulkRoundsDown struct{ rma.Window }

func (w *bulkRoundsDown) PutBytes(target rma.Rank, disp rma.Disp, src []byte) {
	w.Window.PutBytes(target, disp, src[:len(src)&^7])
}

func (w *bulkRoundsDown) GetBytes(target rma.Rank, disp rma.Disp, dst []byte) {
	w.Window.GetBytes(target, disp, dst[:len(dst)&^7])
}

// Defects of operations on addresses that do not exist.
var brokenAddresses = []Specimen{
	{
		Name:   "unchecked",
		Defect: "an operation on an address that does not exist does nothing",
		Break:  refusing(func(any) {}),
		RejectedBy: []string{
			"bulk/end-of-memory", "region/stale", "region/bounds", "address/rank", "address/displacement",
			"address/unaligned-bulk",
		},
	},
	{
		Name:       "untyped-panic",
		Defect:     "an operation on an address that does not exist panics with a string",
		Break:      refusing(func(refusal any) { panic("out of range") }),
		RejectedBy: []string{"address/rank", "address/displacement", "address/unaligned-bulk", "region/bounds"},
	},
	{
		Name:   "wrong-panic",
		Defect: "the panic names another displacement",
		Break: refusing(func(refusal any) {
			e := *refusal.(*rma.AddressError)
			e.Disp++
			panic(&e)
		}),
		RejectedBy: []string{"address/rank", "address/displacement", "address/unaligned-bulk", "region/bounds"},
	},
	{
		Name:   "rank-modulo",
		Defect: "a rank out of range is taken modulo the number of ranks",
		Break: func(f rma.Fabric) rma.Fabric {
			ranks := rma.Rank(f.Topology().Ranks())
			return wrapped(f, func(w rma.Window) rma.Window { return &rankModulo{w, ranks} })
		},
		RejectedBy: []string{"address/rank"},
	},
}

// refusing is the Break of a fabric that calls instead where it should panic.
func refusing(instead func(refusal any)) func(f rma.Fabric) rma.Fabric {
	return window(func(w rma.Window) rma.Window { return &refusesBadly{w, instead} })
}

type refusesBadly struct {
	rma.Window
	instead func(refusal any)
}

// refused replaces the panic of an operation. Every operation defers it.
func (w *refusesBadly) refused() {
	switch value := recover().(type) {
	case nil:
	case *rma.AddressError:
		w.instead(value)
	default:
		panic(value)
	}
}

func (w *refusesBadly) Put(target rma.Rank, disp rma.Disp, value uint64) {
	defer w.refused()
	w.Window.Put(target, disp, value)
}

func (w *refusesBadly) Get(target rma.Rank, disp rma.Disp) uint64 {
	defer w.refused()
	return w.Window.Get(target, disp)
}

func (w *refusesBadly) Accumulate(target rma.Rank, disp rma.Disp, op rma.Op, operand uint64) {
	defer w.refused()
	w.Window.Accumulate(target, disp, op, operand)
}

func (w *refusesBadly) FetchOp(target rma.Rank, disp rma.Disp, op rma.Op, operand uint64) uint64 {
	defer w.refused()
	return w.Window.FetchOp(target, disp, op, operand)
}

func (w *refusesBadly) CAS(target rma.Rank, disp rma.Disp, old, new uint64) uint64 {
	defer w.refused()
	return w.Window.CAS(target, disp, old, new)
}

func (w *refusesBadly) Await(ctx context.Context, target rma.Rank, disp rma.Disp, until rma.Until) (uint64, error) {
	defer w.refused()
	return w.Window.Await(ctx, target, disp, until)
}

func (w *refusesBadly) PutBytes(target rma.Rank, disp rma.Disp, src []byte) {
	defer w.refused()
	w.Window.PutBytes(target, disp, src)
}

func (w *refusesBadly) GetBytes(target rma.Rank, disp rma.Disp, dst []byte) {
	defer w.refused()
	w.Window.GetBytes(target, disp, dst)
}

func (w *refusesBadly) Flush(target rma.Rank) {
	defer w.refused()
	w.Window.Flush(target)
}

type rankModulo struct {
	rma.Window
	ranks rma.Rank
}

func (w *rankModulo) at(target rma.Rank) rma.Rank { return (target%w.ranks + w.ranks) % w.ranks }

func (w *rankModulo) Put(target rma.Rank, disp rma.Disp, value uint64) {
	w.Window.Put(w.at(target), disp, value)
}

func (w *rankModulo) Flush(target rma.Rank) { w.Window.Flush(w.at(target)) }
