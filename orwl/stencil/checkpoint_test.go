package stencil

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/orwl/go-orwl/orwl"
)

var silent = slog.New(slog.NewTextHandler(io.Discard, nil))

// recut is the same trial on other blocks, with other sweeps between exchanges.
func (x trial) recut(t *rapid.T) trial {
	inPlace := x.o.Update == InPlace
	most := 3 // sweeps
	widest, fewest := make([]int, len(x.o.Size)), make([]int, len(x.o.Size))
	for dim, n := range x.o.Size {
		widest[dim] = max(x.a.Halo[dim][0], x.a.Halo[dim][1], x.b.Halo[dim][0], x.b.Halo[dim][1], 1)
		fewest[dim] = 1
		if x.o.Periodic[dim] && inPlace {
			most, fewest[dim] = 1, 2
		}
		most = min(most, max(1, n/widest[dim]))
	}
	x.o.Sweeps = rapid.IntRange(1, most).Draw(t, "other sweeps")
	x.o.Blocks = slices.Clone(x.o.Blocks)
	for dim, n := range x.o.Size {
		if !inPlace || !x.o.Corners || dim == 0 {
			x.o.Blocks[dim] = rapid.IntRange(fewest[dim], max(fewest[dim], min(4, n/(x.o.Sweeps*widest[dim])))).Draw(t, "other blocks")
		}
	}
	return x
}

// play runs a trial on nodes. Each compares its blocks with the sequential sweep.
func (x trial) play(nodes int) error {
	program := func(ctx context.Context, rt *orwl.Runtime) error {
		g, a, err := x.declare(rt)
		if err != nil {
			return err
		}
		if err := rt.Run(ctx); err != nil {
			return err
		}
		if c := g.Checkpoints(); c.Err != nil {
			return c.Err
		}
		if err := g.Verify(ctx); err != nil {
			return err
		}
		_, err = a.Values(ctx)
		return err
	}
	if nodes > 1 {
		return together(nodes, program)
	}
	rt, err := orwl.New(orwl.Options{Log: silent})
	if err != nil {
		return err
	}
	return program(context.Background(), rt)
}

// leg is a run from one checkpoint to the next.
type leg struct {
	trial
	nodes int
}

// drawLegs draws a trial and how it is continued, each time on another cut.
func drawLegs(count, nodes int) func(*rapid.T) []leg {
	return func(t *rapid.T) (legs []leg) {
		x := draw(t)
		for i := range count {
			if i > 0 {
				x = x.recut(t)
				x.sweeps += rapid.IntRange(0, 7).Draw(t, "more sweeps")
			}
			x.o.Checkpoint.Every = rapid.IntRange(1, 5).Draw(t, "every")
			legs = append(legs, leg{x, rapid.IntRange(1, nodes).Draw(t, "nodes")})
		}
		return legs
	}
}

// A grid that continues a checkpoint of another cut computes what the sequential sweep computes,
// bit for bit.
func TestResumeEqualsSequential(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { resumes(t, drawLegs(2, 1)(t)) })
}

// The same on several nodes, each time on another number of them. A third run continues the
// second one.
func TestResumeOnOtherNodes(t *testing.T) {
	for seed := range nodeTrials.Part(1, 3) {
		resumes(t, rapid.Custom(drawLegs(3, 3)).Example(int(seed)))
	}
}

func resumes(t rapid.TB, legs []leg) {
	dir, err := os.MkdirTemp("", "checkpoints")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	for i, x := range legs {
		x.o.Checkpoint.Dir, x.o.Resume = dir, dir
		if err := x.play(x.nodes); err != nil {
			t.Fatalf("leg %d on %d nodes: %v: %v", i, x.nodes, x, err)
		}
		all, err := entries(folder(dir), "grid")
		if err != nil {
			t.Fatal(err)
		}
		found := sets(all)
		if x.sweeps == 0 {
			continue
		}
		if len(found) == 0 || len(found) > keptCheckpoints || found[0][0].sweeps != x.sweeps {
			t.Fatalf("leg %d on %d nodes: %v: it left %v", i, x.nodes, x, found)
		}
	}
}

// A run that a reduction ends saves its last sweep, whichever that is, and ends. Another run goes
// on from there, on another number of nodes.
func TestCheckpointOfAnEndedRun(t *testing.T) {
	for _, update := range []Update{Jacobi, InPlace} {
		for end := range 9 {
			nodes := 1
			if end == 5 {
				nodes = 2
			}
			ended, again := endedRuns(t, update, end, nodes)
			if ended == 100 || again.Resumed != ended {
				t.Errorf("update %d, end %d, %d nodes: ended after %d sweeps, and continued after %d", update, end, nodes, ended, again.Resumed)
			}
		}
	}
}

// endedRuns ends a run of 100 sweeps after Until has been asked about the sweep end, and continues it.
func endedRuns(t *testing.T, update Update, end, nodes int) (ended int, again Checkpoints) {
	t.Helper()
	dir := t.TempDir()
	run := func(nodes int, o Options, sweeps, end int) (swept int, saved Checkpoints) {
		o.Checkpoint, o.Resume = Checkpoint{Dir: dir, Every: 4}, dir
		err := together(nodes, func(ctx context.Context, rt *orwl.Runtime) error {
			g := New(rt, o)
			u := NewField(g, "u", FieldOptions[uint64]{Halo: Around(1), Initial: func(at []int) uint64 { return mixed(1, at...) }})
			sum := NewSum(g, "sum", ReductionOptions{Every: o.Sweeps, Until: func(sweep int, _ float64) bool { return sweep >= end }})
			err := g.Sweep(sweeps, func(b *Block) {
				for r := range b.Rows() {
					west, old, north, next := u.Old(r, 0, -1), u.Old(r), u.Old(r, -1, 0), u.New(r)
					for i := range next {
						next[i] = mixed(old[i], int(west[i]), int(north[i]))
						sum.Add(b, float64(next[i]))
					}
				}
			})
			if err != nil {
				return err
			}
			if err := rt.Run(ctx); err != nil {
				return err
			}
			c := g.Checkpoints()
			if c.Err != nil || c.Newest != g.swept() {
				return fmt.Errorf("%+v, want one after the last of %d sweeps", c, g.swept())
			}
			if rt.Node() == 0 {
				swept, saved = g.swept(), c
			}
			return g.Verify(ctx)
		})
		if err != nil {
			t.Fatalf("update %d, end %d, %d nodes: %v", update, end, nodes, err)
		}
		return swept, saved
	}
	ended, _ = run(nodes, Options{Size: Size{8, 9}, Blocks: Size{2, 2}, Update: update}, 100, end)
	_, again = run(1, Options{Size: Size{8, 9}, Blocks: Size{1, 3}, Update: update, Sweeps: 2}, ended+5, 1000)
	return ended, again
}
