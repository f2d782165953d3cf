package arena

import (
	"context"
	"time"

	"github.com/orwl/go-orwl/lab"
	"github.com/orwl/go-orwl/net/mem"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// playGoroutines plays a case with a goroutine for each rank.
func playGoroutines(ctx context.Context, c lab.Case, o Options) ([]lab.Sample, error) {
	tree, words, witness, err := sizes(c, *o.Contender)
	if err != nil {
		return nil, err
	}
	fabric, err := mem.New(mem.Options{Topology: tree, Words: words})
	if err != nil {
		return nil, err
	}
	defer fabric.Close()
	program, err := c.Setup(fabric, *o.Contender, lab.NewWitness(make([]uint64, witness)))
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	l, clock := newCollector(c, o), machineClock{time.Now()}
	probes := make([]lab.Probe, tree.Ranks())
	for p := range probes {
		go func() {
			s := said{ended: true}
			var w rma.Window
			if w, s.err = fabric.Window(rma.Rank(p)); s.err == nil {
				s.err = playAll(ctx, program, w, clock, &probes[p], func(sample lab.Sample) { l.said <- said{sample: sample} })
			}
			l.said <- s
		}()
	}
	stop := func() {
		cancel()
		fabric.Close()
	}
	return l.collect(ctx, len(probes), stop, func() []lab.StalledRank { return look(probes) })
}

// sizes are the ranks of a case, the words of each, and the words of the witness.
func sizes(c lab.Case, contender lab.Contender) (tree *topology.Tree, words, witness int, err error) {
	if tree, err = topology.Parse(c.Machine); err != nil {
		return nil, 0, 0, err
	}
	if words, err = c.Words(contender); err != nil {
		return nil, 0, 0, err
	}
	witness, err = c.WitnessWords()
	return tree, words, witness, err
}

// playAll plays all repeats of one rank, and says each sample before the next repeat begins.
func playAll(ctx context.Context, program *lab.Program, w rma.Window, clock lab.Clock, probe *lab.Probe, say func(lab.Sample)) error {
	for repeat := range program.Repeats() {
		sample, err := program.Play(ctx, w, clock, repeat, probe)
		if err != nil {
			return err
		}
		say(sample)
	}
	return nil
}

// look is what ranks do now.
func look(probes []lab.Probe) (ranks []lab.StalledRank) {
	for p := range probes {
		doing, turns := probes[p].Look()
		ranks = append(ranks, lab.StalledRank{Rank: rma.Rank(p), Doing: doing, Turns: turns})
	}
	return ranks
}
