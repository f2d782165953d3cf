package placement

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/net/topology"
)

// gridGraph is w by h tasks, numbered by rows, each linked to those beside,
// above and below it.
func gridGraph(w, h int) Graph {
	g := Graph{Tasks: w * h}
	for t := range g.Tasks {
		if t%w+1 < w {
			g.Edges = append(g.Edges, Edge{t, t + 1, 1})
		}
		if t+w < g.Tasks {
			g.Edges = append(g.Edges, Edge{t, t + w, 1})
		}
	}
	return g
}

// drawnGraph has the given number of edges, fewer those that would join a task
// with itself, and loads if those may exceed 1.
func drawnGraph(r *rand.Rand, tasks, edges int, weight, load int64) Graph {
	g := Graph{Tasks: tasks}
	for range edges {
		if a, b := r.IntN(tasks), r.IntN(tasks); a != b {
			g.Edges = append(g.Edges, Edge{a, b, 1 + r.Int64N(weight)})
		}
	}
	if load > 1 {
		for range tasks {
			g.Loads = append(g.Loads, 1+r.Int64N(load))
		}
	}
	return g
}

func parseTree(t testing.TB, text string) *topology.Tree {
	t.Helper()
	tree, err := topology.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func placeOn(t testing.TB, tree *topology.Tree, g Graph) *Placement {
	t.Helper()
	p, err := Place(tree, g)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// optimum is the least cost of all placements within the limits, found by trying
// every one.
func optimum(tree *topology.Tree, l *links, b balance) int64 {
	placed := make([]topology.Rank, l.tasks())
	least := int64(-1)
	var from func(v int)
	from = func(v int) {
		if v < len(placed) {
			for r := range topology.Rank(tree.Ranks()) {
				placed[v] = r
				from(v + 1)
			}
			return
		}
		if b.holds(l.load, placed) {
			if cost := costOf(tree, l, placed).Total; least < 0 || cost < least {
				least = cost
			}
		}
	}
	from(0)
	return least
}

// Up to eight tasks on up to four ranks are placed at the least cost there is. The search by
// division and trade does not try all placements, and finds the least, too, in nearly all
// cases.
func TestOptimum(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	trees := []string{"core:2", "core:3", "core:4", "node:2 core:2", "node:2 core:2+1"}
	const graphs = 400
	found := 0
	for range graphs {
		tree := parseTree(t, trees[r.IntN(len(trees))])
		tasks := 2 + r.IntN(6)
		if tree.Ranks() < 4 {
			tasks++
		}
		g := drawnGraph(r, tasks, r.IntN(2*tasks+1), 1+r.Int64N(10), 1+4*r.Int64N(2))
		l := g.links()
		b := newBalance(l.load, tree.Ranks())
		least := optimum(tree, l, b)
		if p := placeOn(t, tree, g); p.Cost.Total != least {
			t.Errorf("%v of load %v on %v: cost %d, want %d", g.Edges, g.Loads, tree, p.Cost.Total, least)
		}
		if searched(tree, g).Cost.Total == least {
			found++
		}
	}
	t.Logf("division and trade alone find the least cost for %d of %d graphs", found, graphs)
	if found < graphs*95/100 {
		t.Errorf("division and trade alone find the least cost for only %d of %d graphs", found, graphs)
	}
}

// searched is what Place makes of a graph that is not small.
func searched(tree *topology.Tree, g Graph) *Placement {
	l := g.links()
	b := newBalance(l.load, tree.Ranks())
	d := &descent{tree: tree, links: l, balance: b}
	p := &Placement{graph: g, links: l, tree: tree}
	p.Rank = b.inOrder(l.load)
	p.Cost = costOf(tree, l, p.Rank)
	p.consider(&b, d.divided(), d.polished(p.Rank))
	return p
}

// Trying all placements finds the cheapest from any start.
func TestSearchIsComplete(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	tree := parseTree(t, "node:2 core:2")
	for range 15 {
		l := func() *links { g := drawnGraph(r, 8, 24, 9, 1+4*r.Int64N(2)); return g.links() }()
		b := newBalance(l.load, tree.Ranks())
		d := &descent{tree: tree, links: l, balance: b}
		start := b.inOrder(l.load)
		got := d.improved(start, costOf(tree, l, start).Total)
		if cost, least := costOf(tree, l, got).Total, optimum(tree, l, b); cost != least || !b.holds(l.load, got) {
			t.Errorf("cost %d, want %d", cost, least)
		}
	}
}

// A grid is cut into squares, and neighbouring squares are near each other.
func TestGridIsCutIntoSquares(t *testing.T) {
	rings.Computes(t)
	for text, ideal := range map[string]int64{
		"core:16":                384,                     // 4x4 squares of 16x16: 6 lines of 64
		"node:4 core:4":          384 + 128,               // and 2 of those lines are between nodes
		"node:2 socket:2 core:4": 384 + 128 + 64,          // one is the middle
		"rack:4 socket:4 core:1": 2*384 + 128,             // one rank in each of four by four
		"core:64":                7 * 64 * 2,              // 8x8 squares of 8x8
		"rack:4 node:4 core:4":   7*64*2 + 3*64*2 + 1*128, // in four of four squares
	} {
		p := placeOn(t, parseTree(t, text), gridGraph(64, 64))
		if p.Cost.Total*4 > ideal*5 {
			t.Errorf("%s: cost %d, want at most 1.25 × %d", text, p.Cost.Total, ideal)
		}
		t.Logf("%-24s cost %d, %.3f of squares, %.3f of blocks in order", text, p.Cost.Total,
			float64(p.Cost.Total)/float64(ideal), float64(p.Cost.Total)/float64(p.InOrder.Total))
	}
}

// Communities are found whatever their tasks are called.
func TestCommunities(t *testing.T) {
	const communities, size = 16, 25
	g := Graph{Tasks: communities * size}
	r := rand.New(rand.NewPCG(3, 4))
	number := r.Perm(g.Tasks)
	for v := range g.Tasks {
		own := v / size * size
		for range 3 {
			if u := own + r.IntN(size); u != v {
				g.Edges = append(g.Edges, Edge{number[v], number[u], 10})
			}
		}
		if u := r.IntN(g.Tasks); u != v && v%5 == 0 {
			g.Edges = append(g.Edges, Edge{number[v], number[u], 1})
		}
	}
	tree := parseTree(t, "node:4 core:4")
	p := placeOn(t, tree, g)
	apart := make([]topology.Rank, g.Tasks)
	for v := range g.Tasks {
		apart[number[v]] = topology.Rank(v / size)
	}
	if planted := costOf(tree, p.links, apart); p.Cost.Total > planted.Total {
		t.Errorf("cost %d, the planted communities cost %d", p.Cost.Total, planted.Total)
	}
}

// A resource with thousands of readers is a star: its centre is on a rank with
// as many leaves as fit, and the others are as near as they can be.
func TestStar(t *testing.T) {
	g := Graph{Tasks: 4001}
	for v := 1; v < g.Tasks; v++ {
		g.Edges = append(g.Edges, Edge{0, v, 7})
	}
	p := placeOn(t, parseTree(t, "node:4 core:4"), g)
	// 4001 tasks on 16 ranks: 251 on the centre's, 250 on every other.
	if want := []int64{250 * 7, 750 * 7, 3000 * 7}; !slices.Equal(p.Cost.ByDistance, want) {
		t.Errorf("weight by distance %d, want %d", p.Cost.ByDistance, want)
	}
}

// Fewer tasks than ranks huddle together instead of being scattered.
func TestFewTasksOnManyRanks(t *testing.T) {
	g := gridGraph(4, 4)
	p := placeOn(t, parseTree(t, "node:8 socket:2 core:8"), g)
	if p.Limit != 1 || p.Cost.ByDistance[0] != 0 || p.Cost.ByDistance[3] != 0 || p.Cost.ByDistance[2] > 4 {
		t.Errorf("limit %d, weight by distance %d: want 16 tasks on the ranks of one node, halved", p.Limit, p.Cost.ByDistance)
	}
}

// Tasks that differ in load seldom make the search fall back to blocks in order.
func TestDividedKeepsTheLimit(t *testing.T) {
	rings.Computes(t)
	r := rand.New(rand.NewPCG(5, 6))
	kept := 0
	const graphs = 12
	for range graphs {
		tree := parseTree(t, "node:2 socket:3 core:3")
		g := drawnGraph(r, 300, 900, 9, 20)
		l := g.links()
		b := newBalance(l.load, tree.Ranks())
		if b.holds(l.load, (&descent{tree: tree, links: l, balance: b}).divided()) {
			kept++
		}
	}
	t.Logf("%d of %d", kept, graphs)
	if kept < graphs*9/10 {
		t.Errorf("only %d of %d placements by division keep the limit", kept, graphs)
	}
}

// For any graph and tree: every task has a rank, ranks are within their limits, and
// the cost is what Place says. Blocks in order cost at least as much. A second call
// gives the same.
func TestPlaceKeepsItsPromises(t *testing.T) {
	rings.Computes(t)
	rapid.Check(t, func(t *rapid.T) {
		tree, err := topology.Parse(rapid.SampledFrom([]string{"core:1", "core:5", "node:3 core:2", "node:2 core:3+1",
			"rack:2 node:2+1 core:2", "node:8 socket:1 core:9", "core:70"}).Draw(t, "tree"))
		if err != nil {
			t.Fatal(err)
		}
		g := Graph{Tasks: rapid.IntRange(1, 200).Draw(t, "tasks")}
		task := rapid.IntRange(0, g.Tasks-1)
		for range rapid.IntRange(0, 3*g.Tasks).Draw(t, "edges") {
			if a, b := task.Draw(t, "a"), task.Draw(t, "b"); a != b {
				g.Edges = append(g.Edges, Edge{a, b, rapid.Int64Range(0, 100).Draw(t, "weight")})
			}
		}
		if rapid.Bool().Draw(t, "loads differ") {
			g.Loads = rapid.SliceOfN(rapid.Int64Range(1, 50), g.Tasks, g.Tasks).Draw(t, "loads")
		}
		p, err := Place(tree, g)
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Rank) != g.Tasks {
			t.Fatalf("%d ranks for %d tasks", len(p.Rank), g.Tasks)
		}
		var cost, links int64
		for _, e := range g.Edges {
			cost += e.Weight * int64(tree.Levels()+1-tree.Common(p.Rank[e.A], p.Rank[e.B]))
			links += e.Weight
		}
		if cost != p.Cost.Total || links != p.Cost.weight() {
			t.Fatalf("cost %d of weight %d, want %d of %d", p.Cost.Total, p.Cost.weight(), cost, links)
		}
		if p.Cost.Total > p.InOrder.Total {
			t.Fatalf("cost %d, but blocks in order cost %d", p.Cost.Total, p.InOrder.Total)
		}
		tasks, listed := 0, p.ByRank()
		for r, load := range p.Loads() {
			if load > p.Limit || load < p.Floor {
				t.Fatalf("rank %d carries %d, want %d to %d", r, load, p.Floor, p.Limit)
			}
			for _, v := range listed[r] {
				if int(p.Rank[v]) != r {
					t.Fatalf("task %d is listed on rank %d and is on %d", v, r, p.Rank[v])
				}
				tasks++
			}
		}
		if tasks != g.Tasks {
			t.Fatalf("%d tasks are listed, want %d", tasks, g.Tasks)
		}
		if g.Loads == nil && (p.Limit != int64((g.Tasks+tree.Ranks()-1)/tree.Ranks()) || p.Floor != int64(g.Tasks/tree.Ranks())) {
			t.Fatalf("limits %d to %d for %d tasks on %d ranks", p.Floor, p.Limit, g.Tasks, tree.Ranks())
		}
		again, err := Place(tree, g)
		if err != nil || !slices.Equal(again.Rank, p.Rank) {
			t.Fatalf("%v: %v and then %v", err, p.Rank, again.Rank)
		}
	})
}

// BenchmarkPlace places tasks with about four links each on 64 ranks.
func BenchmarkPlace(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	tree := parseTree(b, "node:2 socket:4 core:8")
	for _, c := range []struct {
		name string
		g    Graph
	}{
		{"grid/10000", gridGraph(100, 100)},
		{"random/10000", drawnGraph(r, 10000, 20000, 100, 1)},
		{"random8/10000", drawnGraph(r, 10000, 40000, 100, 1)},
		{"loads/10000", drawnGraph(r, 10000, 20000, 100, 20)},
		{"grid/100000", gridGraph(250, 400)},
		{"random/100000", drawnGraph(r, 100000, 200000, 100, 1)},
	} {
		b.Run(c.name, func(b *testing.B) {
			var p *Placement
			for b.Loop() {
				p = placeOn(b, tree, c.g)
			}
			b.ReportMetric(float64(p.Cost.Total)/float64(p.InOrder.Total), "of-blocks")
		})
	}
}
