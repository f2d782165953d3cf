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
	tl, tdc, tr                      int
	seed                             uint64
	csv                              string
	asJSON                           bool
}

func (o *benchFlags) define(f *flag.FlagSet) {
	f.StringVar(&o.fabric, "fabric", "mem", "the `WINDOWS`: mem, ranks as goroutines; shm, as processes that share memory; p2p, on nodes that send frames; sim, predicted")
	f.StringVar(&o.ranks, "ranks", "8", "with `P` ranks, or several numbers with commas between: one keeps the volume, P-1 use it; on sim, nodes of 16 cores")
	f.StringVar(&o.topology, "topology", "", "the machine, instead of -ranks: `LEVEL:N ...` from coarse to fine, the last one counting ranks")
	f.StringVar(&o.machine, "machine", "piz-daint", "of sim, the `MACHINE`: a file that orwl model -json wrote, or one of "+strings.Join(machineNames(), ", "))
	f.IntVar(&o.nodes, "nodes", 2, "of p2p, `N` processes: the first keeps the volume, the others have the ranks that use it")
	f.IntVar(&o.turns, "turns", 3, "of all but sim, hold each contest `N` times and take the one of median length")
	f.StringVar(&o.writes, "writes", "0,2,5,20", "F_W, the `PERCENT` of operations that insert, with commas between")
	f.StringVar(&o.disciplines, "disciplines", strings.Join(benchDisciplines, ","), "the `NAMES`, with commas between, of "+strings.Join(volume.Disciplines(), ", "))
	f.IntVar(&o.operations, "ops", 1000, "each rank makes `N` operations")
	f.IntVar(&o.elements, "elements", 4096, "`N` elements are there from the beginning, and looked up")
	f.IntVar(&o.buckets, "buckets", 0, "the table has `N` buckets; as many as there are elements if 0")
	f.IntVar(&o.heap, "heap", -1, "the overflow heap has `N` cells; enough for all inserts if -1. With too few, inserts are refused and counted")
	f.IntVar(&o.tl, "tl", 0, "T_L of every level, of RMA-RW: `N` acquisitions in a row there; "+strconv.Itoa(locks.DefaultTL)+" if 0")
	f.IntVar(&o.tdc, "tdc", 0, "T_DC of RMA-RW: every `N`-th rank keeps a counter of readers; one in each element of the finest level if 0")
	f.IntVar(&o.tr, "tr", 0, "T_R of RMA-RW: `N` readers in a row while a writer waits; "+strconv.Itoa(locks.DefaultTR)+" if 0")
	f.Uint64Var(&o.seed, "seed", 1, "draws the operations of each rank")
	f.StringVar(&o.csv, "csv", "", "write the table to a `FILE`, too")
	f.BoolVar(&o.asJSON, "json", false, "print one JSON object and nothing else")
}

// suits complains about a flag that was given and has no effect beside the others.
func (o *benchFlags) suits(given map[string]bool) error {
	rw := slices.Contains(list(o.disciplines), "RMA-RW")
	for _, rule := range []struct {
		flag string
		fits bool
		why  string
	}{
		{"machine", o.fabric == "sim", "is for -fabric sim"},
		{"nodes", o.fabric == "p2p", "is for -fabric p2p"},
		{"turns", o.fabric != "sim", "is not for -fabric sim, whose time has no noise"},
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
	for _, check := range []error{
		oneOf("fabric", o.fabric, benchFabrics),
		inRange("ops", o.operations, 1, mostBenchOperations),
		inRange("elements", o.elements, 1, mostBenchElements),
		inRange("buckets", o.buckets, 0, mostBenchElements),
		inRange("heap", o.heap, -1, volume.MaxCells-mostBenchElements),
		inRange("nodes", o.nodes, 2, mostBenchNodes),
		inRange("turns", o.turns, 1, mostBenchTurns),
		inRange("tl", o.tl, 0, 1<<20), inRange("tdc", o.tdc, 0, mostBenchRanks), inRange("tr", o.tr, 0, 1<<20),
	} {
		if check != nil {
			return nil, check
		}
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
	for _, tree := range p.trees {
		l := locks.Options{TDC: o.tdc, TR: o.tr}
		if o.tl > 0 {
			l.TL = slices.Repeat([]int{o.tl}, tree.Levels())
		}
		if err := rw.Validate(tree, l); err != nil {
			return command.Misusef("%w", err)
		}
		p.locks = append(p.locks, l)
	}
	return nil
}

func (o *benchFlags) percents() ([]float64, error) {
	var all []float64
	for _, text := range list(o.writes) {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || !(v >= 0 && v <= 100) {
			return nil, command.Misusef("-writes has %q, want percentages, 0 to 100", text)
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
		return []*topology.Tree{tree}, inRange("topology's number of ranks", tree.Ranks(), 2, mostBenchRanks)
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

// inRange complains about a number outside its range.
func inRange(name string, value, least, most int) error {
	if value < least || value > most {
		return command.Misusef("-%s is %d, want %d to %d", name, value, least, most)
	}
	return nil
}
