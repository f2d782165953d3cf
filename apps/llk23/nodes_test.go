package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/orwl/launch"
)

// unhurried is a lease for a machine that may have more to do than it can: no test is about
// silent nodes.
const unhurried = time.Minute

// crew are the nodes of a run, all in this process, over libp2p.
func crew(t testing.TB, count int) []*orwl.Nodes {
	t.Helper()
	nodes, errs := make([]*orwl.Nodes, count), make([]error, count)
	address := make(chan string, 1)
	join := func(i int, p launch.Place) {
		p.Node, p.Nodes, p.Listen = i, count, "127.0.0.1:0"
		nodes[i], errs[i] = orwl.Join(context.Background(), orwl.JoinOptions{Place: &p, Lease: unhurried, Log: slog.New(slog.DiscardHandler)})
	}
	var all sync.WaitGroup
	all.Go(func() { join(0, launch.Place{Report: func(a string) error { address <- a; return nil }}) })
	root := <-address
	for i := 1; i < count; i++ {
		all.Go(func() { join(i, launch.Place{Root: root}) })
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return nodes
}

// solveOn solves a problem on several nodes, and returns what each of them has, and
// node 0's result.
func solveOn(t testing.TB, count int, tr func() *tracing, make func(node int) *field) (*measured, *tracing, []error) {
	t.Helper()
	var done *measured
	var seen *tracing
	errs := slices.Repeat([]error{nil}, count)
	var all sync.WaitGroup
	for i, n := range crew(t, count) {
		all.Go(func() {
			tr := tr()
			f, err := make(i).on(n).solve(context.Background(), tr, quiet())
			errs[i] = err
			if i == 0 {
				done, seen = f, tr
			} else if f != nil {
				t.Errorf("node %d has a result", i)
			}
			if err := n.Close(context.Background()); err != nil {
				t.Errorf("node %d of %d: %v", i, count, err)
			}
		})
	}
	all.Wait()
	return done, seen, errs
}

func untraced() *tracing { return nil }

// shipped is how many bytes of frontiers go from node to node.
func shipped(f *field) int64 {
	total := int64(0)
	for _, p := range f.parts {
		for d, q := range f.sides(p) {
			if p.node != q.node {
				total += 8 * int64(p.extent.border(d).cells()) * int64(f.passes())
			}
		}
	}
	return total
}

// TestFieldOnNodes is TestField on several nodes.
func TestFieldOnNodes(t *testing.T) {
	for _, count := range []int{2, 3, 4} {
		for _, form := range []form{fused, nine} {
			for _, kernel := range knownKernels(t) {
				for _, grid := range []size{{1, 5}, {5, 1}, {2, 2}, {3, 5}, {8, 8}} {
					for _, each := range []size{{1, 1}, {1, 7}, {33, 17}} {
						t.Run(fmt.Sprintf("%d nodes,%s,%s,%v of %v", count, form, kernel.name, grid, each), func(t *testing.T) {
							all := grid.times(each)
							p := problem{rows: all.rows, cols: all.cols, iters: 9, kernel: kernel, values: noise}
							f, _, errs := solveOn(t, count, untraced, func(int) *field { return newField(p, grid, form) })
							if err := errors.Join(errs...); err != nil {
								t.Fatal(err)
							}
							if _, err := verify(t.Context(), f.field, quiet()); err != nil {
								t.Error(err)
							}
							if want := shipped(f.field); f.shipped != want {
								t.Errorf("%d bytes went from node to node, want %d", f.shipped, want)
							}
							r := newReport(f)
							if sum := r.mean().computing() + r.WaitShare + r.mean().moving(); sum < 1-1e-9 || sum > 1+1e-9 {
								t.Errorf("the shares add up to %v", sum)
							}
							if alone := newReport(solved(t, p, grid, form)); r.tally.Reads != alone.tally.Reads || r.tally.Bytes != alone.tally.Bytes {
								t.Errorf("%+v was read, on one node %+v", r.tally, alone.tally)
							}
						})
					}
				}
			}
		}
	}
}

// TestPassesOnNodes sweeps blocks of several nodes several times in a pass.
func TestPassesOnNodes(t *testing.T) {
	for _, kernel := range knownKernels(t) {
		for _, each := range []size{{3, 7}, {33, 17}} {
			p := problem{rows: 5 * each.rows, cols: each.cols, iters: 10, sweeps: 3, kernel: kernel, values: noise}
			f, _, errs := solveOn(t, 3, untraced, func(int) *field { return newField(p, size{5, 1}, fused) })
			if err := errors.Join(errs...); err != nil {
				t.Fatal(err)
			}
			if _, err := verify(t.Context(), f.field, quiet()); err != nil {
				t.Errorf("%s, blocks of %v: %v", kernel.name, each, err)
			}
			if want := shipped(f.field); f.shipped != want {
				t.Errorf("%d bytes went from node to node, want %d", f.shipped, want)
			}
		}
	}
}

// TestMemoryOnNodes checks that a node has its own blocks only, until node 0 gets the blocks of
// all, without coefficients.
func TestMemoryOnNodes(t *testing.T) {
	const count = 3
	p := problem{rows: 12, cols: 12, iters: 3, values: noise}
	grid := size{3, 3}
	var fields [count]*field
	var wrong atomic.Int64
	f, _, errs := solveOn(t, count, untraced, func(node int) *field {
		p := p
		var f *field
		p.kernel = kernel{"looking", func(b *block, from, to int) {
			for _, part := range f.parts {
				if (part.block != nil) != (part.node == node) {
					wrong.Add(1)
				}
			}
			sweepListing(b, from, to)
		}}
		f = newField(p, grid, fused)
		fields[node] = f
		return f
	})
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	if wrong.Load() > 0 {
		t.Error("while blocks are swept, nodes have blocks of others, or lack their own")
	}
	for node, f := range fields {
		for _, part := range f.parts {
			if has, want := part.block != nil, node == 0 || part.node == node; has != want {
				t.Errorf("in the end node %d has %v of node %d: %v, want %v", node, part, part.node, has, want)
			}
			if part.block != nil && part.block.planes[planeZz].cells != nil {
				t.Errorf("in the end node %d has coefficients of %v", node, part)
			}
		}
	}
	p.kernel = listing()
	if err := compare(t.Context(), f.result(), reference(t, p)); err != nil {
		t.Error(err)
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
			_, _, errs := solveOn(t, 3, untraced, func(node int) *field {
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

// TestPipe sends bytes in pieces that fit chunks, and that do not.
func TestPipe(t *testing.T) {
	chunk := pipeSize(1) - pipeHead
	for _, pieces := range [][]int{{}, {0}, {1}, {chunk}, {chunk + 1}, {3, chunk, 2 * chunk}, {chunk - 1, 1, 1}} {
		rt, err := orwl.New(orwl.Options{})
		if err != nil {
			t.Fatal(err)
		}
		pipe := rt.Resource("pipe", pipeSize(1))
		var sent, got []byte
		from, to := rt.Task("from"), rt.Task("to")
		w, r := from.Write(pipe), to.Read(pipe)
		from.Do(func(task *orwl.Task) error {
			w := &pipeWriter{Access: w, ctx: task.Context()}
			for _, n := range pieces {
				piece := make([]byte, n)
				for i := range piece {
					piece[i] = byte(len(sent))
					sent = append(sent, piece[i])
				}
				if wrote, err := w.Write(piece); wrote != n || err != nil {
					t.Errorf("%d of %d written, %v", wrote, n, err)
				}
			}
			return w.Close()
		})
		to.Do(func(task *orwl.Task) (err error) {
			got, err = io.ReadAll(&pipeReader{Access: r, ctx: task.Context()})
			return err
		})
		if err := rt.Run(t.Context()); err != nil || !slices.Equal(got, sent) {
			t.Errorf("pieces of %d: %d bytes came, %v, want %d", pieces, len(got), err, len(sent))
		}
	}
}
