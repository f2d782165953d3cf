package main

import (
	"encoding/json"
	"errors"
	"flag"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/orwl/go-orwl/apps/dht/volume"
	"github.com/orwl/go-orwl/internal/command"
	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/rma/model"
	"github.com/orwl/go-orwl/net/sim"
	"github.com/orwl/go-orwl/net/topology"
)

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
