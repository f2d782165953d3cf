package balance

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/orwl/go-orwl/internal/rings"
)

var seeds = rings.Seeds("balance.seeds", 300, 100_000, "TestShares, TestBalance: seeds")

// bestOf is the smallest time of a round that any shares have. Each node has one unit at least.
func bestOf(units int, weights []int) (best float64) {
	if len(weights) == 1 {
		return float64(units) / float64(weights[0])
	}
	best = math.Inf(1)
	for n := 1; n <= units-len(weights)+1; n++ {
		best = min(best, max(float64(n)/float64(weights[0]), bestOf(units-n, weights[1:])))
	}
	return best
}

// TestShares deals units, and compares with all deals.
func TestShares(t *testing.T) {
	for _, c := range []struct {
		units   int
		weights []int
		want    string
	}{
		{12, []int{1, 1}, "[6 6]"},
		{5, []int{Mean, Mean, Mean}, "[2 2 1]"},
		{12, []int{1333, 667}, "[8 4]"},
		{7, []int{1, 2, 4}, "[1 2 4]"},
		{14, []int{571, 1143, 2286}, "[2 4 8]"},
		{4, []int{1900, 50, 50}, "[2 1 1]"}, // a node with a small weight has a unit
		{6, []int{10, 10, 10_000}, "[1 1 4]"},
		{10, []int{1000, 1500, 1, 1, 1}, "[3 4 1 1 1]"},
		{10, []int{1500, 1000, 1, 1, 1}, "[4 3 1 1 1]"},
		{2, []int{1, 1, 5}, "[0 0 2]"}, // unless there are too few
		{0, []int{3, 1}, "[0 0]"},
		{1 << 30, []int{mostWeight, mostWeight}, fmt.Sprint([]int{1 << 29, 1 << 29})},
	} {
		if got := fmt.Sprint(Shares(c.units, c.weights)); got != c.want {
			t.Errorf("%d units, weights %d: %s, want %s", c.units, c.weights, got, c.want)
		}
	}
	for seed := range seeds.All() {
		r := rand.New(rand.NewPCG(seed, 0))
		var weights []int
		for range 1 + r.IntN(4) {
			weights = append(weights, 1+r.IntN(3000))
		}
		units := r.IntN(30)
		shares := Shares(units, weights)
		sum := 0
		for i, n := range shares {
			sum += n
			if n < 0 || n == 0 && units >= len(weights) {
				t.Fatalf("seed %d: %d units, weights %d: node %d has %d of %d", seed, units, weights, i, n, shares)
			}
		}
		if sum != units {
			t.Fatalf("seed %d: %d units, weights %d: the shares %d are %d", seed, units, weights, shares, sum)
		}
		if units >= len(weights) {
			if _, got := most(shares, weights); got > bestOf(units, weights) {
				t.Fatalf("seed %d: %d units, weights %d: a round takes %v with %d, and %v is possible", seed, units, weights, got, shares, bestOf(units, weights))
			}
		}
		for i := range weights {
			for j := range weights {
				if weights[i] > weights[j] && shares[i] < shares[j] || weights[i] == weights[j] && i < j && shares[i] < shares[j] {
					t.Fatalf("seed %d: %d units, weights %d: %d", seed, units, weights, shares)
				}
			}
		}
	}
}

// machine is a run on nodes of some speeds, in virtual time. A round is over when all nodes have done theirs.
type machine struct {
	r       *rand.Rand
	units   int
	noise   float64 // the most by which the time of a unit differs from window to window, as a part of it
	waits   float64 // the part of a round in which all nodes wait
	price   float64 // the seconds that another life takes
	speeds  []float64
	weights []int
	tries   int
	watch   *Watch
	did     []Load
	lives   int
	spent   float64 // nanoseconds
	log     []string
}

func newMachine(seed uint64, units int, speeds ...float64) *machine {
	m := &machine{r: rand.New(rand.NewPCG(seed, 1)), units: units, speeds: speeds, weights: slices.Repeat([]int{Mean}, len(speeds)), price: 0.1}
	m.live()
	return m
}

// live begins a life.
func (m *machine) live() {
	m.lives++
	m.watch, m.did = &Watch{Weights: m.weights, Price: int64(m.price * 1e9), Tries: m.tries}, make([]Load, len(m.speeds))
}

// interval is the time between two cuts, and body how long a node of speed 1 computes a unit.
const (
	interval = 250_000_000
	body     = 1_000_000
)

// cut goes on to the next cut. The last of slow of the window has speeds of before.
func (m *machine) cut() { m.window(interval) }

func (m *machine) window(length float64) {
	shares, times, round := Shares(m.units, m.weights), make([]float64, len(m.speeds)), 0.0
	for i, n := range shares {
		times[i] = float64(n) * body / m.speeds[i] * (1 + m.noise*(2*m.r.Float64()-1))
		round = max(round, times[i])
	}
	round /= 1 - m.waits
	rounds := int(math.Ceil(length / round))
	m.spent += round * float64(rounds)
	for i, n := range shares {
		m.did[i].Units, m.did[i].Workers = n, 1
		m.did[i].Done += int64(n * rounds)
		m.did[i].Busy += int64(times[i] * float64(rounds))
		m.did[i].Wall += int64(round * float64(rounds))
	}
}

// ends has the chair look, and begins another life if it wants one.
func (m *machine) ends() bool {
	to := m.watch.Add(m.did)
	m.tries = m.watch.Tries
	if to == nil {
		return false
	}
	m.log = append(m.log, fmt.Sprintf("%d → %d", m.weights, to))
	m.weights = to
	m.live()
	return true
}

// cuts makes so many cuts.
func (m *machine) cuts(n int) {
	for range n {
		m.cut()
		m.ends()
	}
}

// efficiency is the speed of the run, divided by the sum of the nodes' speeds.
func (m *machine) efficiency() float64 {
	sum, most := 0.0, 0.0
	for i, n := range Shares(m.units, m.weights) {
		sum += m.speeds[i]
		most = max(most, float64(n)/m.speeds[i])
	}
	return float64(m.units) / sum / most
}

// wants complains if the run is slower than it must be, or has had another number of lives.
func (m *machine) wants(t *testing.T, what string, least float64, fewest, most int) {
	t.Helper()
	if e := m.efficiency(); e < least || m.lives < fewest || m.lives > most {
		t.Errorf("%s: speeds %v, %d units: %.3f of what the nodes can do after %d lives, want %v and %d to %d: %v", what, m.speeds, m.units, e, m.lives, least, fewest, most, m.log)
	}
}

// TestBalance has nodes of different speed, which change. Three cuts after a change the run does at least nine tenths of what it can.
func TestBalance(t *testing.T) {
	for _, c := range []struct {
		speeds []float64
		units  int
	}{{[]float64{1, 0.5}, 12}, {[]float64{0.5, 1}, 64}, {[]float64{1, 2, 4}, 28}, {[]float64{4, 1, 1, 1}, 70}, {[]float64{1, 0.25}, 24}, {[]float64{1, 1, 1, 1, 1, 1, 1, 0.5}, 60}} {
		m := newMachine(0, c.units, c.speeds...)
		m.cuts(3)
		m.wants(t, "from the beginning", 0.9, 2, 3)
		m.cuts(40)
		m.wants(t, "later", 0.9, 2, 3)

		even := slices.Repeat([]float64{1}, len(c.speeds))
		m = newMachine(0, c.units, even...)
		m.cuts(10)
		m.wants(t, "even", 0.9, 1, 1)
		m.window(interval / 2) // the change comes between two cuts
		m.speeds = c.speeds
		m.window(interval / 2)
		m.ends()
		m.cuts(2)
		m.wants(t, "slowed", 0.9, 2, 3)
		m.cuts(2)
		m.cuts(8)
		m.speeds = even
		m.cuts(3)
		m.wants(t, "recovered", 0.9, 2, 5)
		m.cuts(40)
		m.wants(t, "at the end", 0.9, 2, 5)
	}
}

// TestNoise has nodes whose times differ by a tenth from window to window. Lives do not end for that, and a real imbalance is found nevertheless.
func TestNoise(t *testing.T) {
	for seed := range seeds.All() {
		r := rand.New(rand.NewPCG(seed, 2))
		nodes := 2 + r.IntN(7)
		units := nodes * (3 + r.IntN(30))
		m := newMachine(seed, units, slices.Repeat([]float64{1}, nodes)...)
		m.noise = 0.1
		m.cuts(200)
		m.wants(t, fmt.Sprintf("seed %d", seed), 0.85, 1, 3) // the third life is one in 2000 seeds

		m = newMachine(seed, 12+r.IntN(40), 1, 0.5)
		m.noise = 0.1
		m.cuts(4)
		m.wants(t, fmt.Sprintf("seed %d", seed), 0.8, 2, 3)
		m.cuts(200)
		m.wants(t, fmt.Sprintf("seed %d", seed), 0.8, 2, 5)
	}
}

// TestPrice has lives that cost much. They end when the imbalance has cost as much.
func TestPrice(t *testing.T) {
	m := newMachine(0, 12, 1, 0.5)
	m.price = 2
	m.live()
	m.lives = 1
	for m.lives == 1 {
		m.cuts(1)
	}
	spent := m.spent / 1e9
	if lost := spent / 3; lost < 2 || lost > 2.2 { // 8 and 4 units instead of 6 and 6 take two thirds
		t.Errorf("after %v s and a loss of %v s another life began, which cost 2 s", spent, lost)
	}
}

// TestUseless has weights that do not change the speed of the program. The lives become longer and longer.
func TestUseless(t *testing.T) {
	m := newMachine(0, 12, 1, 0.5)
	var began []int
	for cut := range 3000 {
		if m.cut(); m.ends() {
			began = append(began, cut)
			m.weights = []int{Mean, Mean}
			m.live()
		}
	}
	if n := len(began); n > 15 || n < 5 {
		t.Errorf("%d lives: %d", n, began)
	}
	for i := 2; i < min(len(began), MostTries); i++ {
		if long, before := began[i]-began[i-1], began[i-1]-began[i-2]; long < before {
			t.Errorf("life %d has %d cuts, and the one before %d: %d", i, long, before, began)
		}
	}
	m.speeds = []float64{1, 1}
	for tries := m.tries; tries > 0; tries-- { // the price is a tenth of a second
		cuts := calm * (1 << tries) * 4 / 10
		if m.cuts(cuts * 9 / 10); m.tries != tries {
			t.Fatalf("after %d balanced cuts %d tries are left of %d", cuts*9/10, m.tries, tries)
		}
		if m.cuts(cuts/5 + 1); m.tries != tries-1 {
			t.Fatalf("after %d balanced cuts %d tries are left of %d", cuts, m.tries, tries)
		}
		m.watch.good = 0
	}
}

// TestWaits has nodes that mostly wait for something else. Another division would not help.
func TestWaits(t *testing.T) {
	m := newMachine(0, 12, 1, 0.5)
	m.waits = 0.9
	m.cuts(100)
	m.wants(t, "all wait", 0, 1, 1)
	m.waits = 0.3
	m.cuts(10)
	m.wants(t, "all wait for a third", 0.9, 2, 2)
}

// TestLittle has windows that say too little.
func TestLittle(t *testing.T) {
	did := func(done, wall int64) []Load {
		return []Load{{Units: 8, Done: 2 * done, Workers: 1, Busy: wall, Wall: wall}, {Units: 8, Done: done, Workers: 1, Busy: wall, Wall: wall}}
	}
	for _, c := range []struct {
		done, wall int64
		counts     bool
	}{{leastDone, leastWall, true}, {leastDone - 1, leastWall, false}, {leastDone, leastWall - 1, false}} {
		w := Watch{Weights: []int{Mean, Mean}}
		if w.Add(did(c.done, c.wall)); (w.windows > 0) != c.counts {
			t.Errorf("%+v: %d windows count", c, w.windows)
		}
	}
	w := Watch{Weights: []int{Mean, Mean}}
	if to := w.Add(did(1000, 1e9)); to != nil {
		t.Errorf("after one window the weights are %d", to)
	}
	if to := w.Add(did(2000, 2e9)); !slices.Equal(to, []int{1333, 667}) {
		t.Errorf("after two windows the weights are %d", to)
	}
	w = Watch{Weights: []int{Mean, Mean}}
	if to := w.Add([]Load{{6, 100, 1, 1e9, 1e9}, {}}); to != nil || w.windows > 0 {
		t.Errorf("a node that has not begun has the weights %d", to)
	}
	w = Watch{Weights: []int{Mean, Mean, Mean}}
	if w.Add([]Load{{1, 100, 1, 1e9, 1e9}, {1, 100, 1, 1e9, 1e9}, {0, 0, 1, 0, 1e9}}); w.before[0].Units == 0 {
		t.Error("a node without a unit keeps the window from ending")
	}
	for _, l := range []Load{{0, 0, 1, 0, 1e9}, {1, 50, 1, 0, 1e9}, {1, 0, 1, 50, 1e9}} {
		if to := weigh([]int{Mean, 500, 2000}, []Load{{6, 100, 1, 1e9, 1e9}, {6, 50, 1, 1e9, 1e9}, l}); !slices.Equal(to, []int{1000, 500, 2000}) {
			t.Errorf("a node that shows no speed: %d", to)
		}
	}
}

// TestValid has what a node cannot have done, and weights that it cannot have.
func TestValid(t *testing.T) {
	if !(Load{}).Valid() || (Load{Units: -1}).Valid() || (Load{Done: -1}).Valid() || (Load{Workers: -1}).Valid() || (Load{Busy: -1}).Valid() || (Load{Wall: -1}).Valid() {
		t.Error("a load with a part below 0 is valid, or one with 0 is not")
	}
	if !Valid([]int{1, mostWeight}, 2) || Valid([]int{0}, 1) || Valid([]int{mostWeight + 1}, 1) || Valid([]int{1, 1}, 1) || Valid(nil, 1) {
		t.Error("wrong weights are valid, or right ones are not")
	}
	if !Equal(nil) || !Equal([]int{2, 2}) || Equal([]int{2, 1}) {
		t.Error("equal weights")
	}
}
