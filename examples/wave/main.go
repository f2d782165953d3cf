// A wave on a membrane whose edge is fixed. It needs two generations: New holds the one before
// Old until the kernel writes it.
//
//	go run ./examples/wave -side 400 -sweeps 5000 -film wave.gif
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"log"
	"math"
	"time"

	"github.com/google/renameio/v2/maybe"

	"github.com/orwl/go-orwl/orwl"
	_ "github.com/orwl/go-orwl/orwl/nodes" // for several nodes
	"github.com/orwl/go-orwl/orwl/stencil"
	"github.com/orwl/go-orwl/orwl/stencil/picture"
)

var (
	side   = flag.Int("side", 200, "cells on a side")
	sweeps = flag.Int("sweeps", 500, "how often the membrane is swept")
	file   = flag.String("film", "", "write an animated GIF of the run to this file")
)

const speed = 0.25 // cells per sweep, squared

func main() {
	flag.Parse()
	if err := orwl.Run(context.Background(), orwl.Options{}, wave); err != nil {
		log.Fatal(err)
	}
}

// drop is the height at first, and that of the sweep before: nothing moves.
func drop(at []int) float64 {
	y, x := float64(at[0]-*side/2), float64(at[1]-*side/3)
	return math.Exp(-(x*x + y*y) / float64(*side))
}

func wave(ctx context.Context, rt *orwl.Runtime) error {
	g := stencil.New(rt, stencil.Options{Size: stencil.Size{*side, *side}, Sweeps: 2})
	u := stencil.NewField(g, "height", stencil.FieldOptions[float64]{Halo: stencil.Around(1), Initial: drop, Previous: drop})
	err := g.Sweep(*sweeps, func(b *stencil.Block) {
		for r := range b.Rows() {
			old, next := u.Old(r), u.New(r)
			north, south, west, east := u.Old(r, -1, 0), u.Old(r, 1, 0), u.Old(r, 0, -1), u.Old(r, 0, 1)
			for i := range next {
				next[i] = 2*old[i] - next[i] + speed*(north[i]+south[i]+west[i]+east[i]-4*old[i])
			}
		}
	})
	if err != nil {
		return err
	}
	filmed := film(ctx, u)
	if err := rt.Run(ctx); err != nil {
		return err
	}
	if err := filmed(); err != nil {
		return err
	}
	fmt.Printf("%v, %d sweeps\n", g, *sweeps)
	return g.Verify(ctx)
}

// film begins to film the run. The result ends that and writes the file.
func film(ctx context.Context, u *stencil.Field[float64]) (end func() error) {
	if *file == "" {
		return func() error { return nil }
	}
	var movie picture.Movie
	ctx, cut := context.WithCancel(ctx)
	done := make(chan error)
	go func() {
		done <- picture.Film(ctx, u, time.Second/20, &movie, func(s stencil.Snapshot[float64]) picture.Picture {
			return picture.Picture{{
				Title: fmt.Sprintf("height after %d sweeps", s.Last),
				Rows:  *side, Cols: *side, Values: picture.Cells(s.Cells, *side), Least: -0.2, Most: 0.2,
			}}
		})
	}()
	return func() error {
		cut()
		if err := <-done; err != nil {
			return err
		}
		var gif bytes.Buffer
		if err := movie.GIF(&gif); err != nil {
			return err
		}
		return maybe.WriteFile(*file, gif.Bytes(), 0o666) // whole, or not at all
	}
}
