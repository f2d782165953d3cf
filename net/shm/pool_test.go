//go:build linux

package shm

import (
	"errors"
	"fmt"
	"slices"
	"syscall"
	"testing"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

func attach(t testing.TB, w rma.Window, words int) rma.Region {
	t.Helper()
	r, err := w.Attach(words)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func detach(t testing.TB, w rma.Window, base rma.Disp) {
	t.Helper()
	if err := w.Detach(base); err != nil {
		t.Fatal(err)
	}
}

// refused reports whether do panics with an AddressError.
func refused(do func()) (yes bool) {
	defer func() { _, yes = recover().(*rma.AddressError) }()
	do()
	return false
}

// reading is a process that adds up regions of rank 0, whose displacements it
// finds in a word there, and is told that the last one is gone.
var reading = role("reading", func(a *actor) error {
	told, sums := a.words(1), a.words(1)
	w := a.own()
	for round := uint64(1); ; round++ {
		v, err := w.Await(background, 0, told, rma.AtLeast(round<<32))
		if err != nil {
			return err
		}
		if v&1 != 0 {
			return nil
		}
		base := rma.Disp(w.Get(0, told+2))
		if v&2 != 0 {
			if !refused(func() { w.Get(0, base) }) {
				return fmt.Errorf("round %d: %v is detached, and can be read", round, base)
			}
			w.Put(0, sums, round)
			continue
		}
		words := make([]byte, 8*5)
		w.GetBytes(0, base, words)
		w.Put(0, base+1, w.Get(0, base)+uint64(words[8]))
		w.Put(0, sums, round)
	}
})

func TestRegionsAcrossProcesses(t *testing.T) {
	f := create(t, 2)
	told, sums := alloc(t, f, 1), alloc(t, f, 1)
	where := alloc(t, f, 1)
	w := window(t, f, 0)
	other := spawn(t, f, reading, 1)
	round := uint64(0)
	ask := func(base rma.Disp, flag uint64) {
		t.Helper()
		round++
		w.Put(0, where, uint64(base))
		w.Put(0, told, round<<32|flag)
		if flag&1 != 0 {
			return
		}
		if _, err := w.Await(background, 0, sums, rma.Is(round)); err != nil {
			t.Fatal(err)
		}
	}
	for _, words := range []int{5, 8, 9, 100_000, 5} {
		r := attach(t, w, words)
		if len(r.Words) != words || slices.Max(r.Words) != 0 {
			t.Errorf("a region of %d words has %d, the largest of them %d", words, len(r.Words), slices.Max(r.Words))
		}
		r.Words[0], r.Words[1] = 40, 2
		ask(r.Base, 0)
		if r.Words[1] != 42 {
			t.Errorf("the other process left %d in the region, want 42", r.Words[1])
		}
		detach(t, w, r.Base)
		ask(r.Base, 2)
	}
	ask(0, 1)
	other.end()
}

func TestDetach(t *testing.T) {
	f := create(t, 2)
	w := window(t, f, 0)
	r := attach(t, w, 10)
	for _, base := range []rma.Disp{0, r.Base + 1, rma.Dynamic(1, 0), rma.Dynamic(rma.MaxSlots-1, 0), rma.Dynamic(0, 1)} {
		if err := w.Detach(base); !errors.Is(err, rma.ErrNotAttached) {
			t.Errorf("Detach(%v): %v, want ErrNotAttached", base, err)
		}
	}
	if !refused(func() { w.Get(0, r.Base+10) }) {
		t.Error("a word behind the region can be read")
	}
	detach(t, w, r.Base)
	if err := w.Detach(r.Base); !errors.Is(err, rma.ErrNotAttached) {
		t.Errorf("the second Detach: %v, want ErrNotAttached", err)
	}
	again := attach(t, w, 10)
	if again.Base == r.Base {
		t.Errorf("a new region has the displacement %v of an old one", r.Base)
	}
	if !refused(func() { w.Get(0, r.Base) }) {
		t.Error("the old displacement reads the new region")
	}
	if &again.Words[0] != &r.Words[0] {
		t.Error("the memory of the old region is not used again")
	}
}

// TestRegionsAreZeroed uses memory again, small and large.
func TestRegionsAreZeroed(t *testing.T) {
	f := create(t, 1)
	w := window(t, f, 0)
	for _, words := range []int{1, 7, 8, 1000, punchWords - 1, punchWords, 3 * punchWords, 100, punchWords + 3, 9} {
		r := attach(t, w, words)
		for i, v := range r.Words {
			if v != 0 {
				t.Fatalf("word %d of a new region of %d words is %d", i, words, v)
			}
			r.Words[i] = 1
		}
		detach(t, w, r.Base)
	}
}

// TestLargeRegionsReturnTheirPages counts the blocks of the file.
func TestLargeRegionsReturnTheirPages(t *testing.T) {
	f := create(t, 1)
	w := window(t, f, 0)
	blocks := func() int64 {
		var s syscall.Stat_t
		if err := control(f.File(), func(fd int) error { return syscall.Fstat(fd, &s) }); err != nil {
			t.Fatal(err)
		}
		return s.Blocks
	}
	r := attach(t, w, 4*punchWords)
	before := blocks()
	for i := range r.Words {
		r.Words[i] = 1
	}
	if used := blocks() - before; used*512 < 8*4*punchWords {
		t.Fatalf("a region of %d words in use has %d blocks", len(r.Words), used)
	}
	detach(t, w, r.Base)
	if left := blocks() - before; left > 0 {
		t.Errorf("after Detach %d of its blocks are left", left)
	}
}

func TestAttachNoSpace(t *testing.T) {
	f, err := Create(Options{Topology: topology.Flat(1), DynamicWords: 100})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := window(t, f, 0)
	for _, words := range []int{-1, 0, 105, rma.MaxRegion + 1} {
		if _, err := w.Attach(words); !errors.Is(err, rma.ErrNoSpace) {
			t.Errorf("Attach(%d): %v, want ErrNoSpace", words, err)
		}
	}
	var regions []rma.Disp
	for range 13 { // once for each granule
		regions = append(regions, attach(t, w, 1).Base)
	}
	var failure *rma.AllocError
	if _, err := w.Attach(1); !errors.As(err, &failure) || failure.Free != 0 {
		t.Errorf("Attach to a full pool: %v, want an AllocError with nothing free", err)
	}
	for _, i := range []int{3, 5, 4, 9} {
		detach(t, w, regions[i])
	}
	if _, err := w.Attach(25); !errors.As(err, &failure) || failure.Free != 24 {
		t.Errorf("Attach of 25 words: %v, want an AllocError with 24 free in a row", err)
	}
	attach(t, w, 24)
}
