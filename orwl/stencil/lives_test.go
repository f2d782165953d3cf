package stencil

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/orwl"
)

var livesTrials = rings.Seeds("stencil.lives", 2, 48, "trials of TestLives and TestFolder")

// longTrial is a grid whose run has several cuts, and the sweep from which on it may end.
func longTrial(seed uint64) (x staged, end int) {
	x = rapid.Custom(drawStaged).Example(int(seed))
	if seed%2 == 1 {
		x.o.Size, x.o.Blocks, x.o.Periodic, x.o.Mirrored, x.halo = Size{10, 8}, Size{5, 4}, nil, nil, Around(1) // so many blocks need joints
		x.r.Every, x.r.Lag = 1+int(seed)%3, int(seed)%4
	}
	x.sweeps = 300
	spins := 500_000
	if rings.Race {
		spins /= 10
	}
	var sum atomic.Uint64
	x.before = func(b *Block) {
		if b.Number() > 0 {
			return
		}
		n := uint64(b.Sweep())
		for range spins { // the other blocks wait for this one
			n = mixed(n, 1)
		}
		sum.Add(n)
	}
	return x, 100 + int(mixed(seed, 1)%220)
}

// undisturbed is what a run of one life computes.
func (x staged) undisturbed(t *testing.T, end int) (cells []uint64, swept int) {
	t.Helper()
	x.before = nil
	rt, err := orwl.New(orwl.Options{Log: silent})
	if err == nil {
		cells, swept, err = x.run(t.Context(), rt, end)
	}
	if err != nil {
		t.Fatal(err)
	}
	return cells, swept
}

// same runs the grid, and compares.
func (x staged) same(ctx context.Context, rt *orwl.Runtime, end int, want []uint64, sweeps int) error {
	got, swept, err := x.run(ctx, rt, end)
	if err == nil && (swept != sweeps || !slices.Equal(got, want)) {
		err = fmt.Errorf("node %d of %d: %d sweeps, want %d, other bits: %v", rt.Node(), rt.Nodes(), swept, sweeps, !slices.Equal(got, want))
	}
	return err
}

// TestLives has lives end at random cuts. The grid has the same bits, and ends after the same sweep.
func TestLives(t *testing.T) {
	rings.Costly(t)
	began, runs := atomic.Int64{}, 0
	for seed := range livesTrials.All() {
		x, end := longTrial(seed)
		want, sweeps := x.undisturbed(t, end)
		for nodes := 1; nodes <= 3; nodes++ {
			t.Setenv("ORWL_LIVES", fmt.Sprint(seed+1))
			err := lively(nodes, orwl.Options{Log: silent}, func(ctx context.Context, rt *orwl.Runtime) error {
				began.Add(1)
				return x.same(ctx, rt, end, want, sweeps)
			})
			if err != nil {
				t.Errorf("trial %d, %d nodes, end %d: %v", seed, nodes, end, err)
			}
			runs += nodes
		}
	}
	if began.Load() == int64(runs) {
		t.Error("no life has ended before its run")
	}
}

var errGone = errors.New("this node is gone")

// TestFolder has all nodes of a run fail. The run goes on from its folder, on another number of nodes.
func TestFolder(t *testing.T) {
	rings.Costly(t)
	resumed := 0
	for seed := range livesTrials.All() {
		x, end := longTrial(seed)
		want, sweeps := x.undisturbed(t, end)
		dir := t.TempDir()
		for leg, nodes := range []int{1 + int(seed)%3, 1 + int(seed+1)%3, 1 + int(seed+2)%3} {
			var first atomic.Int64
			first.Store(math.MaxInt64)
			dies := x
			dies.before = func(b *Block) {
				x.before(b)
				if n := int64(b.Sweep()); b.Number() == 0 {
					first.CompareAndSwap(math.MaxInt64, n) // the blocks after it wait for it
				}
				if files, _ := filepath.Glob(filepath.Join(dir, "*.cut")); leg < 2 && b.Sweep() > 100*(leg+1) && len(files) >= 2*nodes {
					panic(errGone)
				}
			}
			o := orwl.Options{Log: silent, Survive: orwl.Survive{Interval: time.Millisecond, Folder: dir}}
			err := lively(nodes, o, func(ctx context.Context, rt *orwl.Runtime) error { return dies.same(ctx, rt, end, want, sweeps) })
			if gone := err != nil && strings.Contains(err.Error(), errGone.Error()); err != nil && (!gone || leg == 2) {
				t.Errorf("trial %d, leg %d, %d nodes, end %d: %v", seed, leg, nodes, end, err)
			}
			n := first.Load()
			t.Logf("trial %d, %d nodes, blocks %v: from sweep %d", seed, nodes, x.o.Blocks, n)
			if n > 0 && n < math.MaxInt64 {
				resumed++
			}
		}
	}
	if resumed == 0 {
		t.Error("no run has gone on from its folder")
	}
}
