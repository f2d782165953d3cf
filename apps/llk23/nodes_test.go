package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/orwl/launch"
	"github.com/orwl/go-orwl/orwl/stencil/show"
)

// unhurried is a lease for a machine that may have more to do than it can: no test is about
// silent nodes.
const unhurried = time.Minute

// alone solves f in this process.
func (f *field) alone(ctx context.Context) error {
	return orwl.Run(ctx, orwl.Options{Observers: []orwl.Observer{f}}, func(ctx context.Context, rt *orwl.Runtime) error {
		return f.solve(ctx, rt, show.Silent())
	})
}

// solveOn solves a problem on several nodes, all in this process, over libp2p. It returns what each of them has, and
// node 0's result.
func solveOn(t testing.TB, count int, field func(node int) *field) (done *field, _ []error) {
	t.Helper()
	errs := slices.Repeat([]error{nil}, count)
	address := make(chan string, 1)
	solve := func(i int, p launch.Place) {
		p.Node, p.Nodes, p.Listen = i, count, "127.0.0.1:0"
		f := field(i)
		log := slog.New(slog.DiscardHandler)
		o := orwl.Options{Observers: []orwl.Observer{f}, Log: log, Join: orwl.JoinOptions{Place: &p, Lease: unhurried}}
		errs[i] = orwl.Run(context.Background(), o, func(ctx context.Context, rt *orwl.Runtime) error {
			return f.solve(ctx, rt, show.Silent())
		})
		if i == 0 {
			done = f
		} else if f.final != nil {
			t.Errorf("node %d has a result", i)
		}
	}
	var all sync.WaitGroup
	all.Go(func() { solve(0, launch.Place{Report: func(a string) error { address <- a; return nil }}) })
	root := <-address
	for i := 1; i < count; i++ {
		all.Go(func() { solve(i, launch.Place{Root: root}) })
	}
	all.Wait()
	return done, errs
}

// sides calls yield for each block and each neighbour of it with which it exchanges elements.
func (f *field) sides(yield func(n, neighbour int, diagonal bool)) {
	for n := range f.views {
		for down := -1; down <= 1; down++ {
			for right := -1; right <= 1; right++ {
				row, col := n/f.grid.cols+down, n%f.grid.cols+right
				diagonal := down*right != 0
				if down == 0 && right == 0 || diagonal && f.form == fused || row < 0 || col < 0 || row >= f.grid.rows || col >= f.grid.cols {
					continue
				}
				yield(n, row*f.grid.cols+col, diagonal)
			}
		}
	}
}

// shipped is how many bytes of frontiers go from node to node: each version. A block reads what a later neighbour has
// written in the round before, so the neighbour's last frontier goes, too, though no block reads it.
func shipped(f *field) int64 {
	passes := (f.iters + f.cells.InPass() - 1) / f.cells.InPass()
	cells := 0
	f.sides(func(n, neighbour int, diagonal bool) {
		versions := passes
		if neighbour > n {
			versions++
		}
		switch {
		case f.cells.Node(n) == f.cells.Node(neighbour):
		case diagonal:
			cells += versions
		case n/f.grid.cols == neighbour/f.grid.cols:
			cells += versions * f.each.rows
		default:
			cells += versions * f.each.cols * f.cells.InPass()
		}
	})
	return 8 * int64(cells)
}

// TestFieldOnNodes is TestField on several nodes. The kernels take turns: they do not know about nodes.
// Users run each size on one number of nodes.
func TestFieldOnNodes(t *testing.T) {
	kernels := []kernel{listing(), fast()}
	part := rings.Sampling(rings.Of(3, 1, 1), 15) // one case of so many is played
	for _, count := range []int{2, 3, 4} {
		for f, form := range []form{fused, nine} {
			for g, grid := range []size{{1, 5}, {5, 1}, {2, 2}, {3, 5}, {8, 8}} {
				for e, each := range []size{{1, 1}, {1, 7}, {33, 17}} {
					if (count+f+g+e)%part != 0 {
						continue
					}
					kernel := kernels[(count+g+e)%len(kernels)]
					t.Run(fmt.Sprintf("%d nodes,%s,%s,%v of %v", count, form, kernel.name, grid, each), func(t *testing.T) {
						all := grid.times(each)
						p := problem{rows: all.rows, cols: all.cols, iters: 9, kernel: kernel, values: noise}
						f, errs := solveOn(t, count, func(int) *field { return newField(p, grid, form) })
						if err := errors.Join(errs...); err != nil {
							t.Fatal(err)
						}
						if _, err := verify(t.Context(), f, show.Silent()); err != nil {
							t.Error(err)
						}
						if want := shipped(f); f.shipped != want {
							t.Errorf("%d bytes went from node to node, want %d", f.shipped, want)
						}
						r := newReport(f)
						if sum := r.all.computing() + r.QueuedShare + r.WaitShare + r.all.moving(); sum < 1-1e-9 || sum > 1+1e-9 {
							t.Errorf("the shares add up to %v", sum)
						}
						if alone := newReport(solved(t, p, grid, form)); r.all.account.Imports != alone.all.account.Imports || r.all.account.Bytes != alone.all.account.Bytes {
							t.Errorf("%+v was read, on one node %+v", r.all, alone.all)
						}
					})
				}
			}
		}
	}
}

// TestPassesOnNodes sweeps blocks of several nodes several times in a pass.
func TestPassesOnNodes(t *testing.T) {
	for _, kernel := range kernels {
		for _, each := range []size{{3, 7}, {33, 17}} {
			p := problem{rows: 5 * each.rows, cols: each.cols, iters: 10, sweeps: 3, kernel: kernel, values: noise}
			f, errs := solveOn(t, 3, func(int) *field { return newField(p, size{5, 1}, fused) })
			if err := errors.Join(errs...); err != nil {
				t.Fatal(err)
			}
			if _, err := verify(t.Context(), f, show.Silent()); err != nil {
				t.Errorf("%s, blocks of %v: %v", kernel.name, each, err)
			}
			if want := shipped(f); f.shipped != want {
				t.Errorf("%d bytes went from node to node, want %d", f.shipped, want)
			}
		}
	}
}

var errPlanned = errors.New("planned failure")

// TestFailureOnOneNode lets a node fail before the run, while it prepares its blocks,
// and while it sweeps. All others end, and say which and why.
func TestFailureOnOneNode(t *testing.T) {
	empty, err := os.Open(textFile(t, ""))
	if err != nil {
		t.Fatal(err)
	}
	defer empty.Close()
	for _, when := range []string{"before", "while sweeping"} {
		for failing := range 3 {
			_, errs := solveOn(t, 3, func(node int) *field {
				p := problem{rows: 12, cols: 12, iters: 1 << 30, values: noise, kernel: listing()}
				var calls atomic.Int64
				switch {
				case node == failing && when == "before":
					p.data = &dataFile{file: empty, size: size{14, 14}}
				case node == failing:
					p.kernel = kernel{"failing", func(b *block, from, to int) {
						if calls.Add(1) == 20 {
							panic(errPlanned)
						}
					}}
				}
				return newField(p, size{3, 3}, fused)
			})
			for node, err := range errs {
				var other *orwl.NodeError
				if node != failing && (!errors.As(err, &other) || other.Node != failing) {
					t.Errorf("%s: node %d: %v, want that of node %d", when, node, err, failing)
				}
				if node == failing && (err == nil || errors.As(err, &other)) {
					t.Errorf("%s: node %d: %v, want its own", when, node, err)
				}
			}
		}
	}
}
