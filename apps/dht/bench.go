package main

import (
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
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
	"github.com/orwl/go-orwl/net/sim"
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

// The limits keep a slip of the finger from asking for all memory.
const (
	mostBenchRanks      = 1 << 12
	mostBenchOperations = 1 << 24
	mostBenchElements   = 1 << 24
	mostBenchNodes      = 64
	mostBenchTurns      = 1 << 10
)

// benchFlags are the flags of dht bench.
type benchFlags struct {
	fabric, ranks, topology, machine string
	writes, disciplines              string
	operations, elements, buckets    int
	heap, nodes, turns               int
	tl                               string
	tdc, tr                          int
	seed                             uint64
	asJSON, asCSV                    bool
}

func (o *benchFlags) define(f *flag.FlagSet) {
	o.nodes, o.turns, o.operations, o.elements, o.heap = 2, 3, 1000, 4096, -1
	f.StringVar(&o.fabric, "window", "mem", command.Usage("window", ", sim (predicted)"))
	f.StringVar(&o.ranks, "ranks", "8", "with `N` ranks, or each of several numbers with commas between: one keeps the volume, the others use it; on sim, nodes of 16 cores")
	f.StringVar(&o.topology, "topology", "", "the machine, instead of -ranks: "+command.Usage("topology", ""))
	f.StringVar(&o.machine, "machine", "piz-daint", command.Usage("machine", " of -window sim: a file that orwl-lab model -json wrote, or one of "+strings.Join(machineNames(), ", ")))
	f.Var(command.Whole(&o.nodes, 2, mostBenchNodes), "nodes", "of -window p2p, `N` nodes, which are processes: the first keeps the volume, the others have the ranks that use it")
	f.Var(command.Whole(&o.turns, 1, mostBenchTurns), "repeats", "of all but sim, "+command.Usage("repeats", ""))
	f.StringVar(&o.writes, "fw", "0,2,5,20", command.Usage("fw", "; here they insert"))
	f.StringVar(&o.disciplines, "disciplines", strings.Join(benchDisciplines, ","), "how ranks are kept apart: `NAME,...` of "+strings.Join(volume.Disciplines(), ", "))
	f.Var(command.Whole(&o.operations, 1, mostBenchOperations), "ops", "each rank makes `N` operations")
	f.Var(command.Whole(&o.elements, 1, mostBenchElements), "elements", "`N` elements are there from the beginning, and looked up")
	f.Var(command.Whole(&o.buckets, 0, mostBenchElements), "buckets", "the table has `N` buckets; as many as there are elements if 0")
	f.Var(command.Whole(&o.heap, -1, volume.MaxCells-mostBenchElements), "heap", "the overflow heap has `N` cells; enough for all inserts if -1. With too few, inserts are refused and counted")
	f.StringVar(&o.tl, "tl", "", command.Usage("tl", "; one number is for all levels; "+strconv.Itoa(locks.DefaultTL)+" by default"))
	f.Var(command.Whole(&o.tdc, 0, mostBenchRanks), "tdc", command.Usage("tdc", "; one in each element of the finest level if 0"))
	f.Var(command.Whole(&o.tr, 0, 1<<20), "tr", command.Usage("tr", "; "+strconv.Itoa(locks.DefaultTR)+" if 0"))
	f.Uint64Var(&o.seed, "seed", 1, command.Usage("seed", " of what each rank does"))
	f.BoolVar(&o.asJSON, "json", false, command.Usage("json", ""))
	f.BoolVar(&o.asCSV, "csv", false, command.Usage("csv", ""))
	for old, name := range map[string]string{"fabric": "window", "writes": "fw", "turns": "repeats"} {
		command.Old(f, old, name)
	}
}

// suits complains about a flag that was given and has no effect beside the others.
func (o *benchFlags) suits(given map[string]bool) error {
	rw := slices.Contains(list(o.disciplines), "RMA-RW")
	for _, rule := range []struct {
		flag string
		fits bool
		why  string
	}{
		{"machine", o.fabric == "sim", "is for -window sim"},
		{"nodes", o.fabric == "p2p", "is for -window p2p"},
		{"repeats", o.fabric != "sim", "is not for -window sim, whose time has no noise"},
		{"ranks", !given["topology"], "says nothing beside -topology, which has a number of ranks"},
		{"tl", rw, "is for RMA-RW, which is not among -disciplines"},
		{"tdc", rw, "is for RMA-RW, which is not among -disciplines"},
		{"tr", rw, "is for RMA-RW, which is not among -disciplines"},
	} {
		if given[rule.flag] && !rule.fits {
			return command.Misusef("-%s %s", rule.flag, rule.why)
		}
	}
	return nil
}

// plan is what the flags say, checked.
func (o *benchFlags) plan() (*benchPlan, error) {
	if err := oneOf("window", o.fabric, benchFabrics); err != nil {
		return nil, err
	}
	p := &benchPlan{fabric: o.fabric, nodes: o.nodes, turns: o.turns, disciplines: list(o.disciplines)}
	for _, d := range p.disciplines {
		if err := oneOf("disciplines", d, volume.Disciplines()); err != nil {
			return nil, err
		}
	}
	var err error
	if p.writes, err = o.percents(); err != nil {
		return nil, err
	}
	if p.trees, err = o.trees(); err != nil {
		return nil, err
	}
	if p.machine, err = machineOf(o.machine); err != nil {
		return nil, err
	}
	p.contest = contest{Operations: o.operations, Elements: o.elements, Buckets: o.buckets, Heap: o.heap, Seed: o.seed}
	if o.buckets == 0 {
		p.contest.Buckets = o.elements
	}
	if least := o.elements; o.heap >= 0 && p.contest.Buckets+o.heap < least {
		return nil, command.Misusef("-heap is %d, want at least %d for %d elements in %d buckets", o.heap, least-p.contest.Buckets, least, p.contest.Buckets)
	}
	return p, o.thresholds(p)
}

// thresholds sets RMA-RW's options, and has the lock refuse those it cannot take.
func (o *benchFlags) thresholds(p *benchPlan) error {
	rw, _ := locks.ByName("RMA-RW")
	var err error
	for _, tree := range p.trees {
		l := locks.Options{TDC: o.tdc, TR: o.tr}
		if l.TL, err = o.levels(tree); err != nil {
			return err
		}
		if err := rw.Validate(tree, l); err != nil {
			return command.Misusef("%w", err)
		}
		p.locks = append(p.locks, l)
	}
	return nil
}

// levels are the thresholds T_L of a machine.
func (o *benchFlags) levels(tree *topology.Tree) (all []int, err error) {
	if o.tl == "" {
		return nil, nil
	}
	for _, text := range list(o.tl) {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 || n > 1<<20 {
			return nil, command.Misusef("-tl has %q, want numbers, 0 to %d", text, 1<<20)
		}
		all = append(all, n)
	}
	switch {
	case len(all) > 1:
	case all[0] == 0: // the default
		return nil, nil
	default:
		all = slices.Repeat(all, tree.Levels())
	}
	return all, nil
}

func (o *benchFlags) percents() ([]float64, error) {
	var all []float64
	for _, text := range list(o.writes) {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || !(v >= 0 && v <= 100) {
			return nil, command.Misusef("-fw has %q, want percentages, 0 to 100", text)
		}
		all = append(all, v)
	}
	return all, nil
}

// trees are the machines to play on.
func (o *benchFlags) trees() ([]*topology.Tree, error) {
	if o.topology != "" {
		tree, err := topology.Parse(o.topology)
		if err != nil {
			return nil, command.Misusef("-topology: %w", err)
		}
		if n := tree.Ranks(); n < 2 || n > mostBenchRanks {
			return nil, command.Misusef("-topology has %d ranks, want 2 to %d", n, mostBenchRanks)
		}
		return []*topology.Tree{tree}, nil
	}
	var all []*topology.Tree
	for _, text := range list(o.ranks) {
		n, err := strconv.Atoi(text)
		if err != nil || n < 2 || n > mostBenchRanks {
			return nil, command.Misusef("-ranks has %q, want numbers, 2 to %d", text, mostBenchRanks)
		}
		tree, err := treeOf(o.fabric, n)
		if err != nil {
			return nil, err
		}
		all = append(all, tree)
	}
	return all, nil
}

func machineNames() []string {
	var names []string
	for _, m := range sim.Machines() {
		names = append(names, m.Name)
	}
	return names
}

// machineOf is a described machine, or a measured one from a file.
func machineOf(name string) (model.Model, error) {
	if machine, err := sim.MachineByName(name); err == nil {
		return machine, nil
	}
	var machine model.Model
	text, err := os.ReadFile(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return machine, command.Misusef("-machine is %q, which is no file: want one, or one of %s", name, strings.Join(machineNames(), ", "))
	case err != nil:
		return machine, command.Misusef("-machine: %w", err)
	}
	if err := json.Unmarshal(text, &machine); err != nil {
		return machine, command.Misusef("-machine: %s: %w", name, err)
	}
	if err := machine.Validate(); err != nil {
		return machine, command.Misusef("-machine: %s: %w", name, err)
	}
	return machine, nil
}

// oneOf complains about a word that is not among those allowed.
func oneOf(name, value string, allowed []string) error {
	if !slices.Contains(allowed, value) {
		return command.Misusef("-%s: %q, want %s", name, value, strings.Join(allowed, ", "))
	}
	return nil
}
