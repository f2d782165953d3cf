package explore

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/locks/lockstest"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/sim"
	"github.com/orwl/go-orwl/net/topology"
)

// Lock is a lock to explore.
type Lock struct {
	lockstest.Subject
	// Set allocates several locks of one kind. If it is nil, each is allocated alone.
	Set func(f rma.Fabric, n int, o locks.Options) ([]lockstest.At, error)
	// Fixed are its options in each play. If it is nil, a play chooses options so small that they
	// take effect.
	Fixed *locks.Options
	// Bare says that the lock acquires and releases, and has no more of the contract of package
	// locks. The conformance suite is left out.
	Bare bool
	// Command repeats a play, with flags behind it that name the play and the run.
	Command string
}

// Of is a row of the table.
func Of(spec locks.Spec) Lock {
	return Lock{
		Subject: lockstest.Of(spec),
		Set: func(f rma.Fabric, n int, o locks.Options) (ats []lockstest.At, err error) {
			set, err := spec.NewSet(f, n, o)
			for _, l := range set {
				ats = append(ats, l.At)
			}
			return ats, err
		},
		Command: fmt.Sprintf("go -C lab run ./cmd/orwl-lab sim -lock %s", spec.Name),
	}
}

// set allocates n locks.
func (l Lock) set(f rma.Fabric, n int, o locks.Options) ([]lockstest.At, error) {
	if l.Set != nil {
		return l.Set(f, n, o)
	}
	var ats []lockstest.At
	for range n {
		at, err := l.New(f, o)
		if err != nil {
			return nil, err
		}
		ats = append(ats, at)
	}
	return ats, nil
}

// options are the lock's options with small thresholds, unless they are fixed.
func (l Lock) options(t lockstest.Thresholds, tree *topology.Tree) locks.Options {
	if l.Fixed != nil {
		return *l.Fixed
	}
	return t.Options(l.Spec, tree)
}

// has reports whether the lock has an option that a play may choose.
func (l Lock) has(option string) bool {
	return l.Fixed == nil && slices.Contains(l.Spec.Options, option)
}

// variants are the settings that a play may choose.
func (l Lock) variants() []lockstest.Variant {
	all := lockstest.Variants(l.Spec)
	if l.Fixed != nil {
		return all[:1]
	}
	return all
}

// tries reports whether a rank can have the lock at once or not at all.
func (l Lock) tries() (can bool) {
	system := sim.System{Topology: topology.Flat(1), Setup: func(f *sim.Fabric) (sim.Program, error) {
		at, err := l.New(f, locks.Options{})
		return sim.Program{Rank: func(_ context.Context, w rma.Window) error {
			_, can = at(w).(locks.Tryer)
			return nil
		}}, err
	}}
	system.Seed(0)
	return can
}

// Way is the way in which a lock accesses its words.
type Way string

// The ways.
const (
	ByOperations Way = "operations"
	Direct       Way = "direct" // by atomic instructions on memory that all ranks share
)

// Ways are the ways that a lock has.
func Ways(spec locks.Spec) []Way {
	if spec.Operations {
		return []Way{ByOperations}
	}
	return []Way{ByOperations, Direct}
}

// nameOf is a machine as the name of a play has it.
func nameOf(tree *topology.Tree) string { return strings.ReplaceAll(tree.String(), " ", ",") }

// machine is the tree of a description that is part of this package.
func machine(text string) *topology.Tree {
	tree, err := topology.Parse(text)
	if err != nil {
		panic(err)
	}
	return tree
}
