package main

import (
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"time"

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

// benchReport is a table under way: each row is printed when it is known.
type benchReport struct {
	out           io.Writer
	asJSON, asCSV bool

	Fabric     string     `json:"fabric"`
	Machine    string     `json:"machine,omitempty"`
	Nodes      int        `json:"nodes,omitempty"`
	Operations int        `json:"operations_of_each_rank"`
	Elements   int        `json:"elements"`
	Buckets    int        `json:"buckets"`
	Rows       []benchRow `json:"rows"`
}

// benchRow is one contest.
type benchRow struct {
	Ranks      int     `json:"ranks"`
	Topology   string  `json:"topology"`
	Writes     float64 `json:"writes_percent"`
	Discipline string  `json:"discipline"`
	Operations int     `json:"operations"` // of all ranks
	Seconds    float64 `json:"seconds"`
	PerSecond  float64 `json:"operations_per_second"`
	// Faster is the throughput divided by the throughput of the first discipline of the same
	// contest.
	Faster  float64 `json:"of_the_first"`
	Inserts int     `json:"inserts"`
	Refused int     `json:"refused"`
}

func newBenchReport(p *benchPlan, out io.Writer, asJSON, asCSV bool) *benchReport {
	r := &benchReport{out: out, asJSON: asJSON, asCSV: asCSV, Fabric: p.fabric,
		Operations: p.contest.Operations, Elements: p.contest.Elements, Buckets: p.contest.Buckets}
	where := ""
	switch p.fabric {
	case "sim":
		r.Machine = p.machine.Name
		where = fmt.Sprintf(", %s (%s)", p.machine.Name, p.machine.Source)
	case "p2p":
		r.Nodes = p.nodes
		where = fmt.Sprintf(", %d nodes on this machine", p.nodes)
	}
	if r.text() {
		fmt.Fprintf(out, "%s%s: each rank but one makes %d operations on a volume of %d elements in %d buckets\n\n",
			p.fabric, where, r.Operations, r.Elements, r.Buckets)
		fmt.Fprintf(out, "%6s %6s  %-11s %12s %12s %8s %9s %8s\n", "ranks", "F_W %", "discipline", "total", "ops/s", "of first", "inserts", "refused")
	}
	return r
}

func (r *benchReport) add(c contest, tree *topology.Tree, o outcome) {
	ranks := tree.Ranks()
	row := benchRow{
		Ranks: ranks, Topology: c.Topology, Writes: c.Writes, Discipline: c.Discipline,
		Operations: (ranks - 1) * c.Operations, Seconds: o.took.Seconds(), Faster: 1, Inserts: o.inserts, Refused: o.refused,
	}
	if o.took > 0 {
		row.PerSecond = float64(row.Operations) / row.Seconds
	}
	for _, first := range r.Rows {
		if first.Topology == row.Topology && first.Writes == row.Writes && row.PerSecond > 0 {
			row.Faster = row.PerSecond / first.PerSecond
			break
		}
	}
	r.Rows = append(r.Rows, row)
	if r.text() {
		fmt.Fprintf(r.out, "%6d %6g  %-11s %12v %12.4g %8.2f %9d %8d\n", row.Ranks, row.Writes, row.Discipline,
			o.took.Round(time.Microsecond), row.PerSecond, row.Faster, row.Inserts, row.Refused)
	}
}

// text reports whether people read the table. They see each row when it is known.
func (r *benchReport) text() bool { return !r.asJSON && !r.asCSV }

func (r *benchReport) finish() error {
	switch {
	case r.asJSON:
		return json.NewEncoder(r.out).Encode(r)
	case r.asCSV:
		return r.writeCSV()
	}
	return nil
}

func (r *benchReport) writeCSV() error {
	lines := [][]string{{"fabric", "ranks", "topology", "writes_percent", "discipline", "operations", "seconds", "operations_per_second", "of_the_first", "inserts", "refused"}}
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
	for _, row := range r.Rows {
		lines = append(lines, []string{r.Fabric, strconv.Itoa(row.Ranks), row.Topology, number(row.Writes), row.Discipline,
			strconv.Itoa(row.Operations), number(row.Seconds), number(row.PerSecond), number(row.Faster),
			strconv.Itoa(row.Inserts), strconv.Itoa(row.Refused)})
	}
	return csv.NewWriter(r.out).WriteAll(lines)
}
