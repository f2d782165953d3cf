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
	// Name is unique. The part before the slash names the part of the contract.
	Name string
	// Ranks is the smallest number of ranks. The case works with more, up to
	// MaxRanks.
	Ranks int
	// Words is the number of words to allocate that it needs at each rank.
	Words int
	// Setup makes the case's allocations, once in each process. It returns the
	// body for every rank. An error that matches ErrSkip says that the case does
	// not apply to this fabric.
	Setup func(f rma.Fabric) (Body, error)
}

// Body is the program of one rank. It returns the first mistake that it saw, or nil.
// Several ranks of one process execute it at the same time.
type Body func(ctx context.Context, w rma.Window) error

// MaxRanks is the largest number of ranks that Case.Words is enough for.
const MaxRanks = 64

// ErrSkip matches the error of a Setup if the fabric lacks an optional capability
// that the case needs.
var ErrSkip = errors.New("not for this fabric")

// Cases is the whole suite.
func Cases() []Case {
	return slices.Concat(
		wordCases, atomicCases, accumulateCases, awaitCases, handoverCases, orderCases,
		bulkCases, allocCases, regionCases, addressCases,
		fenceCases, pscwCases, lockCases, traditionalCases, sharedCases,
	)
}

// CaseByName returns the case with that name.
func CaseByName(name string) (Case, error) {
	for _, c := range Cases() {
		if c.Name == name {
			return c, nil
		}
	}
	return Case{}, fmt.Errorf("rmatest: no case has the name %q: see Cases", name)
}

// scene is the Setup of a case that needs allocated words. They begin at the
// displacement at.
func scene(words int, act func(p *player, at rma.Disp)) func(f rma.Fabric) (Body, error) {
	return func(f rma.Fabric) (Body, error) {
		meeting, err := f.Alloc(1)
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
		rma.Label(f, meeting, 1, "meeting")
		return cast(f, meeting, func(p *player) { act(p, at) }), nil
	}
}

// cast is the body that makes a player and calls act.
func cast(f rma.Fabric, meeting rma.Disp, act func(p *player)) Body {
	ranks := f.Topology().Ranks()
	return func(ctx context.Context, w rma.Window) error {
		p := &player{Window: w, ctx: ctx, me: w.Rank(), ranks: ranks, meeting: meeting}
		act(p)
		if err := w.Err(); err != nil {
			p.fail("the window failed: %w", err)
		}
		return p.err
	}
}
