package stencil

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/orwl/go-orwl/orwl"
)

// interrupted runs a grid up to so many sweeps, from a checkpoint in a directory if there is one. Until ends it
// after the sweep end. It returns how many sweeps there were, and what Until was told.
func interrupted(t *testing.T, o Options, r ReductionOptions, dir string, sweeps, end int) (swept int, told map[int]float64) {
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
	told = make(map[int]float64)
	r.Until = func(sweep int, value float64) bool { told[sweep] = value; return sweep >= end }
	sum, most := NewSum(g, "sum", r), NewMax(g, "most", ReductionOptions{Every: o.Sweeps})
	if err := g.Sweep(sweeps, func(b *Block) {
		for r := range b.Rows() {
			west, old, next := u.Old(r, 0, 0, -1), u.Old(r), u.New(r)
			for i := range next {
				next[i] = mixed(old[i], int(west[i]))
				sum.Add(b, math.Float64frombits(next[i]&^(1<<62))) // of all magnitudes up to 2
				most.Add(b, float64(next[i]))
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
// break, on other blocks and sweeps between exchanges, and Until is told the same values. When it has ended, it does not go on.
func TestUntilOverABreak(t *testing.T) {
	const end, most = 5, 60
	for _, r := range []ReductionOptions{{}, {Every: 4, Lag: 12}, {Every: 3, Lag: 1}} {
		_, values := interrupted(t, Options{Blocks: Size{2, 3, 2}}, r, "", most, end)
		every := max(1, r.Every)
		want := (end+every)/every*every + r.Lag
		for _, breaks := range [][]int{{2}, {4, 6}, {7}, {want - 2}, {want - 1, want}, {want + 3}} {
			dir := t.TempDir()
			all := []Options{{Blocks: Size{2, 3, 2}}, {Blocks: Size{2, 2, 1}, Sweeps: 2}, {Blocks: Size{1, 2, 2}, Update: Jacobi}, {Blocks: Size{1, 1, 1}}}
			for i, sweeps := range append(breaks, most, most) {
				o := all[i]
				if every%2 > 0 || r.Lag%2 > 0 {
					o.Sweeps = 0
				}
				swept, told := interrupted(t, o, r, dir, sweeps, end)
				if expect := min(sweeps, want); swept != expect {
					t.Errorf("%+v, breaks %v, run %d: %d sweeps, want %d", r, breaks, i, swept, expect)
				}
				for sweep, value := range told {
					if whole, known := values[sweep]; known && value != whole {
						t.Errorf("%+v, breaks %v, run %d: Until is told %x of sweep %d, want %x", r, breaks, i, value, sweep, whole)
					}
				}
			}
		}
	}
}

// TestFormat1 continues a checkpoint after four sweeps, which the last commit that wrote format 1 has written. It has no
// values of reductions: Until is told the values of the sweeps that follow.
func TestFormat1(t *testing.T) {
	o := Options{Blocks: Size{2, 3, 2}}
	const written, most = 4, 12
	_, want := interrupted(t, o, ReductionOptions{}, "", most, most)
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
	swept, told := interrupted(t, o, ReductionOptions{}, dir, most, most)
	if swept != most || len(told) == 0 {
		t.Errorf("%d sweeps, and Until is told of %d", swept, len(told))
	}
	for sweep, value := range told {
		if sweep < written || value != want[sweep] {
			t.Errorf("Until is told %x of sweep %d, want %x of those from %d on", value, sweep, want[sweep], written)
		}
	}
}
