package play

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/sim"
	"github.com/orwl/go-orwl/net/sim/specimen"
	"github.com/orwl/go-orwl/net/topology"
)

// Game is ranks that acquire a lock.
type Game struct {
	Lock         string // a specimen
	Ranks        int
	Acquisitions int
	Deaths       int // ranks that die
}

// The bounds of a Game, and of what the page explores.
const (
	mostRanks        = 4
	mostAcquisitions = 4
	mostStates       = 150_000
	seedsTried       = 500 // for a run with a death
)

// Locks are the locks of the page: a list of name, about, wrong, ranks.
func Locks() (all []any) {
	for _, s := range specimen.All() {
		all = append(all, Answer{"name": s.Name, "about": s.About, "wrong": s.Wrong, "ranks": max(2, s.Ranks)})
	}
	return all
}

// system is the game as the simulator takes it.
func (g Game) system() (s sim.System, bad Answer) {
	lock, known := specimen.ByName(g.Lock)
	switch {
	case !known:
		return s, Answer{"error": "there is no lock " + g.Lock}
	case g.Ranks < 1 || g.Ranks > mostRanks || g.Acquisitions < 1 || g.Acquisitions > mostAcquisitions || g.Deaths < 0 || g.Deaths >= g.Ranks:
		return s, Answer{"error": fmt.Sprintf("want 1 to %d ranks, 1 to %d acquisitions, and at least one rank that lives", mostRanks, mostAcquisitions)}
	}
	return specimen.Contest{
		Topology: topology.Flat(g.Ranks), Acquisitions: g.Acquisitions, Writers: (g.Ranks + 1) / 2, Faults: sim.Faults{Crashes: g.Deaths},
	}.System(lock), nil
}

// Explore goes through all schedules of the game, until one breaks a promise of the lock.
//
//	runs, states: how much was explored; complete: nothing is left
//	broken: the promise, absent if all schedules keep it; trace: the steps of that run
func Explore(g Game) Answer {
	s, bad := g.system()
	if bad != nil {
		return bad
	}
	r := s.Exhaust(sim.Limit{States: mostStates})
	a := Answer{"runs": r.Runs, "states": r.States, "complete": r.Complete}
	if r.Failure != nil {
		a["broken"], a["trace"] = words(r.Failure.Err), steps(r.Failure.Trace)
	}
	return a
}

// errSeen ends a run that kept its promises: the simulator shows the steps of runs that fail.
var errSeen = errors.New("the run has been seen")

// Run plays one run of the game, whose schedule is drawn from a seed. With deaths, it takes the next seed in whose run a rank dies.
//
//	seed: of the run; trace: its steps; broken: a promise that it breaks
func Run(g Game, seed uint64) Answer {
	s, bad := g.system()
	if bad != nil {
		return bad
	}
	setup := s.Setup
	s.Setup = func(f *sim.Fabric) (sim.Program, error) {
		p, err := setup(f)
		rank, ended := p.Rank, 0
		p.Rank = func(ctx context.Context, w rma.Window) error {
			err := rank(ctx, w)
			if ended++; ended == g.Ranks && err == nil {
				return errSeen
			}
			if lost := new(rma.PeerLostError); errors.As(err, &lost) {
				return errSeen // a rank that knows of the death goes no further
			}
			return err
		}
		return p, err
	}
	for range seedsTried {
		if f := s.Seed(seed).Failure; f != nil && (g.Deaths == 0 || died(f.Trace)) {
			a := Answer{"seed": float64(seed), "trace": steps(f.Trace)}
			if !errors.Is(f.Err, errSeen) {
				a["broken"] = words(f.Err)
			}
			return a
		}
		seed++
	}
	return Answer{"error": fmt.Sprintf("in none of the next %d runs a rank dies while it works: take another seed", seedsTried)}
}

func died(t sim.Trace) bool {
	return slices.ContainsFunc(t, func(s sim.Step) bool { return s.What == "crashes" })
}

// words is an error without the name of the package.
func words(err error) string { return strings.TrimPrefix(err.Error(), "sim: ") }

// steps is a trace: a list of number, rank, what, where, value.
func steps(t sim.Trace) []any {
	all := make([]any, len(t))
	for i, s := range t {
		all[i] = Answer{"number": s.Number, "rank": int(s.Rank), "what": s.What, "where": s.Where, "value": s.Value}
	}
	return all
}
