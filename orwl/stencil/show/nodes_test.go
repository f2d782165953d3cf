package show

import (
	"bytes"
	"context"
	"errors"
	"image/gif"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/orwl/launch"
	_ "github.com/orwl/go-orwl/orwl/nodes"
	"github.com/orwl/go-orwl/orwl/stencil"
)

// A film of two nodes equals the film of one, also if a cell is not drawn as 0 that a node does not have.
func TestFilmOfNodes(t *testing.T) {
	alone, name := filepath.Join(t.TempDir(), "alone.gif"), filepath.Join(t.TempDir(), "nodes.gif")
	gradient := func(look Look) func(ctx context.Context, rt *orwl.Runtime) error {
		return func(ctx context.Context, rt *orwl.Runtime) error {
			g := stencil.New(rt, stencil.Options{Size: stencil.Size{20, 30}, Blocks: stencil.Size{2, 3}})
			u := stencil.NewField(g, "u", stencil.FieldOptions[float64]{Halo: stencil.Around(1), Initial: func(at []int) float64 { return float64(at[0] * at[1]) }})
			if err := g.Sweep(12, func(b *stencil.Block) {
				for r := range b.Rows() {
					west, next := u.Old(r, 0, -1), u.New(r)
					copy(next, west)
				}
			}); err != nil {
				return err
			}
			// A cell that is zero is drawn as 100, and the legend begins at 120.
			return look.Run(ctx, By(u, func(v float64) float64 { return v + 100 }).Between(120, 500))
		}
	}
	rt, err := orwl.New(orwl.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := gradient(Look{Plot: alone})(t.Context(), rt); err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	address := make(chan string, 1)
	errs := make([]error, 2)
	run := func(i int, p launch.Place) {
		p.Node, p.Nodes, p.Listen = i, 2, "127.0.0.1:0"
		errs[i] = orwl.Run(t.Context(), orwl.Options{Log: log, Join: orwl.JoinOptions{Place: &p, Lease: time.Minute, Log: log}}, gradient(Look{Plot: name}))
	}
	var all sync.WaitGroup
	all.Go(func() { run(0, launch.Place{Report: func(a string) error { address <- a; return nil }}) })
	root := <-address
	all.Go(func() { run(1, launch.Place{Root: root}) })
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(alone)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if all, err := gif.DecodeAll(bytes.NewReader(got)); err != nil || len(all.Image) != 13 || !bytes.Equal(got, want) {
		t.Errorf("%v, %d frames, and as on one node: %v", err, len(all.Image), bytes.Equal(got, want))
	}
}
