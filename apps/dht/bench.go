package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"

	"github.com/orwl/go-orwl/apps/dht/volume"
	"github.com/orwl/go-orwl/internal/command"
	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/rma/model"
	"github.com/orwl/go-orwl/net/topology"
)

// runBench is dht bench.
func runBench(f *flag.FlagSet, args []string, out io.Writer) error {
	var o benchFlags
	o.define(f)
	if err := command.ParseFlags(f, args); err != nil {
		return err
	}
	switch {
	case f.NArg() > 0 && o.asCSV:
		return command.Misusef("unexpected argument %q: -csv prints the table, as in: dht bench -csv > %s", f.Arg(0), f.Arg(0))
	case f.NArg() > 0:
		return command.Misusef("unexpected argument %q", f.Arg(0))
	case o.asCSV && o.asJSON:
		return command.Misusef("-json and -csv exclude each other")
	}
	if err := o.suits(command.Given(f)); err != nil {
		return err
	}
	plan, err := o.plan()
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	r := newBenchReport(plan, out, o.asJSON, o.asCSV)
	for i, tree := range plan.trees {
		for _, writes := range plan.writes {
			for _, discipline := range plan.disciplines {
				c := plan.contest
				c.Topology, c.Writes, c.Discipline = tree.String(), writes, discipline
				c.Lock = plan.locks[i]
				result, err := plan.median(ctx, c, tree)
				if err != nil && ctx.Err() != nil {
					return command.ErrInterrupted
				}
				if err != nil {
					return fmt.Errorf("%s, %d ranks, F_W %g %%: %w", discipline, tree.Ranks(), writes, err)
				}
				r.add(c, tree, result)
			}
		}
	}
	return r.finish()
}

// benchPlan is what the flags say, checked.
type benchPlan struct {
	fabric      string
	machine     model.Model // of sim
	nodes       int         // of p2p
	turns       int         // for all fabrics except sim
	trees       []*topology.Tree
	writes      []float64
	disciplines []string
	locks       []locks.Options // for each tree
	contest     contest         // the fields that the lists do not vary
}

// median holds a contest several times, and takes the one of median length. The prediction is
// the same each time.
func (p *benchPlan) median(ctx context.Context, c contest, tree *topology.Tree) (outcome, error) {
	if p.fabric == "sim" {
		return onSim(c, tree, p.machine)
	}
	var all []outcome
	for range p.turns {
		o, err := p.hold(ctx, c, tree)
		if err != nil {
			return o, err
		}
		all = append(all, o)
	}
	slices.SortFunc(all, func(a, b outcome) int { return cmp.Compare(a.took, b.took) })
	return all[len(all)/2], nil
}

// hold holds one contest.
func (p *benchPlan) hold(ctx context.Context, c contest, tree *topology.Tree) (outcome, error) {
	switch p.fabric {
	case "shm":
		return onShm(ctx, c, tree)
	case "p2p":
		return onP2P(ctx, c, tree, p.nodes)
	}
	return onMem(ctx, c, tree)
}

var benchFabrics = []string{"mem", "shm", "p2p", "sim"}

// benchDisciplines are the paper's three.
var benchDisciplines = []string{volume.AtomicsOnly, "foMPI-RW", "RMA-RW"}

// coresPerNode is how many ranks a node has of a machine that -ranks describes,
// as in the paper's runs.
const coresPerNode = 16

// treeOf is the machine for a number of ranks.
func treeOf(fabric string, ranks int) (*topology.Tree, error) {
	switch {
	case fabric != "sim":
		return topology.Flat(ranks), nil
	case ranks <= coresPerNode:
		return topology.Parse(fmt.Sprintf("node:1 core:%d", ranks))
	case ranks%coresPerNode != 0:
		return nil, command.Misusef("-ranks: %d is no multiple of the %d ranks of a node: describe the machine by -topology", ranks, coresPerNode)
	}
	return topology.Parse(fmt.Sprintf("node:%d core:%d", ranks/coresPerNode, coresPerNode))
}

// list takes a flag apart at its commas.
func list(text string) []string {
	parts := strings.Split(text, ",")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return parts
}
