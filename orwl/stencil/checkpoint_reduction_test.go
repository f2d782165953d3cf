package stencil

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/orwl/go-orwl/orwl"
)

// interrupted runs a grid up to so many sweeps, from a checkpoint in a directory if there is one. Until ends it
// after the sweep end. It returns how many sweeps there were, and what Until was told.
func interrupted(t *testing.T, o Options, dir string, sweeps, end int) (swept int, told map[int]uint64) {
	t.Helper()
	rt, err := orwl.New(orwl.Options{Log: silent})
	if err != nil {
		t.Fatal(err)
	}
	o.Size, o.Resume = Size{6, 6, 4}, dir
	if dir != "" {
		o.Checkpoint = Checkpoint{Dir: dir, Every: 1000}
	}
	g := New(rt, o)
	u := NewField(g, "u", FieldOptions[uint64]{Halo: Around(1), Initial: func(at []int) uint64 { return mixed(1, at...) }})
	told = make(map[int]uint64)
	// The value depends on the order of combination.
	order := NewReduction(g, "order", ReductionOptions[uint64]{
		Combine: func(a, b uint64) uint64 { return mixed(a, int(b)) },
		Until:   func(sweep int, value uint64) bool { told[sweep] = value; return sweep >= end },
	})
	if err := g.Sweep(sweeps, func(b *Block) {
		for r := range b.Rows() {
			west, old, next := u.Old(r, 0, 0, -1), u.Old(r), u.New(r)
			for i := range next {
				next[i] = mixed(old[i], int(west[i]))
				order.Put(b, next[i])
			}
		}
	}); err != nil {
		t.Fatal(err)
	}
	if err := rt.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := g.Verify(t.Context()); err != nil {
		t.Fatal(err)
	}
	return g.swept(), told
}

// TestUntilOverABreak breaks a run that Until ends, anywhere, once or twice. It ends after the same sweep as without a
// break, and Until is told the same values. When it has ended, it does not go on.
func TestUntilOverABreak(t *testing.T) {
	for _, o := range []Options{{Blocks: Size{2, 3, 2}}, {Blocks: Size{2, 2, 1}, Sweeps: 2}, {Blocks: Size{3, 2, 2}, Update: InPlace}} {
		const end, most = 5, 60
		want, values := interrupted(t, o, "", most, end)
		if want == most {
			t.Fatalf("%+v: Until has not ended the run", o)
		}
		for _, breaks := range [][]int{{2}, {4, 6}, {7}, {want - 2}, {want - 1, want}, {want + 3}} {
			dir := t.TempDir()
			for i, sweeps := range append(breaks, most, most) {
				swept, told := interrupted(t, o, dir, sweeps, end)
				if expect := min(sweeps, want); swept != expect {
					t.Errorf("%+v, breaks %v, run %d: %d sweeps, want %d", o, breaks, i, swept, expect)
				}
				for sweep, value := range told {
					if all, known := values[sweep]; known && (sweep+1)%max(1, o.Sweeps) == 0 && value != all {
						t.Errorf("%+v, breaks %v, run %d: Until is told %x of sweep %d, want %x", o, breaks, i, value, sweep, all)
					}
				}
			}
		}
	}
}

// TestFormat1 continues a checkpoint after four sweeps, which the last commit that wrote format 1 has written. It has no
// values of reductions: Until is told those of the sweeps that follow.
func TestFormat1(t *testing.T) {
	o := Options{Blocks: Size{2, 3, 2}}
	const written, most = 4, 12
	_, want := interrupted(t, o, "", most, most)
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/format1")); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(filepath.Join(dir, entry{grid: "grid", sweeps: written, of: 1}.String()))
	if err != nil {
		t.Fatal(err)
	}
	if c, err := readContents(bytes.NewReader(file), int64(len(file))); err != nil || c.Version != 1 {
		t.Fatalf("the file has version %d: %v", c.Version, err)
	}
	swept, told := interrupted(t, o, dir, most, most)
	if swept != most || len(told) == 0 {
		t.Errorf("%d sweeps, and Until is told of %d", swept, len(told))
	}
	for sweep, value := range told {
		if sweep < written || value != want[sweep] {
			t.Errorf("Until is told %x of sweep %d, want %x of those from %d on", value, sweep, want[sweep], written)
		}
	}
}
