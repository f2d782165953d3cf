package orwl

import (
	"flag"
	"fmt"
	"testing"

	"github.com/orwl/go-orwl/internal/invariant"
	"github.com/orwl/go-orwl/internal/rings"
)

var (
	stepNodes  = flag.Int("orwl.step.nodes", 1, "TestStep: on how many nodes")
	stepRounds = flag.Int("orwl.step.rounds", 0, "TestStep: how many rounds; TestStepIsShort sets both")
)

// stepBars are how many functions a round of a writer and a reader passes that are declared by Each, in how many files.
// It counts what runs in this package and below, without the network: at both nodes if there are two. The bodies'
// views are part of it. The goals are 10 in 4, and 30 in 10: half of what is counted are accessors of one line, which keep
// the explorer and the plan apart. The bars hold today, so that no step grows.
var stepBars = map[int]struct{ functions, files int }{
	1: {56, 17},
	2: {155, 30},
}

// TestStepIsShort counts the functions that a round passes.
func TestStepIsShort(t *testing.T) {
	rings.Needs(t, rings.Night)
	if testing.Short() || invariant.Enabled || rings.Race {
		t.Skip("needs the go command and some seconds, and the ordinary build: asserts are no part of a step")
	}
	program := buildCounted(t, "orwl", "orwl/internal/...", "handle", "resource/...", "internal/...")
	for nodes, bar := range stepBars {
		t.Run(fmt.Sprint("nodes ", nodes), func(t *testing.T) {
			passed := program.passed(1000, func(rounds int) []string {
				return []string{"-test.run=^TestStep$", fmt.Sprint("-orwl.step.nodes=", nodes), fmt.Sprint("-orwl.step.rounds=", rounds)}
			})
			checkStep(t, passed, bar.functions, bar.files)
		})
	}
}

// TestStep runs the rounds, for TestStepIsShort.
func TestStep(t *testing.T) {
	if *stepRounds == 0 {
		t.Skip("is run by TestStepIsShort")
	}
	nodes := []*Nodes{nil}
	if *stepNodes > 1 {
		nodes = crew(t, *stepNodes)
		defer disband(t, nodes)
	}
	each(nodes, func(_ int, n *Nodes) {
		rt := mustNew(t, Options{Nodes: n, Stall: -1})
		r := Array[float64](rt, "r", 4)
		rt.Home(r, 0)
		writer, reader := rt.Task("writer").On(0), rt.Task("reader").On(rt.Nodes()-1)
		out, in := Writes[float64](writer, r), Reads[float64](reader, r)
		writer.Each(*stepRounds, func(int) error {
			out.Slice()[0]++
			return nil
		})
		reader.Each(*stepRounds, func(round int) error {
			if got := in.View().At(0); got != float64(round+1) {
				return fmt.Errorf("round %d reads %v", round, got)
			}
			return nil
		})
		if err := rt.Run(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
