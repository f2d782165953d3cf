package same

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/orwl/launch"
	"github.com/orwl/go-orwl/orwl/stencil"
)

// trials are numbers of nodes, how the grid is cut, and whether lives of the run end without a fault: see ORWL_LIVES.
var trials = []struct {
	nodes  int
	blocks stencil.Size
	lives  string
}{
	{1, stencil.Size{1, 1}, ""},
	{1, stencil.Size{2, 3}, ""},
	{1, stencil.Size{1, 7}, ""},
	{1, nil, ""}, // the grid chooses
	{2, stencil.Size{2, 2}, ""},
	{3, stencil.Size{4, 5}, ""},
	{5, stencil.Size{5, 1}, ""},
	{1, nil, "1"},
	{3, stencil.Size{2, 2}, "2"},
}

// Bits sweeps the grid that a function declares so often at most, and compares the cells of the field that it returns. It
// also compares them with the sequential sweep. It returns the cells and the sweeps.
func Bits(t *testing.T, size stencil.Size, sweeps int, declare func(g *stencil.Grid) *stencil.Field[float64]) (cells []float64, swept int) {
	t.Helper()
	for i, trial := range trials {
		if rings.Sampled() && i%4 > 0 {
			continue
		}
		var mu sync.Mutex
		t.Setenv("ORWL_LIVES", trial.lives)
		err := together(t.Context(), trial.nodes, func(ctx context.Context, rt *orwl.Runtime) error {
			g := stencil.New(rt, stencil.Options{Size: size, Blocks: trial.blocks})
			u := declare(g)
			if err := g.Sweep(sweeps); err != nil {
				return err
			}
			if err := rt.Run(ctx); err != nil {
				return err
			}
			if err := g.Verify(ctx); err != nil {
				return err
			}
			got, err := u.Values(ctx)
			if err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			n := g.Sweeps()
			if i == 0 {
				cells, swept = got, n
			}
			if n != swept || !slices.Equal(got, cells) {
				return fmt.Errorf("%d sweeps, want %d, and the same bits: %t", n, swept, slices.Equal(got, cells))
			}
			return nil
		})
		if err != nil {
			t.Errorf("%d nodes, blocks %v, ORWL_LIVES=%s: %v", trial.nodes, trial.blocks, trial.lives, err)
		}
	}
	return cells, swept
}

// together runs a program on so many nodes, all in this process.
func together(ctx context.Context, count int, program func(ctx context.Context, rt *orwl.Runtime) error) error {
	if count == 1 {
		return orwl.Run(ctx, orwl.Options{}, program)
	}
	errs := make([]error, count)
	address := make(chan string, 1)
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	run := func(i int, p launch.Place) {
		p.Node, p.Nodes, p.Listen = i, count, "127.0.0.1:0"
		// A busy machine loses no node.
		errs[i] = orwl.Run(ctx, orwl.Options{Log: log, Join: orwl.JoinOptions{Place: &p, Lease: time.Minute, Log: log}}, program)
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
