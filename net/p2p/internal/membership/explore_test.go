package membership

import (
	"flag"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/orwl/go-orwl/internal/invariant"
)

var (
	wide  = flag.Bool("membership.wide", false, "TestEverySchedule: four nodes, too: a minute and 4 GB")
	seeds = flag.Uint64("membership.seeds", 3000, "seeds of TestSeeds")
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
		if len(due) == 0 {
			s.w.over()
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
	for _, c := range []struct {
		nodes, left, faults, backs int
		loose, far, wide           bool // far: nodes never were in touch
	}{
		{nodes: 2, faults: 3, loose: true}, {nodes: 3, faults: 3}, {nodes: 3, faults: 2, loose: true},
		{nodes: 2, faults: 3, backs: 2, loose: true}, {nodes: 3, faults: 2, backs: 1, far: true},
		{nodes: 3, left: 1, faults: 2, backs: 1, loose: true},
		{nodes: 3, faults: 4, loose: true, wide: true}, {nodes: 4, faults: 2, wide: true},
		{nodes: 3, faults: 3, backs: 1, wide: true}, {nodes: 3, faults: 2, backs: 1, loose: true, wide: true},
		{nodes: 3, faults: 2, backs: 1, wide: true}, {nodes: 3, left: 1, faults: 3, backs: 1, loose: true, wide: true},
	} {
		if c.wide && !*wide {
			continue
		}
		w := newWorld(c.nodes, c.left, c.faults)
		w.loose, w.backs = c.loose, c.backs
		for i := range w.far {
			for j := range w.far {
				w.far[i][j] = c.far
			}
		}
		states, bad, why := explore(w)
		t.Logf("%+v: %d states", c, states)
		if why != "" {
			t.Fatalf("%+v: %s, after: %v", c, why, bad)
		}
	}
}

// TestSeeds plays up to six nodes with up to ten faults at random. Messages overtake each
// other.
func TestSeeds(t *testing.T) {
	invariant.Reached()
	alone, apart, back, moved := 0, 0, 0, uint64(0)
	for seed := range *seeds {
		w, played := playAtRandom(seed)
		if w.wrong != "" {
			for i, n := range w.nodes {
				if n != nil {
					t.Logf("life %d: gone %v, %+v", i, w.gone[i], *n)
				}
			}
			t.Fatalf("seed %d: %s, after %v", seed, w.wrong, played)
		}
		if left := slices.DeleteFunc(slices.Clone(w.gone), func(s State) bool { return s != In }); len(left) == 1 {
			alone++
		}
		if slices.Contains(w.gone, Left) {
			apart++
		}
		for i, n := range w.nodes {
			if n == nil {
				continue
			}
			moved = max(moved, n.Epoch().Number)
			if n.Epoch().Seats[w.number[i]].Since > 1 {
				back++
			}
		}
	}
	t.Logf("in %d plays one node is left, in %d some are apart; %d lives come back; up to %d epochs", alone, apart, back, moved)
	if alone == 0 || apart == 0 || back == 0 || moved < 4 {
		t.Error("the seeds do not meet all that they should")
	}
	if !invariant.Enabled {
		return
	}
	reached := invariant.Reached()
	for _, s := range []string{
		"a chair asks before its predecessor is lost here", "a chair asks for an epoch that is decided",
		"a chair is ahead by an epoch", "a chair finishes the epoch of another one",
		"new lives are not let in", "a chair lets in the new lives of another one",
	} {
		if reached[s] == 0 {
			t.Errorf("no seed reaches this state: %s", s)
		}
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
	often := 2 + r.IntN(12)
	for w.wrong == "" {
		due, faults := w.moves()
		all := due
		if len(faults) > 0 && (len(due) == 0 || r.IntN(often) == 0) {
			all = faults
		}
		if len(all) == 0 {
			w.over()
			break
		}
		m := all[r.IntN(len(all))]
		played = append(played, m)
		w.play(m)
	}
	return w, played
}
