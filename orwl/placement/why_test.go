package placement

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/net/topology"
)

// chain is six tasks in a row, whose links get lighter, and one without links.
func chain() Graph {
	return Graph{Tasks: 7, Names: []string{"a", "b", "c", "d", "e", "f", "lone"},
		Edges: []Edge{{0, 1, 50}, {1, 2, 40}, {2, 3, 30}, {3, 4, 20}, {4, 5, 10}, {0, 3, 5}}}
}

// moved is a placement with some tasks elsewhere than the search put them.
func moved(p *Placement, ranks ...topology.Rank) *Placement {
	p.Rank = ranks
	return p
}

func TestWhy(t *testing.T) {
	tree := parseTree(t, "node:2 core:2")
	for _, c := range []struct {
		task  string
		ranks []topology.Rank
		want  string
	}{
		{"lone", []topology.Rank{0, 0, 1, 1, 2, 2, 3}, `
Task lone is on rank 3: node 1, core 3.
It has no neighbours: any rank would do.
`},
		{"b", []topology.Rank{0, 0, 1, 1, 2, 2, 3}, `
Task b is on rank 0: node 0, core 0.
  its neighbours in    weight  share  so far  cost  which
  core 0                   50    56%     56%     0  a
  the rest of node 0       40    44%    100%    40  c
  the rest of machine       0     0%    100%     0
It costs 40 here, and no rank would cost it less.
`},
		{"d", []topology.Rank{0, 0, 1, 2, 2, 1, 3}, `
Task d is on rank 2: node 1, core 2.
  its neighbours in    weight  share  so far  cost  which
  core 2                   20    36%     36%     0  e
  the rest of node 1        0     0%     36%     0
  the rest of machine      35    64%    100%    70  c a
It costs 70 here and would cost 45 on rank 1 (node 0, core 1), which is full;
trading places with task f would take 45 off the whole: the search did not get to it.
`},
		{"d", []topology.Rank{0, 0, 1, 2, 3, 1, 3}, `
Task d is on rank 2: node 1, core 2.
  its neighbours in    weight  share  so far  cost  which
  core 2                    0     0%      0%     0
  the rest of node 1       20    36%     36%    20  e
  the rest of machine      35    64%    100%    70  c a
It costs 90 here and would cost 45 on rank 1 (node 0, core 1), which is full;
trading places with task f would take 55 off the whole: the search did not get to it.
`},
		{"c", []topology.Rank{0, 0, 1, 1, 2, 2, 3}, `
Task c is on rank 1: node 0, core 1.
  its neighbours in    weight  share  so far  cost  which
  core 1                   30    43%     43%     0  d
  the rest of node 0       40    57%    100%    40  b
  the rest of machine       0     0%    100%     0
It costs 40 here and would cost 30 on rank 0 (node 0, core 0), which is full;
the best trade, with task a, would add 35 to the whole.
`},
		{"f", []topology.Rank{0, 0, 1, 1, 2, 3, 2}, `
Task f is on rank 3: node 1, core 3.
  its neighbours in    weight  share  so far  cost  which
  core 3                    0     0%      0%     0
  the rest of node 1       10   100%    100%    10  e
  the rest of machine       0     0%    100%     0
It costs 10 here and would cost 0 on rank 2 (node 1, core 2), which is full;
trading places with task lone would take 10 off the whole: the search did not get to it.
`},
		{"f", []topology.Rank{0, 0, 1, 1, 2, 3, 3}, `
Task f is on rank 3: node 1, core 3.
  its neighbours in    weight  share  so far  cost  which
  core 3                    0     0%      0%     0
  the rest of node 1       10   100%    100%    10  e
  the rest of machine       0     0%    100%     0
It costs 10 here and would cost 0 on rank 2 (node 1, core 2), which has room: the search did not get to this move.
`},
		{"e", []topology.Rank{0, 0, 1, 1, 2, 3, 3}, `
Task e is on rank 2: node 1, core 2.
  its neighbours in    weight  share  so far  cost  which
  core 2                    0     0%      0%     0
  the rest of node 1       10    33%     33%    10  f
  the rest of machine      20    67%    100%    40  d
It costs 50 here and would cost 20 on rank 1 (node 0, core 1), which is full;
the best trade, with task c, would add 70 to the whole.
`},
		{"e", []topology.Rank{0, 0, 1, 3, 2, 1, 3}, `
Task e is on rank 2: node 1, core 2.
  its neighbours in    weight  share  so far  cost  which
  core 2                    0     0%      0%     0
  the rest of node 1       20    67%     67%    20  d
  the rest of machine      10    33%    100%    20  f
It costs 40 here and would cost 20 on rank 3 (node 1, core 3), which is full;
trading places with task lone would take 20 off the whole: the search did not get to it.
`},
	} {
		got, err := moved(placeOn(t, tree, chain()), c.ranks...).Why(c.task)
		if err != nil {
			t.Fatal(err)
		}
		if "\n"+got != c.want {
			t.Errorf("with tasks on %d:\n%s\nwant:%s", c.ranks, got, c.want)
		}
	}
}

// A rank that would be left with too little keeps its task, and a task that weighs too much
// finds no rank to trade with.
func TestWhyNoMove(t *testing.T) {
	// Three on two ranks: one each at least, two at most.
	g := Graph{Tasks: 3, Edges: []Edge{{0, 1, 1}, {1, 2, 9}}}
	why, err := moved(placeOn(t, topology.Flat(2), g), 0, 1, 0).Why("1")
	want := "It costs 10 here and would cost 0 on rank 0 (rank 0), which is full;\n" +
		"trading places with task 0 would take 9 off the whole: the search did not get to it.\n"
	if err != nil || !strings.HasSuffix(why, want) {
		t.Errorf("%v: %s", err, why)
	}
	g.Tasks, g.Edges = 2, []Edge{{0, 1, 1}}
	p := placeOn(t, topology.Flat(2), g)
	p.Limit = 2
	if why, err = p.Why("1"); err != nil || !strings.Contains(why, "would be left with too little;\nthe best trade, with task 0, would add 0") {
		t.Errorf("%v: %s", err, why)
	}
	g.Loads = []int64{3, 5}
	if why, err = placeOn(t, topology.Flat(2), g).Why("0"); err != nil || !strings.Contains(why, "which is full;\nthe best trade, with task 1, would add 0") {
		t.Errorf("%v: %s", err, why)
	}
	p = placeOn(t, topology.Flat(2), g)
	p.Limit, p.Floor = 6, 4 // a trade would leave 3
	if why, err = p.Why("0"); err != nil || !strings.Contains(why, "which is full; no task there could trade places with it.") {
		t.Errorf("%v: %s", err, why)
	}
	p = placeOn(t, topology.Flat(2), g)
	p.Limit = 4
	if why, err = p.Why("0"); err != nil || !strings.Contains(why, "which is full; no task there could trade places with it.") {
		t.Errorf("%v: %s", err, why)
	}
}

// The change that Why names for a trade is the change of the total cost.
func TestBestTradeIsTheDifference(t *testing.T) {
	tree := parseTree(t, "node:2 core:2")
	p := moved(placeOn(t, tree, chain()), 0, 1, 2, 3, 0, 1, 2)
	before := costOf(tree, p.links, p.Rank).Total
	for v := range p.Rank {
		for r := range topology.Rank(4) {
			u, change, found := p.bestTrade(v, r, p.Loads())
			if !found || r == p.Rank[v] {
				continue
			}
			p.Rank[v], p.Rank[u] = p.Rank[u], p.Rank[v]
			if after := costOf(tree, p.links, p.Rank).Total; after-before != change {
				t.Errorf("trading %d and %d changes the cost by %d, said to be %d", v, u, after-before, change)
			}
			p.Rank[v], p.Rank[u] = p.Rank[u], p.Rank[v]
		}
	}
}

func TestWhyUnknownTask(t *testing.T) {
	p := placeOn(t, topology.Flat(2), chain())
	if _, err := p.Why("g"); !errors.Is(err, ErrUnknownTask) || !strings.Contains(err.Error(), `"g": tasks are called a b c d e f lone`) {
		t.Error(err)
	}
	var b strings.Builder
	if err := p.Report(&b, "a", "g"); !errors.Is(err, ErrUnknownTask) || b.Len() > 0 {
		t.Errorf("%v, after %q", err, b.String())
	}
	p = placeOn(t, topology.Flat(2), Graph{Tasks: 30})
	for _, name := range []string{"30", "-1", "007", "x"} {
		if _, err := p.Why(name); !errors.Is(err, ErrUnknownTask) || !strings.Contains(err.Error(), "0 to 29") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := p.Why("29"); err != nil {
		t.Error(err)
	}
}

func TestReport(t *testing.T) {
	p := placeOn(t, parseTree(t, "node:2 core:2"), chain())
	p.Rank = []topology.Rank{0, 0, 1, 1, 2, 2, 3}
	p.Cost = costOf(p.tree, p.links, p.Rank)
	for _, c := range []struct {
		tasks []string
		want  string
	}{
		{nil, `
7 tasks, 6 links of weight 155, on node:2 core:2 (4 ranks, at most 2 on each)

                 cost  same core ×0  same node ×1  same machine ×2
as placed          85            90            45               20
blocks in order    85            90            45               20
round robin       220             0            90               65

rank  where           tasks  load  weight that stays  that leaves
   0  node 0, core 0      2     2                 50           45
   1  node 0, core 1      2     2                 30           65
   2  node 1, core 2      2     2                 10           20
   3  node 1, core 3      1     1                  0            0

task  rank  where           same core  same node  same machine  neighbours from near to far
a        0  node 0, core 0         50          5             0  b d
b        0  node 0, core 0         50         40             0  a c
c        1  node 0, core 1         30         40             0  d b
d        1  node 0, core 1         30          5            20  c a e
e        2  node 1, core 2         10          0            20  f d
f        2  node 1, core 2         10          0             0  e
lone     3  node 1, core 3          0          0             0
`},
		{[]string{"lone"}, `
7 tasks, 6 links of weight 155, on node:2 core:2 (4 ranks, at most 2 on each)

                 cost  same core ×0  same node ×1  same machine ×2
as placed          85            90            45               20
blocks in order    85            90            45               20
round robin       220             0            90               65

Task lone is on rank 3: node 1, core 3.
It has no neighbours: any rank would do.
`},
	} {
		var b strings.Builder
		if err := p.Report(&b, c.tasks...); err != nil || "\n"+b.String() != c.want {
			t.Errorf("%v\n%s\nwant:%s", err, b.String(), c.want)
		}
	}
}

// If there are many to name, why names some and counts the others.
func TestSomeOf(t *testing.T) {
	names := strings.Fields("a b c d")
	for n, want := range map[int]string{2: "a b and 2 more", 4: "a b c d", 9: "a b c d"} {
		if got := someOf(names, n); got != want {
			t.Errorf("%d of four: %q, want %q", n, got, want)
		}
	}
}

// A report passes on that it could not be written, wherever that happens.
func TestReportFailsWithItsWriter(t *testing.T) {
	p := placeOn(t, topology.Flat(2), chain())
	var b strings.Builder
	if err := p.Report(&b); err != nil {
		t.Fatal(err)
	}
	for room := range b.Len() {
		if err := p.Report(&short{room}); !errors.Is(err, errShort) {
			t.Fatalf("with room for %d of %d bytes: %v", room, b.Len(), err)
		}
	}
}

// short takes so many bytes, fails once, and takes everything after.
type short struct{ room int }

var errShort = errors.New("full")

func (s *short) Write(p []byte) (int, error) {
	if s.room -= len(p); s.room < 0 {
		s.room = math.MaxInt
		return 0, errShort
	}
	return len(p), nil
}
