package membership

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/orwl/go-orwl/internal/invariant"
	"github.com/orwl/go-orwl/internal/rings"
)

var (
	wide  = rings.Size("membership.wide", 0, 1, 2, "TestEverySchedule: 0: small worlds; 1: larger ones, too; 2: four nodes and more, too: a minute and 4 GB")
	seeds = rings.Seeds("membership.seeds", 400, 80_000, "TestSeeds: seeds")
)

// explore plays every schedule from a world on, each state once. It returns how many states
// there are, and the moves that lead to one that is wrong.
func explore(first *world) (states int, bad []move, why string) {
	type step struct {
		w  *world
		by *step
		m  move
	}
	seen := map[string]bool{first.key(): true}
	for open := []*step{{w: first}}; len(open) > 0; {
		s := open[len(open)-1]
		open = open[:len(open)-1]
		due, faults := s.w.moves()
		calm := len(open)%128 == 0 || len(s.w.number) == len(s.w.cut) // a sample, where lives are parked
		if calm && s.w.wrong == "" && !slices.ContainsFunc(due, func(m move) bool { return m.what < sends || m.what == heals }) {
			end := s.w.clone()
			end.calm(rand.New(rand.NewPCG(1, 1)))
			s.w.wrong = end.wrong
		}
		if s.w.wrong != "" {
			for at := s; at.by != nil; at = at.by {
				bad = append(bad, at.m)
			}
			slices.Reverse(bad)
			return len(seen), bad, s.w.wrong
		}
		for _, m := range slices.Concat(due, faults) {
			w := s.w.clone()
			w.play(m)
			if k := w.key(); !seen[k] {
				seen[k] = true
				open = append(open, &step{w, s, m})
			}
		}
		s.w = nil // it is played
	}
	return len(seen), nil, ""
}

// TestEverySchedule plays all schedules of three nodes with three faults, at any moment: a
// process ends, or a node loses another one that may live. It plays two nodes, too,
// and those in which messages overtake each other.
func TestEverySchedule(t *testing.T) {
	rings.Computes(t)
	for i, c := range []struct {
		nodes, left, faults, backs int
		loose, far                 bool // far: nodes never were in touch
		parks, cuts                int
		all                        bool   // all are parked at first
		rounds                     uint64 // of ballots of parked lives; 2 if 0
		wide                       int    // of -membership.wide
	}{
		{nodes: 2, faults: 3, loose: true}, {nodes: 3, faults: 2, loose: true}, {nodes: 3, faults: 3, wide: 1},
		{nodes: 2, faults: 3, backs: 2, loose: true}, {nodes: 3, faults: 2, backs: 1, far: true, wide: 1},
		{nodes: 3, left: 1, faults: 1, backs: 1, loose: true, wide: 1},
		{nodes: 2, faults: 2, parks: 2, loose: true}, {nodes: 2, cuts: 1, parks: 2},
		{nodes: 3, faults: 1, parks: 2}, {nodes: 3, cuts: 1, parks: 2}, {nodes: 3, faults: 1, all: true, rounds: 1, wide: 1},
		{nodes: 3, faults: 2, parks: 1, wide: 2}, {nodes: 3, cuts: 2, parks: 1, wide: 2}, {nodes: 3, left: 1, faults: 2, backs: 1, loose: true, wide: 2},
		{nodes: 3, faults: 4, loose: true, wide: 2}, {nodes: 4, faults: 2, wide: 2},
		{nodes: 3, faults: 3, backs: 1, wide: 2}, {nodes: 3, faults: 2, backs: 1, loose: true, wide: 2},
		{nodes: 3, faults: 2, backs: 1, wide: 2}, {nodes: 3, left: 1, faults: 3, backs: 1, loose: true, wide: 2},
	} {
		if c.wide > wide.N() || c.wide == 1 && !rings.Takes(i, 4) {
			continue
		}
		w := newWorld(c.nodes, c.left, c.faults)
		w.loose, w.backs, w.parks, w.cuts, w.rounds = c.loose, c.backs, c.parks, c.cuts, cmp.Or(c.rounds, 2)
		for i := range w.far {
			for j := range w.far {
				w.far[i][j] = c.far
			}
		}
		if c.all {
			w.parkAll()
		}
		states, bad, why := explore(w)
		t.Logf("%+v: %d states", c, states)
		if why != "" {
			t.Fatalf("%+v: %s, after: %v", c, why, bad)
		}
	}
}

// TestEveryVote plays all schedules of three lives that are parked from the beginning, with two rounds of ballots.
func TestEveryVote(t *testing.T) {
	rings.Computes(t)
	w := newWorld(3, 0, 0)
	w.parkAll()
	w.rounds = 2
	states, bad, why := explore(w)
	t.Logf("%d states", states)
	if why != "" {
		t.Fatalf("%s, after: %v", why, bad)
	}
}

// TestSeeds plays up to six nodes with up to ten faults at random. Messages overtake each
// other.
func TestSeeds(t *testing.T) {
	rings.Computes(t)
	first, n := seeds.Span()
	met := playAll(t, first, n)
	if first == 0 { // a share need not meet everything
		met.enough(t)
	}
}

// TestRareStates plays the same seeds in each change. They reach every rare state: a share of
// TestSeeds need not.
func TestRareStates(t *testing.T) {
	rings.Computes(t)
	rings.Needs(t, rings.Change)
	invariant.Reached()
	playAll(t, 0, 3000).enough(t)
	if !invariant.Enabled {
		return
	}
	reached := invariant.Reached()
	for _, s := range []string{
		"a chair asks before its predecessor is lost here", "a chair asks for an epoch that is decided",
		"a chair is ahead by an epoch", "a chair finishes the epoch of another one",
		"new lives are not let in", "a chair lets in the new lives of another one",
		"the chair loses a member for another one",
		"a parked chair finishes what a life before has accepted", "a parked chair finishes what another one has offered",
	} {
		if reached[s] == 0 {
			t.Errorf("no seed reaches this state: %s", s)
		}
	}
}

// sums count what some plays have met. alone: plays in which one node is left. apart: plays in which some are apart. back:
// lives that came back. formed: lives that came back as parked chairs. epochs: the highest number of an epoch.
type sums struct {
	alone, apart, back, formed int
	epochs                     uint64
}

// playAll plays n seeds.
func playAll(t *testing.T, first uint64, n int) (met sums) {
	t.Helper()
	for seed := first; seed < first+uint64(n); seed++ {
		w, played := playAtRandom(seed)
		if w.wrong != "" {
			for i, n := range w.nodes {
				if n != nil && w.gone[i] == In {
					t.Logf("life %d: %+v", i, *n)
				}
			}
			t.Fatalf("seed %d: %s, after %v", seed, w.wrong, played)
		}
		if left := slices.DeleteFunc(slices.Clone(w.gone), func(s State) bool { return s != In }); len(left) == 1 {
			met.alone++
		}
		if slices.Contains(w.gone, Left) {
			met.apart++
		}
		for i, n := range w.nodes {
			if n == nil {
				continue
			}
			met.epochs = max(met.epochs, n.Epoch().Number)
			if n.Epoch().Seats[w.number[i]].Since > 1 {
				met.back++
			}
			if w.parked[i].turn == follows && w.parked[i].ballot.Round > 0 && w.parked[i].In() {
				met.formed++
			}
		}
	}
	t.Logf("in %d plays one node is left, in %d some are apart; %d lives come back, %d of parked chairs; up to %d epochs",
		met.alone, met.apart, met.back, met.formed, met.epochs)
	return met
}

// enough fails the test if the plays do not meet all that they should.
func (met sums) enough(t *testing.T) {
	t.Helper()
	if met.alone == 0 || met.apart == 0 || met.back == 0 || met.formed == 0 || met.epochs < 4 {
		t.Error("the seeds do not meet all that they should")
	}
}

// playAtRandom plays the schedule of a seed to its end.
func playAtRandom(seed uint64) (w *world, played []move) {
	r := rand.New(rand.NewPCG(seed, 5))
	w = newWorld(2+r.IntN(5), 0, 1+r.IntN(10))
	w.backs = r.IntN(4)
	w.loose = r.IntN(4) > 0
	w.doubts = r.IntN(8) == 0
	for i := range w.far {
		for j := range w.far {
			w.far[i][j] = i != j && r.IntN(16) == 0
		}
	}
	w.parks, w.cuts, w.partings = r.IntN(2)*r.IntN(12), r.IntN(2)*r.IntN(6), r.IntN(3) == 0
	w.slots, w.stays = true, r.IntN(3) == 0
	often, parked := 2+r.IntN(12), 1000
	if r.IntN(3) == 0 {
		parked = r.IntN(60)
	}
	for k := range 400 {
		if k == parked {
			w.parkAll()
		}
		due, faults := w.moves()
		all := due
		if len(faults) > 0 && (len(due) == 0 || r.IntN(often) == 0) {
			all = faults
		}
		if len(all) == 0 || w.wrong != "" {
			break
		}
		m := all[r.IntN(len(all))]
		played = append(played, m)
		w.play(m)
	}
	if w.wrong == "" {
		played = append(played, w.calm(r)...)
	}
	return w, played
}
