package tune

import (
	"context"
	"errors"
	"math"
	"reflect"
	"testing"

	"github.com/orwl/go-orwl/lab"
	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/topology"
)

// valley is a search whose costs are known: RMA-RW is best with T_DC 8, T_R 16 and T_L,2 12, HMCS
// with T_L,2 200, and D-MCS has no options. HMCS is unfair from 100 on.
func valley(t *testing.T, names string) Search {
	t.Helper()
	found, err := lab.MatchLocks(names)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := topology.Parse("node:4 core:16")
	if err != nil {
		t.Fatal(err)
	}
	far := func(v, from int) float64 { return math.Abs(math.Log2(float64(v) / float64(from))) }
	return Search{Locks: found, Trees: []*topology.Tree{tree}, Budget: 1000, Seed: 1,
		Play: func(_ context.Context, c Candidate, share float64) (Score, error) {
			s := Score{Cost: 100}
			if len(c.Lock.Options) == 0 {
				s.Cost = 150
			}
			for _, r := range c.Lock.Ranges(tree) {
				switch best := map[string]int{"TDC": 8, "TR": 16, "TL[1]": 12}[r.Option]; {
				case c.Lock.Name == "HMCS" && r.Option == "TL[1]":
					s.Cost += 20*far(r.Of(c.Options), 200) - 20
					s.Beyond = max(0, float64(r.Of(c.Options))/100-1)
				case c.Lock.Name != "HMCS" && best > 0:
					s.Cost += 10*far(r.Of(c.Options), best) - 30
				}
			}
			return s, nil
		}}
}

func TestSearchFindsTheValley(t *testing.T) {
	s := valley(t, "d-mcs,hmcs,rma-rw,mcs,tkt")
	var said Scored
	s.Progress = func(_ int, best Scored) { said = best }
	found, err := s.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != survivors {
		t.Fatalf("%d locks are left, want %d", len(found), survivors)
	}
	best := found[0]
	if said.Literal() != best.Literal() || said.Score != best.Score {
		t.Errorf("at the end the best was %s, want %s", said.Literal(), best.Literal())
	}
	if best.Lock.Name != "RMA-RW" || best.Options.TDC != 8 || best.Cost > 20 {
		t.Errorf("the best is %s with %s at %g, want RMA-RW with T_DC 8 at about 10", best.Lock.Name, best.Literal(), best.Cost)
	}
	for _, f := range found {
		if f.Lock.Name == "HMCS" && (f.Beyond > 0 || f.Options.TL[1] != 100) {
			t.Errorf("HMCS has %s, want T_L,2 = 100, the bound", f.Literal())
		}
	}
}

func TestSearchRepeats(t *testing.T) {
	first, err := valley(t, "hmcs,rma-rw,rh").Run(t.Context())
	again, _ := valley(t, "hmcs,rma-rw,rh").Run(t.Context())
	if err != nil || len(first) != len(again) {
		t.Fatal(first, again, err)
	}
	for i := range first {
		if first[i].Score != again[i].Score || first[i].Literal() != again[i].Literal() {
			t.Errorf("%s and then %s", first[i].Literal(), again[i].Literal())
		}
	}
}

func TestSearchKeepsWhatIsGiven(t *testing.T) {
	s := valley(t, "rma-rw,d-mcs")
	s.Options = locks.Options{TDC: 2, TL: []int{50, 50}}
	found, err := s.Run(t.Context())
	if err != nil || found[0].Options.TDC != 2 || !reflect.DeepEqual(found[0].Options.TL, []int{50, 50}) || found[0].Options.TR == 0 {
		t.Errorf("%s, %v; want T_DC and T_L as given, and a T_R", found[0].Literal(), err)
	}
	s.Options = locks.Options{TL: []int{1, 1, 1, 1}} // too many levels
	if found, err = s.Run(t.Context()); err != nil || len(found) != 1 || found[0].Lock.Name != "D-MCS" {
		t.Errorf("%v, %v; want only the lock that has no T_L", found, err)
	}
}

func TestSearchEnds(t *testing.T) {
	s := valley(t, "hmcs,rma-rw,rh,mcs")
	plays, short := 0, 0
	play := s.Play
	s.Play = func(ctx context.Context, c Candidate, share float64) (Score, error) {
		if plays++; share < 1 {
			short++
		}
		return play(ctx, c, share)
	}
	s.Budget = 12
	if _, err := s.Run(t.Context()); err != nil || plays != 12 || short != 4 {
		t.Errorf("%d plays, %d of them short, %v; want 12, and 4 short ones", plays, short, err)
	}
	s.Budget, plays = 1000, 0
	ctx, cancel := context.WithCancel(t.Context())
	s.Progress = func(n int, best Scored) {
		if n == 9 {
			cancel()
		}
	}
	found, err := s.Run(ctx)
	if !errors.Is(err, context.Canceled) || plays != 9 || len(found) != 3 {
		t.Errorf("%d plays, %d found, %v; want 9 plays, 3 found, and that the context has ended", plays, len(found), err)
	}
	failure := errors.New("no play")
	s.Play = func(context.Context, Candidate, float64) (Score, error) { return Score{}, failure }
	if _, err := s.Run(t.Context()); !errors.Is(err, failure) {
		t.Errorf("the error is %v, want %v", err, failure)
	}
}

// TestCompare checks that a machine that gets slower from play to play does not change who wins, and
// that only whole rounds count.
func TestCompare(t *testing.T) {
	one := func(name string) Candidate { return Candidate{Lock: lab.Lock{Spec: locks.Spec{Name: name}}} }
	candidates := []Candidate{one("slow"), one("fast")}
	var order string
	load := 1.0
	play := func(_ context.Context, c Candidate, round int) (Score, error) {
		order += c.Lock.Name[:1]
		load *= 1.01
		cost := map[string]float64{"slow": 30, "fast": 10}[c.Lock.Name]
		return Score{Cost: cost * load, CV: float64(round), Wait: 7}, nil
	}
	gains, err := Compare(t.Context(), candidates, 6, play)
	if err != nil || order != "sffssffssffs" {
		t.Errorf("played %s, %v", order, err)
	}
	g := gains[1]
	if g.Gain.Low < 2.9 || g.Gain.High > 3.1 || g.Gain.Sure < .95 || g.CV.Median != 2.5 || g.Wait.Median != 7 || gains[0].Gain.Median != 1 {
		t.Errorf("%+v", gains)
	}
	ctx, cancel := context.WithCancel(t.Context())
	plays := 0
	gains, err = Compare(ctx, candidates, 6, func(ctx context.Context, c Candidate, round int) (Score, error) {
		if plays++; plays == 5 {
			cancel()
		}
		return play(ctx, c, round)
	})
	if !errors.Is(err, context.Canceled) || gains[0].Gain.N != 2 || gains[1].Gain.N != 2 || plays != 5 {
		t.Errorf("%d plays, %v, %+v", plays, err, gains)
	}
}

// TestSearchStaysInRange lets T_DC rise and T_W fall for ever: no candidate is invalid.
func TestSearchStaysInRange(t *testing.T) {
	s := valley(t, "rma-rw")
	s.Play = func(_ context.Context, c Candidate, _ float64) (Score, error) {
		cost := 1.0
		for _, r := range c.Lock.Ranges(s.Trees[0]) {
			v := r.Of(c.Options)
			if v < r.Least || v > r.Most {
				t.Errorf("%s is %d, want %d to %d", r.Option, v, r.Least, r.Most)
			}
			switch r.Option {
			case "TDC":
				cost /= float64(v)
			case "TW":
				cost *= float64(v)
			}
		}
		return Score{Cost: cost}, c.Lock.Validate(s.Trees[0], c.Options)
	}
	found, err := s.Run(t.Context())
	if err != nil || found[0].Options.TDC != 64 {
		t.Errorf("%s, %v; want T_DC 64", found[0].Literal(), err)
	}
}
