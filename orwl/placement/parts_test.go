package placement

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/orwl/go-orwl/net/topology"
)

// Parallel edges add up, either way round, and edges of no weight vanish.
func TestLinksAddUp(t *testing.T) {
	g := Graph{Tasks: 4, Edges: []Edge{{2, 0, 5}, {0, 1, 1}, {0, 2, 7}, {3, 1, 0}, {1, 0, 2}}}
	l := g.links()
	if !slices.Equal(l.start, []int{0, 2, 3, 4, 4}) || !slices.Equal(l.to, []int32{1, 2, 0, 0}) || !slices.Equal(l.weight, []int64{3, 12, 3, 12}) {
		t.Errorf("rows %v of %v with weights %v", l.start, l.to, l.weight)
	}
	for loads, want := range map[[2]int64][]int64{{3, 3}: {1, 1}, {3, 4}: {3, 4}} {
		g := Graph{Tasks: 2, Loads: loads[:]}
		if got := g.links().load; !slices.Equal(got, want) {
			t.Errorf("loads %v count as %v, want %v", loads, got, want)
		}
	}
}

// A heap gives what was put in by gain, and by number among equals, also after
// gains changed.
func TestGainHeap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		gain := rapid.SliceOfN(rapid.Int64Range(0, 5), 1, 30).Draw(t, "gains")
		var h gainHeap
		h.reset(gain)
		for v := range int32(len(gain)) {
			h.items = append(h.items, v)
		}
		h.fill()
		for range rapid.IntRange(0, 20).Draw(t, "changes") {
			v := rapid.IntRange(0, len(gain)-1).Draw(t, "task")
			gain[v] = rapid.Int64Range(0, 5).Draw(t, "gain")
			h.fix(int32(v))
		}
		again := h.pop()
		h.push(again)
		want := make([]int32, len(gain))
		for v := range want {
			want[v] = int32(v)
		}
		slices.SortStableFunc(want, func(v, u int32) int { return int(gain[u] - gain[v]) })
		var got []int32
		for len(h.items) > 0 {
			got = append(got, h.pop())
		}
		if !slices.Equal(got, want) || h.has(want[0]) {
			t.Fatalf("gains %v come as %v, want %v", gain, got, want)
		}
	})
}

// drawnHalves is a small graph on two sides, with bounds that may not hold yet.
func drawnHalves(t *rapid.T) *halves {
	n := rapid.IntRange(1, 9).Draw(t, "tasks")
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "graph"), 0))
	g := drawnGraph(r, n, 2*n, 9, 1+3*r.Int64N(2))
	h := &halves{links: g.links(), side: make([]uint8, n), distance: 1 + r.Int64N(3), pull: make([]int64, n)}
	var total int64
	for v := range n {
		h.side[v] = uint8(r.IntN(2))
		h.pull[v] = r.Int64N(9) - 4
		total += h.load[v]
	}
	h.low = r.Int64N(total + 1)
	h.high = h.low + r.Int64N(total-h.low+1)
	return h
}

// value is what refine makes smaller: the excess, and the cost.
func (h *halves) value() (excess, cost int64) {
	cost = h.cut() * h.distance
	for v, s := range h.side {
		if s == 0 {
			cost += h.pull[v]
		}
	}
	return h.excess(h.loadOfSide0()), cost
}

// Refining makes sides better if it says so and leaves them otherwise, and finds
// the best sides of all in most cases.
func TestRefine(t *testing.T) {
	cases, best := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		h := drawnHalves(t)
		excess, cost := h.value()
		before := slices.Clone(h.side)
		var r refiner
		better := r.refine(h)
		gotExcess, gotCost := h.value()
		if better != (gotExcess < excess || gotExcess == excess && gotCost < cost) || !better && !slices.Equal(before, h.side) {
			t.Fatalf("better is %v, from excess %d and cost %d to %d and %d", better, excess, cost, gotExcess, gotCost)
		}
		got := slices.Clone(h.side)
		leastExcess, leastCost := gotExcess, gotCost
		for sides := range 1 << len(got) {
			for v := range h.side {
				h.side[v] = uint8(sides >> v & 1)
			}
			if e, c := h.value(); e < leastExcess || e == leastExcess && c < leastCost {
				leastExcess, leastCost = e, c
			}
		}
		cases++
		if leastExcess == gotExcess && leastCost == gotCost {
			best++
		}
	})
	t.Logf("best of all in %d of %d", best, cases)
	if best*10 < cases*7 {
		t.Errorf("refining finds the best sides in only %d of %d cases", best, cases)
	}
}

// A half that is grown reaches its bounds if one task after the other can.
func TestGrowReachesTheBounds(t *testing.T) {
	l := (&Graph{Tasks: 10, Edges: []Edge{{0, 1, 1}, {1, 2, 1}, {5, 6, 1}}}).links()
	for low := range int64(11) {
		for seed := -1; seed < 10; seed++ {
			h := halves{links: l, low: low, high: low, distance: 1}
			var b bisector
			h.side = b.grow(&h, seed)
			if h.loadOfSide0() != low {
				t.Errorf("from seed %d: %d tasks, want %d", seed, h.loadOfSide0(), low)
			}
		}
	}
}

// Lumps are of one or two tasks and not too heavy, nothing is lost, and sides of
// lumps cut what the same sides of tasks cut.
func TestCoarser(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "tasks")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "graph"), 0))
		g := drawnGraph(r, n, 2*n, 9, 1+3*r.Int64N(2))
		l := g.links()
		heavy := 1 + r.Int64N(8)
		c, lump := l.coarser(heavy)
		members := make([]int, c.tasks())
		load := make([]int64, c.tasks())
		for v, m := range lump {
			members[m]++
			load[m] += l.load[v]
		}
		for m, k := range members {
			if k < 1 || k > 2 || k == 2 && load[m] > heavy || load[m] != c.load[m] {
				t.Fatalf("lump %d has %d tasks of load %d, said to be %d, heavy is %d", m, k, load[m], c.load[m], heavy)
			}
		}
		for m := range c.tasks() {
			row := c.to[c.start[m]:c.start[m+1]]
			if slices.Contains(row, int32(m)) || len(slices.Compact(slices.Sorted(slices.Values(row)))) != len(row) {
				t.Fatalf("lump %d is linked to %v", m, row)
			}
		}
		coarse := halves{links: c, side: make([]uint8, c.tasks())}
		for m := range coarse.side {
			coarse.side[m] = uint8(r.IntN(2))
		}
		fine := halves{links: l, side: make([]uint8, n)}
		for v, m := range lump {
			fine.side[v] = coarse.side[m]
		}
		if coarse.cut() != fine.cut() {
			t.Fatalf("lumps cut %d, tasks %d", coarse.cut(), fine.cut())
		}
	})
}

// The leaves of a star, and tasks without links, are lumped, too.
func TestCoarserShrinks(t *testing.T) {
	star := Graph{Tasks: 101}
	for v := 1; v < star.Tasks; v++ {
		star.Edges = append(star.Edges, Edge{0, v, 1})
	}
	for name, g := range map[string]Graph{"star": star, "no links": {Tasks: 101}, "grid": gridGraph(10, 10)} {
		if c, _ := g.links().coarser(2); c.tasks() > 52 {
			t.Errorf("%s: %d lumps of %d tasks", name, c.tasks(), g.Tasks)
		}
	}
}

// Whatever the ranks' places in the tree, trades lower the cost and keep the
// limits: what is said to pull a task outside the pair is right.
func TestTradesLowerTheCost(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, text := range []string{"core:6", "node:3 core:2", "rack:2 node:3 core:1+2*5", "node:9 socket:2 core:4"} {
		for range 20 {
			tree := parseTree(t, text)
			g := drawnGraph(r, 60, 150, 9, 1+9*r.Int64N(2))
			l := g.links()
			b := newBalance(l.load, tree.Ranks())
			placed := b.inOrder(l.load)
			r.Shuffle(len(placed), func(i, j int) {
				if l.load[i] == l.load[j] {
					placed[i], placed[j] = placed[j], placed[i]
				}
			})
			d := &descent{tree: tree, links: l, balance: b}
			before := costOf(tree, l, placed)
			after := d.polished(placed)
			if cost := costOf(tree, l, after); cost.Total*10 > before.Total*9 || !b.holds(l.load, after) {
				t.Errorf("%s: from cost %d to %d, loads %d within %d to %d", text, before.Total, cost.Total,
					loadsOf(tree.Ranks(), l.load, after), b.floor, b.limit)
			}
		}
	}
}

// Bounds leave both groups within what they may carry, if both together are.
func TestBounds(t *testing.T) {
	for _, load := range [][]int64{{1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, {7, 3, 9, 4, 4, 8, 2, 6, 5, 8}} {
		b := newBalance(load, 4)
		for a := 1; a < 4; a++ {
			for both := range b.capacity(4) + 20 {
				low, high := b.bounds(both, a, 4-a)
				fits := both <= b.capacity(a)+b.capacity(4-a) && both >= 4*b.floor
				ok := low <= high && (!fits || low >= 0 && high <= b.capacity(a) && both-low <= b.capacity(4-a) &&
					low >= int64(a)*b.floor && both-high >= int64(4-a)*b.floor)
				if !ok || !fits && (low != high || low < both/4*int64(a) || low > both/4*int64(a)+int64(a)) {
					t.Errorf("%d on %d and %d ranks: bounds %d to %d", both, a, 4-a, low, high)
				}
			}
		}
		if b.capacity(1) != b.limit || b.capacity(4) > 4*b.limit {
			t.Errorf("one rank may carry %d and four %d, the limit is %d", b.capacity(1), b.capacity(4), b.limit)
		}
	}
	if b := newBalance([]int64{10, 10, 20, 40}, 4); b.limit != 40 || b.capacity(2) != 40+(80-40)/2 || b.capacity(4) != 80+(160-80)/3 {
		t.Errorf("limit %d, two ranks may carry %d, four %d", b.limit, b.capacity(2), b.capacity(4))
	}
}

// Blocks in order are contiguous, and the limit for tasks that differ is what
// the best blocks need or the tolerance allows.
func TestBlocksInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		load := rapid.SliceOfN(rapid.Int64Range(1, 30), 1, 30).Draw(t, "loads")
		ranks := rapid.IntRange(1, 8).Draw(t, "ranks")
		b := newBalance(load, ranks)
		placed := b.inOrder(load)
		if !slices.IsSorted(placed) || !b.holds(load, placed) {
			t.Fatalf("blocks %v of loads %v within %d to %d", placed, load, b.floor, b.limit)
		}
		if b.even {
			return
		}
		allowed := int64(float64(b.total) / float64(ranks) * (1 + tolerance))
		if want := max(allowed, leastBlocks(load, ranks)); b.limit != want {
			t.Fatalf("limit %d, want %d", b.limit, want)
		}
	})
}

// leastBlocks is the load of the heaviest of so many blocks, if that is as light
// as can be.
func leastBlocks(load []int64, ranks int) int64 {
	if len(load) == 0 {
		return 0
	}
	if ranks == 0 {
		return math.MaxInt64
	}
	least, block := int64(math.MaxInt64), int64(0)
	for n, w := range load {
		block += w
		if block >= least {
			break
		}
		least = min(least, max(block, leastBlocks(load[n+1:], ranks-1)))
	}
	return least
}

// Tasks of one load are spread to within one, and few tasks take the first
// ranks.
func TestBlocksOfEqualTasks(t *testing.T) {
	for _, c := range []struct {
		tasks, ranks int
		want         []topology.Rank
	}{
		{7, 3, []topology.Rank{0, 0, 0, 1, 1, 2, 2}},
		{3, 5, []topology.Rank{0, 1, 2}},
		{4, 2, []topology.Rank{0, 0, 1, 1}},
	} {
		l := (&Graph{Tasks: c.tasks}).links()
		b := newBalance(l.load, c.ranks)
		if got := b.inOrder(l.load); !slices.Equal(got, c.want) {
			t.Errorf("%d tasks on %d ranks: %v, want %v", c.tasks, c.ranks, got, c.want)
		}
	}
}

// An error about a task or tree that cannot be placed names it and the remedy.
func TestPlaceRefuses(t *testing.T) {
	tree := topology.Flat(2)
	two := func(edges ...Edge) Graph { return Graph{Tasks: 2, Edges: edges} }
	for _, c := range []struct {
		tree *topology.Tree
		g    Graph
		want string
	}{
		{nil, two(), "the tree is missing: take it from topology.Parse"},
		{&topology.Tree{}, two(), "the tree is missing"},
		{tree, Graph{}, "Graph.Tasks is 0: give 1 to"},
		{tree, Graph{Tasks: MaxPlacedTasks + 1}, "Graph.Tasks is 67108865"},
		{tree, two(Edge{0, 2, 1}), "edge 0 (0-2) leads to no task: number tasks from 0 to 1"},
		{tree, two(Edge{-1, 0, 1}), "edge 0 (-1-0) leads to no task"},
		{tree, two(Edge{0, 1, 1}, Edge{1, 1, 1}), "edge 1 (1-1) joins a task with itself"},
		{tree, two(Edge{0, 1, -1}), "edge 0 (0-1) has weight -1"},
		{tree, two(Edge{0, 1, 1 << 60}, Edge{0, 1, 1 << 61}), "edge 1 (0-1) makes the sum of all weights too large"},
		{tree, Graph{Tasks: 2, Names: []string{"a"}}, "has 1 names for 2 tasks"},
		{tree, Graph{Tasks: 2, Names: []string{"a", "a"}}, `tasks 0 and 1 are both called "a"`},
		{tree, Graph{Tasks: 2, Loads: []int64{1}}, "has 1 loads for 2 tasks"},
		{tree, Graph{Tasks: 2, Loads: []int64{1, 0}, Names: []string{"a", "b"}}, "task b has load 0"},
		{tree, Graph{Tasks: 2, Loads: []int64{1, math.MaxInt64 / 8}}, "task 1 makes the sum of all loads too large"},
	} {
		_, err := Place(c.tree, c.g)
		var typed *Error
		if !errors.As(err, &typed) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: want %q", err, c.want)
		}
	}
}

// The largest sums that are taken do not overflow.
func TestLargestSums(t *testing.T) {
	tree := parseTree(t, "node:2 core:2")
	g := Graph{Tasks: 5, Edges: []Edge{{0, 4, math.MaxInt64/8 - 2}, {1, 3, 1}, {2, 3, 1}},
		Loads: []int64{math.MaxInt64 / 64, math.MaxInt64 / 80, 1, 1, math.MaxInt64 / 80}}
	p := placeOn(t, tree, g)
	if p.Cost.Total < 0 || p.Cost.Total > p.InOrder.Total || p.Cost.weight() != math.MaxInt64/8 {
		t.Errorf("cost %+v, blocks in order %+v", p.Cost, p.InOrder)
	}
}

func TestGraphOf(t *testing.T) {
	const write = true
	for _, c := range []struct {
		name     string
		accesses []Access
		want     []Edge
	}{
		{"a star of readers", []Access{{1, 0, write}, {0, 0, false}, {2, 0, false}, {3, 0, false}},
			[]Edge{{1, 0, 100}, {1, 2, 100}, {1, 3, 100}}},
		{"each reads from the writer before it", []Access{{0, 0, write}, {1, 0, false}, {2, 0, write}, {3, 0, false}},
			[]Edge{{2, 0, 100}, {0, 1, 100}, {0, 2, 100}, {2, 3, 100}}},
		{"who reads first reads what was written last", []Access{{2, 0, write}, {1, 0, write}, {0, 0, false}},
			[]Edge{{2, 0, 100}, {2, 1, 100}, {1, 2, 100}}},
		{"a task hands nothing to itself", []Access{{0, 0, write}, {0, 0, false}}, nil},
		{"what nobody writes does not travel again", []Access{{0, 0, false}, {1, 0, false}}, nil},
		{"sizes count", []Access{{0, 1, write}, {1, 1, false}}, []Edge{{0, 1, 900}}},
	} {
		g, err := GraphOf(4, c.accesses, []int{100, 900})
		for i := range c.want {
			c.want[i].Weight += HandOverWeight
		}
		if err != nil || g.Tasks != 4 || !slices.Equal(g.Edges, c.want) {
			t.Errorf("%s: %v %+v, want edges %v", c.name, err, g, c.want)
		}
	}
}

// Thousands of readers make an edge each, and not one with each other.
func TestGraphOfManyReaders(t *testing.T) {
	accesses := []Access{{Write: true}}
	for v := 1; v < 5000; v++ {
		accesses = append(accesses, Access{Task: v})
	}
	if g, err := GraphOf(5000, accesses, []int{8}); err != nil || len(g.Edges) != 4999 {
		t.Errorf("%v, %d edges", err, len(g.Edges))
	}
}

func TestAccessesAreChecked(t *testing.T) {
	graph := func(a Access, size int) error {
		_, err := GraphOf(2, []Access{{}, a}, []int{size})
		return err
	}
	for _, c := range []struct {
		err  error
		want string
	}{
		{graph(Access{Task: 2}, 8), "access 1 is by task 2: number tasks from 0 to 1"},
		{graph(Access{Task: -1}, 8), "access 1 is by task -1"},
		{graph(Access{Resource: 1}, 8), "access 1 is to resource 1: number resources from 0 to 0"},
		{graph(Access{Resource: -1}, 8), "access 1 is to resource -1"},
		{graph(Access{}, -8), "resource 0 has size -8: give 0 or more bytes"},
	} {
		var typed *Error
		if !errors.As(c.err, &typed) || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("%v: want %q", c.err, c.want)
		}
	}
}
