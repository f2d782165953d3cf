package lab

import (
	"context"
	"fmt"

	"github.com/orwl/go-orwl/lab/epoch"
	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// Program is a case on a fabric: its locks, and the words that its work is about.
type Program struct {
	c       Case
	b       Benchmark
	tree    *topology.Tree
	locks   []func(rma.Window) locks.Mutex
	counted func(rma.Window) locks.Mutex // for the run that counts operations, or nil
	homes   []rma.Rank
	witness *Witness
	epochs  *epoch.Set

	exposure *epoch.Exposure // traditional windows, for benchmarks without a lock, or nil

	stage  rma.Disp // 2 words, at rank 0: see player.rounds
	data   rma.Disp // the words at the lock's home that sections and scripts read and write
	strips rma.Disp // the words that increments change, or where messages arrive
	strip  int
}

// The words at each rank that sections and scripts use.
const (
	stageWords = 8
	dataLines  = 64
	dataWords  = dataLines * 8
	fixedWords = 512 // epochs, and rounding
	// directoryWords is how many words a rank's directory of traditional windows has for each rank.
	directoryWords = 4
)

// homesOf are the homes of the locks that a benchmark plays with.
func (b Benchmark) homesOf(t *topology.Tree) []rma.Rank {
	switch {
	case b.Lockless:
		return nil
	case b.homes == nil:
		return []rma.Rank{0}
	}
	return b.homes(t)
}

// stripWords is how many words the increments or the messages of a case touch.
func (c Case) stripWords(b Benchmark, ranks int) int {
	switch {
	case b.messages != nil:
		return max(1, b.messages(ranks, c.Step)/8)
	case b.Section == nil:
		return bulkWords
	}
	s := b.Section(ranks, c.Step)
	return int(max(1, s.Before.Increments.Most+s.Inside.Increments.Most+s.After.Increments.Most))
}

// Words is how many words of symmetric memory a rank needs for a case.
func (c Case) Words(contender Contender) (int, error) {
	b, tree, err := c.parse()
	if err != nil {
		return 0, err
	}
	words := fixedWords + stageWords + dataWords + c.stripWords(b, tree.Ranks())
	if b.Lockless {
		words += directoryWords * tree.Ranks()
	}
	if homes := b.homesOf(tree); len(homes) > 0 {
		words += (len(homes) + 1) * contender.Words(tree)
	}
	return words, nil
}

// WitnessWords is how many words the witness of a case needs.
func (c Case) WitnessWords() (int, error) {
	b, tree, err := c.parse()
	return max(1, WitnessWords(len(b.homesOf(tree)))), err
}

func (c Case) parse() (b Benchmark, tree *topology.Tree, err error) {
	if b, err = BenchmarkByName(c.Benchmark); err != nil {
		return b, nil, err
	}
	if tree, err = topology.Parse(c.Machine); err != nil {
		return b, nil, fmt.Errorf("lab: Case.Machine: %w", err)
	}
	return b, tree, nil
}

// Setup allocates what the case needs. Every process of the fabric calls it at the same place in
// its order of allocations. The case and the fabric have the same ranks. The witness may be
// nil.
func (c Case) Setup(f rma.Fabric, contender Contender, witness *Witness) (*Program, error) {
	b, _, err := c.parse()
	if err != nil {
		return nil, err
	}
	p := &Program{c: c, b: b, tree: f.Topology(), homes: b.homesOf(f.Topology())}
	for _, err := range []error{c.validate(), b.on(p.tree)} {
		if err != nil {
			return nil, err
		}
	}
	if c.Recording != nil {
		if err := c.Recording.on(p.tree); err != nil {
			return nil, err
		}
	}
	if !c.Unchecked {
		p.witness = witness
	}
	if p.epochs, err = epoch.New(f, epoch.Options{Neighbours: 2}); err != nil {
		return nil, err
	}
	if x, ok := f.(rma.Exposer); ok && b.Lockless {
		if p.exposure, err = epoch.NewExposure(x); err != nil {
			return nil, err
		}
	}
	p.strip = c.stripWords(b, p.tree.Ranks())
	for _, words := range []struct {
		disp *rma.Disp
		n    int
	}{{&p.stage, stageWords}, {&p.data, dataWords}, {&p.strips, p.strip}} {
		if *words.disp, err = f.Alloc(words.n); err != nil {
			return nil, err
		}
	}
	for _, home := range p.homes {
		side, err := contender.New(f, home)
		if err != nil {
			return nil, err
		}
		p.locks = append(p.locks, side)
	}
	if b.Section != nil && !c.Uncounted {
		p.counted, err = contender.New(f, 0)
	}
	return p, err
}

// Play is the part of w's rank in one repeat. The probe, if it is not nil, is told what the rank
// does.
func (p *Program) Play(ctx context.Context, w rma.Window, clock Clock, repeat int, probe *Probe) (Sample, error) {
	if probe == nil {
		probe = new(Probe)
	}
	r := newPlayer(ctx, p, w, clock, probe)
	r.sample.Rank, r.sample.Repeat = w.Rank(), repeat
	r.random.state += uint64(repeat) << 32
	err := r.play()
	probe.phase.Set(phaseEnded)
	r.sample.finish()
	return r.sample, err
}

// Repeats is how often each rank plays.
func (p *Program) Repeats() int { return p.c.Repeats }
