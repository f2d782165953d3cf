package spread

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/net/topology"
	"github.com/orwl/go-orwl/orwl/internal/balance"
	"github.com/orwl/go-orwl/orwl/placement"
)

// cellBytes is the size of a cell of a grid of tasks.
const cellBytes = 4096

// cell is the number of a cell of a grid, from its row and column.
type cell struct{ row, col int }

func (c cell) String() string { return fmt.Sprintf("%d,%d", c.row, c.col) }

// cells returns the cells of a square grid: row by row, or in an order drawn from seed if
// that is not 0.
func cells(side int, seed uint64) (all []cell) {
	for row := range side {
		for col := range side {
			all = append(all, cell{row, col})
		}
	}
	if seed != 0 {
		rand.New(rand.NewPCG(seed, 0)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	}
	return all
}

// grid is a program of one task for each cell. A task writes its cell and reads the four next to it.
func grid(nodes int, order []cell) *Program {
	p := &Program{Nodes: nodes, On: slices.Repeat([]int{Free}, len(order)), Homes: make(map[string]int)}
	number := make(map[cell]int)
	access := func(task int, c cell, write bool) {
		r, known := number[c]
		if !known {
			r = len(number)
			number[c] = r
			p.Names, p.Sizes = append(p.Names, c.String()), append(p.Sizes, cellBytes)
		}
		p.Accesses = append(p.Accesses, placement.Access{Task: task, Resource: r, Write: write})
	}
	for i, c := range order {
		access(i, c, true)
		for _, d := range []cell{{-1, 0}, {1, 0}, {0, -1}, {0, 1}} {
			if next := (cell{c.row + d.row, c.col + d.col}); slices.Contains(order, next) {
				access(i, next, false)
			}
		}
	}
	return p
}

// divide returns the node of each cell.
func divide(t *testing.T, p *Program, order []cell) map[cell]int {
	t.Helper()
	on, err := p.Divide()
	if err != nil {
		t.Fatal(err)
	}
	return cellsOn(on, order)
}

func cellsOn(on []int, order []cell) map[cell]int {
	at := make(map[cell]int)
	for i, c := range order {
		at[c] = on[i]
	}
	return at
}

// cutOf counts the pairs of neighbours on different nodes.
func cutOf(at map[cell]int) (cut int) {
	for c, node := range at {
		for _, d := range []cell{{1, 0}, {0, 1}} {
			if other, ok := at[cell{c.row + d.row, c.col + d.col}]; ok && other != node {
				cut++
			}
		}
	}
	return cut
}

// A grid is cut into compact pieces of equal size, in whatever order it is declared. The
// bounds are one side for each straight cut, and a quarter more where the order is random.
func TestGridIsCutIntoCompactPieces(t *testing.T) {
	rings.Computes(t)
	const side = 12
	for _, c := range []struct{ nodes, byRows, least int }{{2, side, side}, {4, 3 * side, 2 * side}} {
		for seed := range uint64(8) {
			order := cells(side, seed)
			p := grid(c.nodes, order)
			at := divide(t, p, order)
			got, before := cutOf(at), cutOf(cellsOn(p.ByIndex(), order))
			if seed == 0 && before != c.byRows {
				t.Fatalf("%d nodes: dealing by index cuts %d, want %d", c.nodes, before, c.byRows)
			}
			if got > before || got > c.least*5/4 {
				t.Errorf("%d nodes, order %d: the cut is %d, want at most %d; by index it is %d", c.nodes, seed, got, c.least*5/4, before)
			}
			counts := make([]int, c.nodes)
			for _, node := range at {
				counts[node]++
			}
			for _, n := range counts {
				if n != side*side/c.nodes {
					t.Errorf("%d nodes, order %d: they have %d tasks", c.nodes, seed, counts)
					break
				}
			}
		}
	}
}

// A home follows the task that writes the resource, or else the first that reads it, unless the
// program says it. The home of a resource without an access is somewhere.
func TestHomesFollowWriters(t *testing.T) {
	rings.Computes(t)
	order := cells(6, 1)
	p := grid(2, order)
	said := order[0]
	p.Homes[said.String()], p.Homes["elsewhere"] = 1, 0
	p.All = append(slices.Clone(p.Names), "unused", "elsewhere", "read")
	p.Names, p.Sizes = append(p.Names, "read"), append(p.Sizes, 8)
	for _, reader := range []int{7, 8} {
		p.Accesses = append(p.Accesses, placement.Access{Task: reader, Resource: len(p.Names) - 1})
	}
	on, err := p.Divide()
	if err != nil {
		t.Fatal(err)
	}
	homes := p.HomesFor(on)
	want := map[string]int{said.String(): 1, "elsewhere": 0, "read": on[7], "unused": heaviest("unused", 2)}
	for i, c := range order[1:] {
		want[c.String()] = on[1+i]
	}
	if !maps.Equal(homes, want) {
		t.Errorf("the homes are %v, want %v", homes, want)
	}
	if p.Nodes = 1; p.HomesFor(p.ByIndex()) != nil {
		t.Error("one node needs homes")
	}
}

// In a round x goes to b, and y goes from b to its home. Nothing goes to c, because b's node has y
// already. Here a writes x; b reads x and writes y; c reads y.
func TestCrossing(t *testing.T) {
	p := &Program{
		Nodes: 2, On: []int{0, 1, 1}, Names: []string{"x", "y"}, Sizes: []int{16, 64}, Homes: map[string]int{"y": 0},
		Accesses: []placement.Access{{Task: 0, Resource: 0, Write: true}, {Task: 1, Resource: 0}, {Task: 1, Resource: 1, Write: true}, {Task: 2, Resource: 1}},
	}
	for _, c := range []struct {
		on   []int
		want int64
	}{
		{[]int{0, 1, 1}, 16 + 64},
		{[]int{0, 0, 0}, 0},
		{[]int{0, 0, 1}, 64},
		{[]int{1, 1, 1}, 64},
		{[]int{0, 1, 0}, 16 + 64},
	} {
		if got, _ := p.Crossing(c.on, p.HomesFor(c.on)); got != c.want {
			t.Errorf("tasks on nodes %d: %d bytes cross, want %d", c.on, got, c.want)
		}
	}
	// Two writers in turns on two nodes: each gets the version of the other.
	p = &Program{
		Nodes: 2, On: []int{0, 1}, Names: []string{"r"}, Sizes: []int{8}, Machines: Machines{{0}, {1}},
		Accesses: []placement.Access{{Task: 0, Write: true}, {Task: 1, Write: true}},
	}
	if got, between := p.Crossing(p.On, map[string]int{"r": 0}); got != 16 || between != 16 {
		t.Errorf("two writers: %d bytes cross, %d between machines, want 16", got, between)
	}
}

// Tasks with On stay, and attract their neighbours. All nodes get as many tasks, whatever
// On says. Columns at the edges are declared so that dealing by index would be wrong.
func TestOnWins(t *testing.T) {
	rings.Computes(t)
	const side = 8
	order := cells(side, 5)
	p := grid(2, order)
	for i, c := range order {
		switch c.col {
		case 0:
			p.On[i] = 1
		case side - 1:
			p.On[i] = 0
		}
	}
	at := divide(t, p, order)
	count := 0
	for c, node := range at {
		if c.col == 0 && node != 1 || c.col == side-1 && node != 0 {
			t.Errorf("task %v is on node %d in spite of On", c, node)
		}
		count += node
	}
	if cut := cutOf(at); cut > side*5/4 {
		t.Errorf("the cut is %d, want at most %d", cut, side*5/4)
	}
	if count < 30 || count > 34 {
		t.Errorf("node 1 has %d of %d tasks, want about half", count, side*side)
	}
}

// Where On gives a node more than its share, the other nodes share the rest.
func TestFreeTasksFillUpOtherNodes(t *testing.T) {
	rings.Computes(t)
	order := cells(10, 0)
	p := grid(3, order)
	for i := range 70 {
		p.On[i] = 2
	}
	counts := make([]int, 3)
	for _, node := range divide(t, p, order) {
		counts[node]++
	}
	if !slices.Equal(counts, []int{15, 15, 70}) {
		t.Errorf("the nodes have %d tasks, want 15 15 70", counts)
	}
}

// A piece goes to the node that Home makes the home of its resources. Here it is a row of
// tasks, and Home speaks of the two ends.
func TestPiecesGoToDeclaredHomes(t *testing.T) {
	rings.Computes(t)
	for west := range 2 {
		const side = 12
		order := slices.DeleteFunc(cells(side, 2), func(c cell) bool { return c.row > 0 })
		p := grid(2, order)
		p.Homes["0,0"], p.Homes["0,11"] = west, 1-west
		for c, node := range divide(t, p, order) {
			want := west
			if c.col >= side/2 {
				want = 1 - west
			}
			if node != want {
				t.Errorf("west on node %d: task %v is on node %d, want %d", west, c, node, want)
			}
		}
	}
}

// A program that is too large is dealt by index, on nodes and on workers.
func TestLargeProgramIsDealtByIndex(t *testing.T) {
	p := &Program{Nodes: 2, On: slices.Repeat([]int{Free}, 4), Names: []string{"r"}, Sizes: []int{8}}
	p.Accesses = slices.Repeat([]placement.Access{{Task: 0}}, mostPlaced)
	if p.Dealt() {
		t.Error("it is not too large yet")
	}
	p.Accesses = append(p.Accesses, placement.Access{Task: 2, Write: true})
	on, err := p.Divide()
	if err != nil || !slices.Equal(on, []int{0, 0, 1, 1}) || !p.Dealt() {
		t.Errorf("tasks are on nodes %d, %v, dealt %t, want 0 0 1 1", on, err, p.Dealt())
	}
	if on, err = p.Seats(topology.Flat(2)); err != nil || !slices.Equal(on, []int{0, 0, 1, 1}) {
		t.Errorf("tasks are on workers %d, %v, want 0 0 1 1", on, err)
	}
	if p.On = []int{1, 0, 1, 0}; p.Dealt() {
		t.Error("nothing is left to deal")
	}
}

func TestLevelOf(t *testing.T) {
	for _, c := range []struct {
		said []int64
		free int64
		want int64
	}{
		{[]int64{0, 0}, 10, 5},
		{[]int64{0, 50}, 10, 10},
		{[]int64{3, 50, 1}, 10, 7},
		{[]int64{4, 4, 4}, 1, 5},
		{[]int64{2}, 0, 2},
		{[]int64{0, 0, 9}, 0, 1},
	} {
		if got := levelOf(c.said, c.free); got != c.want {
			t.Errorf("%d and %d free: %d, want %d", c.said, c.free, got, c.want)
		}
	}
}

// Nodes get tasks by their weights, in compact pieces. The cut has at most a quarter
// more edges than straight cuts.
func TestDivideByWeights(t *testing.T) {
	rings.Computes(t)
	const side = 12
	for _, c := range []struct {
		side     int
		weights  []int
		machines Machines
		least    int
	}{
		{side, []int{1333, 667}, nil, side},
		{side, []int{500, 1000, 1500}, nil, 2 * side},
		{side, []int{400, 1200, 1200, 1200}, nil, 5 * side / 2},
		{side, []int{1333, 667, 1333, 667}, Machines{{0, 2}, {1, 3}}, 5 * side / 2},
		{8, []int{1333, 667}, nil, 8},
		{4, []int{1333, 667}, nil, 6},
	} {
		for seed := range uint64(6) {
			order := cells(c.side, seed)
			p := grid(len(c.weights), order)
			p.Weights, p.Machines = c.weights, c.machines
			at := divide(t, p, order)
			counts := make([]int, len(c.weights))
			for _, node := range at {
				counts[node]++
			}
			want := balance.Shares(len(order), c.weights)
			if !slices.Equal(counts, want) {
				t.Errorf("%d cells, order %d, weights %d: the nodes have %d tasks, want %d", len(order), seed, c.weights, counts, want)
			}
			if cut := cutOf(at); cut > c.least*5/4 {
				t.Errorf("%d cells, order %d, weights %d: the cut is %d, want at most %d", len(order), seed, c.weights, cut, c.least*5/4)
			}
			p.On[3] = 1
			if on := p.ByIndex(); p.Weighed() || !slices.Equal(on, func() []int { p.Weights = nil; return p.ByIndex() }()) {
				t.Error("weights decide where the program says a node")
			}
		}
	}
}
