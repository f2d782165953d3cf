package stencil

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/orwl/launch"
	_ "github.com/orwl/go-orwl/orwl/nodes"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var silent = slog.New(slog.NewTextHandler(io.Discard, nil))

// together runs a program on so many nodes, all in this process.
func together(count int, program func(ctx context.Context, rt *orwl.Runtime) error) error {
	if count == 1 {
		rt, err := orwl.New(orwl.Options{})
		if err != nil {
			return err
		}
		return program(context.Background(), rt)
	}
	return lively(count, orwl.Options{Log: silent}, program)
}

// lively runs a program by [orwl.Run] on so many nodes, all in this process.
func lively(count int, o orwl.Options, program func(ctx context.Context, rt *orwl.Runtime) error) error {
	errs := make([]error, count)
	address := make(chan string, 1)
	run := func(i int, p launch.Place) {
		p.Node, p.Nodes, p.Listen = i, count, "127.0.0.1:0"
		o := o
		o.Join = orwl.JoinOptions{Place: &p, Lease: time.Minute, Log: silent} // a busy machine loses none
		errs[i] = orwl.Run(context.Background(), o, program)
	}
	if count == 1 {
		run(0, launch.Place{})
		return errs[0]
	}
	var all sync.WaitGroup
	all.Go(func() { run(0, launch.Place{Report: func(a string) error { address <- a; return nil }}) })
	root := <-address
	for i := 1; i < count; i++ {
		all.Go(func() { run(i, launch.Place{Root: root}) })
	}
	all.Wait()
	return errors.Join(errs...)
}

var nodeTrials = rings.Seeds("stencil.nodes", 5, 240, "trials of TestNodes")

// The same on several nodes. Each node compares its own blocks, and node 1 asks all others for
// theirs.
func TestNodes(t *testing.T) {
	for seed := range nodeTrials.All() {
		x := rapid.Custom(draw).Example(int(seed))
		nodes := 2 + int(seed%2)
		err := together(nodes, func(ctx context.Context, rt *orwl.Runtime) error {
			g, a, err := x.declare(rt)
			if err != nil {
				return err
			}
			if err := rt.Run(ctx); err != nil {
				return err
			}
			if err := g.Verify(ctx); err != nil || rt.Node() != 1 {
				return err
			}
			_, err = a.Values(ctx)
			return err
		})
		if err != nil {
			t.Fatalf("trial %d, %v, %d nodes: %v", seed, x, nodes, err)
		}
	}
}

// A node without a block of the grid learns after how many sweeps the run has ended, from the record of the reduction that ends it.
func TestEndWithoutBlocks(t *testing.T) {
	const last, lag = 6, 3
	err := together(3, func(ctx context.Context, rt *orwl.Runtime) error {
		g := New(rt, Options{Size: Size{8}, Blocks: Size{2}})
		u := NewField(g, "u", FieldOptions[float64]{})
		ends := NewMax(g, "ends", ReductionOptions{Lag: lag, Until: func(_ int, v float64) bool { return v >= last }})
		sum := NewSum(g, "a sum that ends nothing", ReductionOptions{})
		if err := g.Sweep(100, func(b *Block) {
			for row := range b.Rows() {
				for i, old := range u.Old(row) {
					u.New(row)[i] = old + 1
				}
				ends.Add(b, u.New(row)...)
				sum.Add(b, 1)
			}
		}); err != nil {
			return err
		}
		if err := rt.Run(ctx); err != nil {
			return err
		}
		if rt.Node() == 2 && len(g.tiles) > 2 {
			t.Error("node 2 may have a block: nothing is tested")
		}
		if err := g.Verify(ctx); err != nil {
			return err
		}
		if got := g.Sweeps(); got != last+lag {
			t.Errorf("node %d: the run has ended after %d sweeps, want %d", rt.Node(), got, last+lag)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
