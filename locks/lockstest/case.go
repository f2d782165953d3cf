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
	// Name is unique. What stands before the slash is the part of the contract.
	Name string
	// Ranks and Levels are the least that its topology must have. It works with
	// up to rmatest.MaxRanks ranks.
	Ranks, Levels int
	// Topology is the only one that it can have, if it is not empty.
	Topology string
	// OneProcess says that all ranks have to live in one process.
	OneProcess bool
	// Rare says that what it looks for takes a rare order of events: it wants more
	// schedules than others.
	Rare bool

	needs   func(s Subject) bool // which locks promise it; nil: all
	options func(o *locks.Options)
	act     func(p *player)
}

// Words is the symmetric memory that any case needs at each rank.
const Words = 1 << 10

// Cases is the whole suite.
func Cases() []Case {
	return slices.Concat(
		exclusionCases, visibilityCases, orderCases, bypassCases, progressCases,
		tryCases, abortCases, cohortCases, obliviousCases,
		misuseCases, countsCases, costCases, lifeCases,
	)
}

// CaseByName is the case of that name.
func CaseByName(name string) (Case, error) {
	for _, c := range Cases() {
		if c.Name == name {
			return c, nil
		}
	}
	return Case{}, fmt.Errorf("lockstest: no case is called %q", name)
}

// ErrSkip is matched by the error of a case about something that the lock does not
// promise, or does not have.
var ErrSkip = rmatest.ErrSkip

// The locks that a case is about.
func readerWriter(s Subject) bool { return s.Spec.Kind == locks.ReaderWriter }
func fifo(s Subject) bool         { return s.Spec.FIFO }
func givesUp(s Subject) bool      { return s.Spec.Aborts == locks.Always }
func stays(s Subject) bool        { return s.Spec.Aborts == locks.Never }
func option(name string) func(s Subject) bool {
	return func(s Subject) bool { return s.has(name) }
}

// Fits reports whether the case can be executed on a machine.
func (c Case) Fits(t *topology.Tree) bool {
	return c.Topology == "" && t.Ranks() >= c.Ranks && t.Levels() >= c.Levels
}

// For is the case for a lock, as a case of the suite of windows: who can run one
// of those can run this. It is not for every lock: see Concerns.
func (c Case) For(s Subject) rmatest.Case {
	return rmatest.Case{Name: c.Name, Ranks: c.Ranks, Words: Words, Setup: func(f rma.Fabric) (rmatest.Body, error) {
		return c.setup(f, s)
	}}
}

// Concerns reports whether the lock promises what the case is about, as far as its
// row says. What a lock can do beside its row, only its handles tell; then the
// body ends with ErrSkip.
func (c Case) Concerns(s Subject) bool { return c.needs == nil || c.needs(s) }

// The words of a case, all at rank 0 except for the data.
const (
	meeting = 0  // counts who has come to a meeting
	signal  = 1  // and the next ones: what ranks tell each other
	data    = 24 // and the next ones, at every rank: what the lock protects
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

// isBroken says what an error of a lock whose window failed should be.
func isBroken(err, cause error) error {
	if !errors.Is(err, locks.ErrBroken) || !errors.Is(err, cause) {
		return fmt.Errorf("the error is %v, want one that matches %q and %q", err, locks.ErrBroken, cause)
	}
	return nil
}

// names reports whether an error of a broken lock names the lock and the rank.
func (p *player) names(err error) error {
	var broken *locks.BrokenError
	if !errors.As(err, &broken) || broken.Lock != p.subject.Spec.Name || broken.Rank != p.me {
		return fmt.Errorf("the error is %v, want a *locks.BrokenError of %s and rank %d", err, p.subject.Spec.Name, p.me)
	}
	return nil
}
