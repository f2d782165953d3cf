package orwl

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/orwl/go-orwl/orwl/launch"
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

// gridOn is a program of one task for each cell of a grid, as one of several nodes sees
// it. A task writes its cell and reads the four next to it. The nodes have no network.
func gridOn(t *testing.T, node, nodes int, order []cell) *Runtime {
	t.Helper()
	rt := mustNew(t, Options{Nodes: &Nodes{place: launch.Place{Node: node, Nodes: nodes}}})
	for _, c := range order {
		rt.Resource(c.String(), cellBytes)
	}
	for _, c := range order {
		task := rt.Task(c.String())
		task.Write(rt.Lookup(c.String()))
		for _, d := range []cell{{-1, 0}, {1, 0}, {0, -1}, {0, 1}} {
			if r := rt.Lookup(cell{c.row + d.row, c.col + d.col}.String()); r != nil {
				task.Read(r)
			}
		}
	}
	return rt
}

// spreadGrid returns the node of each cell.
func spreadGrid(t *testing.T, rt *Runtime, order []cell) map[cell]int {
	t.Helper()
	if err := rt.spread(); err != nil {
		t.Fatal(err)
	}
	at := make(map[cell]int)
	for i, c := range order {
		at[c] = rt.tasks[i].on
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
	const side = 12
	for _, c := range []struct{ nodes, byRows, least int }{{2, side, side}, {4, 3 * side, 2 * side}} {
		for seed := range uint64(8) {
			order := cells(side, seed)
			rt := gridOn(t, 0, c.nodes, order)
			byIndex := make(map[cell]int)
			for i, node := range rt.byIndex(rt.tasks) {
				byIndex[order[i]] = node
			}
			at := spreadGrid(t, rt, order)
			got, before := cutOf(at), cutOf(byIndex)
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

// Every node computes the same nodes of tasks and homes of resources.
func TestPlacementIsEqualOnEveryNode(t *testing.T) {
	order := cells(10, 3)
	const nodes = 4
	var first *Runtime
	for node := range nodes {
		rt := gridOn(t, node, nodes, order)
		spreadGrid(t, rt, order)
		if node == 0 {
			first = rt
			continue
		}
		for i, task := range rt.tasks {
			if first.tasks[i].on != task.on {
				t.Errorf("task %s is on node %d, by node %d on node %d", task.name, first.tasks[i].on, node, task.on)
			}
		}
		for name, home := range rt.homes {
			if first.homes[name] != home {
				t.Errorf("the home of %s is node %d, by node %d it is node %d", name, first.homes[name], node, home)
			}
		}
	}
}

// A home follows the task that writes the resource.
func TestHomesFollowWriters(t *testing.T) {
	order := cells(6, 1)
	rt := gridOn(t, 0, 2, order)
	home := order[0]
	rt.Home(rt.Lookup(home.String()), 1)
	for c, node := range spreadGrid(t, rt, order) {
		want := node
		if c == home {
			want = 1
		}
		if got := rt.homes[c.String()]; got != want {
			t.Errorf("the home of %v is node %d, want %d", c, got, want)
		}
	}
}

// Tasks with On stay, and attract their neighbours. All nodes get as many tasks, whatever
// On says. Columns at the edges are declared so that dealing by index would be wrong.
func TestOnWins(t *testing.T) {
	const side = 8
	order := cells(side, 5)
	rt := gridOn(t, 0, 2, order)
	for i, c := range order {
		switch c.col {
		case 0:
			rt.tasks[i].On(1)
		case side - 1:
			rt.tasks[i].On(0)
		}
	}
	at := spreadGrid(t, rt, order)
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
	order := cells(10, 0)
	rt := gridOn(t, 0, 3, order)
	for i := range 70 {
		rt.tasks[i].On(2)
	}
	counts := make([]int, 3)
	for _, node := range spreadGrid(t, rt, order) {
		counts[node]++
	}
	if !slices.Equal(counts, []int{15, 15, 70}) {
		t.Errorf("the nodes have %d tasks, want 15 15 70", counts)
	}
}

// A piece goes to the node that Home makes the home of its resources. Here it is a row of
// tasks, and Home speaks of the two ends.
func TestPiecesGoToDeclaredHomes(t *testing.T) {
	for west := range 2 {
		const side = 12
		order := slices.DeleteFunc(cells(side, 2), func(c cell) bool { return c.row > 0 })
		rt := gridOn(t, 0, 2, order)
		rt.Home(rt.Lookup("0,0"), west)
		rt.Home(rt.Lookup("0,11"), 1-west)
		for c, node := range spreadGrid(t, rt, order) {
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

// A program that is too large is dealt by index.
func TestLargeProgramIsDealtByIndex(t *testing.T) {
	rt := mustNew(t, Options{Nodes: &Nodes{place: launch.Place{Nodes: 2}}})
	r := rt.Resource("r", 8)
	a, b := rt.Task("a"), rt.Task("b")
	rt.Task("c").Write(r)
	rt.Task("d")
	for range mostPlaced {
		a.accesses = append(a.accesses, &Access{task: a, resource: r})
	}
	if err := rt.spread(); err != nil {
		t.Fatal(err)
	}
	if b.on != 0 || rt.tasks[2].on != 1 || rt.tasks[3].on != 1 {
		t.Errorf("tasks are on nodes %d %d %d %d, want 0 0 1 1", a.on, b.on, rt.tasks[2].on, rt.tasks[3].on)
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
