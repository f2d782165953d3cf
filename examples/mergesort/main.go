package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"slices"
	"time"

	"github.com/orwl/go-orwl/handle"
	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/orwl/launch"
	_ "github.com/orwl/go-orwl/orwl/nodes" // for several nodes
	"github.com/orwl/go-orwl/resource"
)

var (
	nodes    = flag.Int("nodes", 2, "start `N` nodes on this machine")
	tcp      = flag.Bool("tcp", false, "share no memory between nodes, as if each had a machine of its own")
	announce = flag.Bool("announce", true, "merge with announcing, too")
	times    = flag.Int("times", 2, "do all this `N` times: the first merges also get memory for the blocks")
	runs     = flag.Int("runs", 16, "merge `N` runs")
	blocks   = flag.Int("blocks", 8, "a run has `N` blocks")
	size     = flag.Int("size", 1<<16, "a block has `N` numbers")
)

func main() {
	flag.Parse()
	if min(*runs, *blocks, *size) < 1 {
		log.Fatal("-runs, -blocks and -size: want at least 1")
	}
	if ended, code := launch.Self(*nodes); ended {
		os.Exit(code)
	}
	if err := orwl.Run(context.Background(), orwl.Options{Join: orwl.JoinOptions{Remote: *tcp}}, mergesort); err != nil {
		log.Fatal(err)
	}
}

// job is the runs and what they are when they are merged.
type job struct {
	rt     *orwl.Runtime
	blocks [][]*resource.Resource // of each run
	want   []uint64               // on the node that merges
	plain  time.Duration          // how long the last merge without announcing has waited
}

// errDiffer is a merge that went wrong.
var errDiffer = errors.New("the runs are merged into something else than all numbers, sorted at once")

func mergesort(ctx context.Context, rt *orwl.Runtime) error {
	j := declare(rt)
	for range *times {
		for _, ahead := range []bool{false, true} {
			if ahead && !*announce {
				continue
			}
			if err := j.sort(ctx); err != nil {
				return err
			}
			if err := j.merge(ctx, ahead); err != nil {
				return err
			}
		}
	}
	return nil
}

func declare(rt *orwl.Runtime) *job {
	j := &job{rt: rt, blocks: make([][]*resource.Resource, *runs)}
	for i := range j.blocks {
		for k := range *blocks {
			j.blocks[i] = append(j.blocks[i], orwl.Array[uint64](rt, fmt.Sprintf("run %d, block %d", i, k), *size))
		}
	}
	if rt.Node() == j.last() {
		for i := range *runs {
			j.want = append(j.want, numbers(i)...)
		}
		slices.Sort(j.want)
	}
	return j
}

// last is the node that merges.
func (j *job) last() int { return j.rt.Nodes() - 1 }

// sort sorts the runs, on all nodes but the last one. It writes all blocks anew, so the last node has
// none of them.
func (j *job) sort(ctx context.Context) error {
	for i, blocks := range j.blocks {
		t := j.rt.Task(fmt.Sprint("sort run ", i)).On(i % max(1, j.last()))
		var out []orwl.Out[uint64]
		for _, b := range blocks {
			out = append(out, orwl.Writes[uint64](t, b))
		}
		t.Each(1, func(int) error {
			sorted := numbers(i)
			slices.Sort(sorted)
			for k, b := range out {
				copy(b.Slice(), sorted[k**size:])
			}
			return nil
		})
	}
	return j.rt.Run(ctx)
}

// merge merges the runs on the last node. The task declares no access: only the numbers say in which order
// it needs the blocks.
func (j *job) merge(ctx context.Context, ahead bool) error {
	j.rt.Task("merge").On(j.last()).Do(func(t *orwl.Task) error {
		merged, took, err := merge(t.Context(), make([]uint64, 0, len(j.want)), j.blocks, ahead)
		if err != nil {
			return err
		}
		if !slices.Equal(merged, j.want) {
			return errDiffer
		}
		j.report(ahead, took)
		return nil
	})
	return j.rt.Run(ctx)
}

// report prints how long a merge has waited for blocks, the first of each run excepted.
func (j *job) report(ahead bool, took handle.Prefetch) {
	each := func(d time.Duration) float64 { return d.Seconds() * 1e3 / float64(max(1, *runs*(*blocks-1))) }
	fmt.Printf("%d numbers are sorted: ", len(j.want))
	if !ahead {
		fmt.Printf("waits %.3f ms for a block\n", each(took.Waited))
		j.plain = took.Waited
		return
	}
	fmt.Printf("announced, waits %.3f ms", each(took.Waited))
	if j.plain > 0 {
		fmt.Printf(", %.0f %% less", 100*(1-took.Waited.Seconds()/j.plain.Seconds()))
	}
	fmt.Printf("; each was on its way for %.3f ms before\n", each(took.Saved))
}

// numbers are the numbers of a run. As in files of measurements, they are from a range of its own, which
// overlaps with the ranges of other runs.
func numbers(run int) []uint64 {
	random := rand.New(rand.NewPCG(uint64(run), 0))
	width := 1<<60 + random.Uint64N(1<<62)
	low := random.Uint64N(1<<63 - width)
	all := make([]uint64, *blocks**size)
	for i := range all {
		all[i] = low + random.Uint64N(width)
	}
	return all
}
