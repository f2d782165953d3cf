package explore

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/orwl/go-orwl/locks/lockstest"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/rmatest"
	"github.com/orwl/go-orwl/net/sim"
	"github.com/orwl/go-orwl/net/topology"
)

// cases are the plays of the conformance suite, for the lock and its variants. The suite has options of
// its own, so a lock with fixed options does not play it.
func cases(l Lock, s Setting) (all []Play) {
	if l.Bare || l.Fixed != nil {
		return nil
	}
	for _, v := range l.variants() {
		subject := l.Subject.With(v)
		for _, c := range lockstest.Cases() {
			if !c.Concerns(subject) || v.Name != "" && (strings.HasPrefix(c.Name, "cost/") || slices.Contains(v.Without, c.Name)) {
				continue
			}
			for _, tree := range casesTrees(s, c) {
				for _, way := range Ways(l.Spec) {
					faults := sim.Faults{Delays: 2, Pauses: 1}
					if strings.HasPrefix(c.Name, "cost/") {
						faults = sim.Faults{}
					}
					share := 64
					if c.Rare {
						share = 8
					}
					all = append(all, Play{Kind: Case, Name: name(Case, c.Name, nameOf(tree), way, v.Name), lock: l, share: share,
						system: func(uint64) sim.System {
							system := Played(tree, c.For(subject))
							system.Shared, system.Faults = way == Direct, faults
							return system
						}})
				}
			}
		}
	}
	return all
}

// casesTrees are the machines of a case.
func casesTrees(s Setting, c lockstest.Case) (all []*topology.Tree) {
	if c.Topology != "" {
		if tree := machine(c.Topology); s.Tree == nil || s.Tree.String() == tree.String() {
			all = append(all, tree)
		}
		return all
	}
	for _, tree := range s.trees("core:3", "node:2 core:3") {
		if c.Fits(tree) {
			all = append(all, tree)
		}
	}
	return all
}

// Played makes a system of a case. A case that finds that it does not concern the lock ends well.
func Played(tree *topology.Tree, c rmatest.Case) sim.System {
	return sim.System{
		Topology: tree,
		Words:    c.Words,
		MaxSteps: 1 << 18,
		Setup: func(f *sim.Fabric) (sim.Program, error) {
			body, err := c.Setup(f)
			return sim.Program{Rank: func(ctx context.Context, w rma.Window) error {
				if err := rmatest.Perform(ctx, f, body, w.Rank()); !errors.Is(err, lockstest.ErrSkip) {
					return err
				}
				return nil
			}}, err
		},
	}
}
