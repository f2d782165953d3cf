package lockstest

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/rmatest"
	"github.com/orwl/go-orwl/net/topology"
)

// Case is one promise of the contract of locks.
type Case struct {
	// Name is unique. The word before the slash is the part of the contract.
	Name string
	// Ranks and Levels are the smallest numbers that its topology may have. The
	// case works with up to rmatest.MaxRanks ranks.
	Ranks, Levels int
	// Topology, if not empty, is the only topology that the case can have.
	Topology string
	// OneProcess says that all ranks must be in one process.
	OneProcess bool
	// Rare says that only a rare order of events shows the defect. The case needs
	// more schedules than others.
	Rare bool

	needs   func(s Subject) bool // the locks that promise it; nil: all locks
	options func(o *locks.Options)
	act     func(p *player)
}

// Words is how many words of symmetric memory a case needs at each rank.
const Words = 1 << 10

// Cases is the whole suite.
func Cases() []Case {
	return slices.Concat(
		exclusionCases, visibilityCases, orderCases, bypassCases, progressCases,
		tryCases, abortCases, cohortCases, obliviousCases,
		misuseCases, countsCases, costCases, lifeCases,
	)
}

// CaseByName finds the case of a name.
func CaseByName(name string) (Case, error) {
	for _, c := range Cases() {
		if c.Name == name {
			return c, nil
		}
	}
	return Case{}, fmt.Errorf("lockstest: no case has the name %q", name)
}

// ErrSkip matches the error of a case that does not concern the lock: the lock does
// not promise or does not have the feature that the case tests.
var ErrSkip = rmatest.ErrSkip

// The locks that a case concerns.
func readerWriter(s Subject) bool { return s.Spec.Kind == locks.ReaderWriter }
func fifo(s Subject) bool         { return s.Spec.FIFO }
func givesUp(s Subject) bool      { return s.Spec.Aborts == locks.Always }
func stays(s Subject) bool        { return s.Spec.Aborts == locks.Never }

// bound is for what an option bounds. In a recoverable lock it bounds only the order of the ranks that
// wait.
func bound(name string) func(s Subject) bool {
	return func(s Subject) bool { return s.has(name) && !s.Spec.Recoverable }
}

// Fits reports whether the case can be executed on a machine.
func (c Case) Fits(t *topology.Tree) bool {
	return c.Topology == "" && t.Ranks() >= c.Ranks && t.Levels() >= c.Levels
}

// For makes a case of the window suite from the case and a lock, so that the runners
// of that suite can run it. Not every case concerns every lock: see Concerns.
func (c Case) For(s Subject) rmatest.Case {
	return rmatest.Case{Name: c.Name, Ranks: c.Ranks, Words: Words, Setup: func(f rma.Fabric) (rmatest.Body, error) {
		return c.setup(f, s)
	}}
}

// Concerns reports whether the lock's row promises what the case tests. Some features
// show only in a lock's sides. If a side lacks the feature, the body ends with
// ErrSkip.
func (c Case) Concerns(s Subject) bool { return c.needs == nil || c.needs(s) }

// The words of a case. All of them are at rank 0, except for the data.
const (
	meeting = 0  // counts the ranks that have called meet
	signal  = 1  // and the words after it: signals between ranks
	data    = 24 // and the words after it, at every rank: data that the lock protects
	words   = 32
)

func (c Case) setup(f rma.Fabric, s Subject) (rmatest.Body, error) {
	tree := f.Topology()
	o := tight.Options(s.Spec, tree)
	o.Home = 1 % rma.Rank(tree.Ranks())
	o.Operations = s.Operations
	if c.options != nil {
		c.options(&o)
	}
	at, err := s.New(f, o)
	if err != nil {
		return nil, err
	}
	base, err := f.Alloc(words)
	if err != nil {
		return nil, err
	}
	rma.Label(f, base, words, "case")
	shared := &shared{cancel: make([]func(), tree.Ranks()), close: f.Close}
	return func(ctx context.Context, w rma.Window) (err error) {
		p := &player{Window: w, ctx: ctx, me: w.Rank(), ranks: tree.Ranks(), tree: tree, base: base,
			subject: s, options: o, shared: shared}
		p.scout, p.seen = watched(w)
		defer func() {
			switch v := recover().(type) {
			case nil:
			case failure:
				err = v.err
			default:
				panic(v)
			}
		}()
		p.lock = at(p.seen)
		c.act(p)
		return nil
	}, nil
}

// failure ends a rank's part in a case.
type failure struct{ err error }

// isBroken returns an error if err is not the error of a lock whose window has failed
// with cause.
func isBroken(err, cause error) error {
	if !errors.Is(err, locks.ErrBroken) || !errors.Is(err, cause) {
		return fmt.Errorf("the error is %v, want an error that matches %q and %q", err, locks.ErrBroken, cause)
	}
	return nil
}

// names returns an error if the error of a broken lock does not name the lock and the
// rank.
func (p *player) names(err error) error {
	var broken *locks.BrokenError
	if !errors.As(err, &broken) || broken.Lock != p.subject.Spec.Name || broken.Rank != p.me {
		return fmt.Errorf("the error is %v, want a *locks.BrokenError of %s and rank %d", err, p.subject.Spec.Name, p.me)
	}
	return nil
}
