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
	Network      Network
	Off          int // the rank that Run cuts off, plus 1; 0: any
}

// Network is what becomes of the network in a Game.
type Network string

// The values of Network.
const (
	Whole  Network = ""
	Heals  Network = "heals"  // a rank is cut off from the others for a while
	Severs Network = "severs" // a rank is cut off for ever
)

// The bounds of a Game, and of what the page explores.
const (
	mostRanks        = 4
	mostAcquisitions = 4
	mostStates       = 150_000
	seedsTried       = 500 // for a run with a fault
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
	case g.Ranks < 1 || g.Ranks > mostRanks || g.Acquisitions < 1 || g.Acquisitions > mostAcquisitions || g.Deaths < 0 || g.Deaths >= g.Ranks || g.Off < 0 || g.Off > g.Ranks:
		return s, Answer{"error": fmt.Sprintf("want 1 to %d ranks, 1 to %d acquisitions, and at least one rank that lives", mostRanks, mostAcquisitions)}
	}
	faults := sim.Faults{Crashes: g.Deaths}
	switch g.Network {
	case Whole:
	case Heals:
		faults.Cuts = 1
	case Severs:
		faults.Splits = 1
	default:
		return s, Answer{"error": fmt.Sprintf("the network is %q: want nothing, %q or %q", g.Network, Heals, Severs)}
	}
	return specimen.Contest{
		Topology: topology.Flat(g.Ranks), Acquisitions: g.Acquisitions, Writers: (g.Ranks + 1) / 2, Faults: faults,
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

// longCut is how many steps there are at least between the two ends of a cut that is shown.
const longCut = 4

// errSeen ends a run that kept its promises: the simulator shows the steps of runs that fail.
var errSeen = errors.New("the run has been seen")

// Run plays one run of the game, whose schedule is drawn from a seed. With a
// fault, it takes the next seed in whose run that happens: a rank dies, or something waits at a cut.
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
			ended++
			lost := errors.As(err, new(*rma.PeerLostError))
			if lost && g.Deaths > 0 || ended == g.Ranks && (lost || err == nil) {
				return errSeen // a rank that dies does not end: the first one that knows of it ends the run
			}
			return err
		}
		return p, err
	}
	for range seedsTried {
		if f := s.Seed(seed).Failure; f != nil && g.happens(f.Trace) {
			a := Answer{"seed": float64(seed), "trace": steps(f.Trace)}
			if !errors.Is(f.Err, errSeen) {
				a["broken"] = words(f.Err)
			}
			return a
		}
		seed++
	}
	return Answer{"error": fmt.Sprintf("in none of the next %d runs the fault strikes ranks that work: take another seed", seedsTried)}
}

// happens reports whether a run has the faults of the game. A cut that heals has to keep something back.
func (g Game) happens(t sim.Trace) bool {
	has := func(what string) int { return slices.IndexFunc(t, func(s sim.Step) bool { return s.What == what }) }
	if g.Deaths > 0 && has("crashes") < 0 {
		return false
	}
	if g.Network == Whole {
		return true
	}
	off, back := has("is cut off"), has("is back")
	if off < 0 || g.Off > 0 && t[off].Rank != rma.Rank(g.Off-1) {
		return false
	}
	return g.Network == Severs || back > off && t[back].Number-t[off].Number >= longCut
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
