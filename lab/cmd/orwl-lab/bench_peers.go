package main

import (
	"context"
	"errors"
	"flag"

	"github.com/orwl/go-orwl/internal/command"
	"github.com/orwl/go-orwl/internal/native"
	"github.com/orwl/go-orwl/lab"
	"github.com/orwl/go-orwl/lab/arena"
	"github.com/orwl/go-orwl/lab/peers"
)

// others are locks that are not ours, by the name of their family.
type others struct {
	list string
	open map[string]peers.Peer
}

func (o *others) define(f *flag.FlagSet) {
	f.StringVar(&o.list, "peers", "", "play locks that are not ours, too: `NAME,...` of go, pthread, pthread-shm, ck, ck-shm, openmpi, mpich, mpi (both), or all")
}

// cases opens the families, and returns what they play of the plan. It skips families that are not
// installed.
func (o *others) cases(ctx context.Context, plan lab.Plan) (cases []lab.Case, skipped []string, err error) {
	families, err := peers.Match(o.list)
	if err != nil {
		return nil, nil, command.Misusef("-peers: %w", err)
	}
	o.open = map[string]peers.Peer{}
	for _, f := range families {
		p, err := f.Open(ctx)
		if errors.Is(err, native.ErrMissing) {
			skipped = append(skipped, err.Error())
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		o.open[f.Name] = p
		plays, skips := f.Cases(plan)
		cases, skipped = append(cases, plays...), append(skipped, skips...)
	}
	return cases, skipped, nil
}

// play plays a case with the peer that it names, or on one of our windows.
func (o *others) play(ctx context.Context, c lab.Case, options arena.Options) ([]lab.Sample, error) {
	if p, ok := o.open[c.Window]; ok {
		return p.Play(ctx, c, options.Sampled)
	}
	return arena.Play(ctx, c, options)
}

// close removes what was compiled.
func (o *others) close() (err error) {
	for _, p := range o.open {
		err = errors.Join(err, p.Close())
	}
	return err
}
