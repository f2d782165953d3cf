package rmatest

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/orwl/go-orwl/net/rma"
)

// Case is one test of the contract.
type Case struct {
	// Name is unique. What stands before the slash is the part of the contract.
	Name string
	// Ranks is the least number of ranks. The case works with more, up to
	// MaxRanks.
	Ranks int
	// Words is the symmetric memory that it needs at each rank.
	Words int
	// Setup makes the case's allocations, once in each process, and returns what
	// every rank executes. An error that matches ErrSkip says that the case is
	// not for this fabric.
	Setup func(f rma.Fabric) (Body, error)
}

// Body is what one rank executes. It returns what went wrong, or nil. In one
// process several ranks execute it at the same time.
type Body func(ctx context.Context, w rma.Window) error

// MaxRanks is the largest number of ranks for which Case.Words is enough.
const MaxRanks = 64

// ErrSkip is matched by the error of a Setup whose fabric lacks a capability that
// the contract leaves optional.
var ErrSkip = errors.New("not for this fabric")

// Cases is the whole suite.
func Cases() []Case {
	return slices.Concat(
		wordCases, atomicCases, accumulateCases, awaitCases, handoverCases, orderCases,
		bulkCases, allocCases, regionCases, addressCases,
		fenceCases, pscwCases, lockCases, traditionalCases,
	)
}

// CaseByName is the case of that name.
func CaseByName(name string) (Case, error) {
	for _, c := range Cases() {
		if c.Name == name {
			return c, nil
		}
	}
	return Case{}, fmt.Errorf("rmatest: no case is called %q", name)
}

// scene is the Setup of a case that needs words of symmetric memory, which begin
// at the displacement that act is given.
func scene(words int, act func(p *player, at rma.Disp)) func(f rma.Fabric) (Body, error) {
	return func(f rma.Fabric) (Body, error) {
		door, err := f.Alloc(1)
		if err != nil {
			return nil, err
		}
		at := rma.Disp(0)
		if words > 0 {
			if at, err = f.Alloc(words); err != nil {
				return nil, err
			}
			rma.Label(f, at, words, "at")
		}
		rma.Label(f, door, 1, "door")
		return cast(f, door, func(p *player) { act(p, at) }), nil
	}
}

// cast is the body that lets a player act.
func cast(f rma.Fabric, door rma.Disp, act func(p *player)) Body {
	ranks := f.Topology().Ranks()
	return func(ctx context.Context, w rma.Window) error {
		p := &player{Window: w, ctx: ctx, me: w.Rank(), ranks: ranks, door: door}
		act(p)
		if err := w.Err(); err != nil {
			p.fail("the window failed: %w", err)
		}
		return p.err
	}
}
