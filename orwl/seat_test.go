package orwl

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/orwl/go-orwl/net/topology"
	"github.com/orwl/go-orwl/net/topology/host"
	"github.com/orwl/go-orwl/orwl/launch"
	"github.com/orwl/go-orwl/resource"
)

// idle is the body of a step that computes nothing.
func idle(int) error { return nil }

// stepGrid declares the tasks of a grid as step tasks.
func stepGrid(rt *Runtime) {
	for _, task := range rt.tasks {
		task.Each(1, idle)
	}
}

// cutOfSeats counts the pairs of neighbours that run on one node and have different home
// workers. Each neighbour reads what the other one writes.
func cutOfSeats(rt *Runtime) (cut int) {
	writer := make(map[*resource.Resource]*Task)
	for _, task := range rt.tasks {
		writer[(*resource.Resource)(task.accesses[0].resource.Resource)] = task
	}
	for _, task := range rt.tasks {
		for _, a := range task.accesses[1:] {
			if other := writer[(*resource.Resource)(a.resource.Resource)]; task.here() && other.here() && task.step.seat != other.step.seat {
				cut++
			}
		}
	}
	return cut / 2
}

// Neighbours share a worker, on a node of several and where workers are pinned.
func TestNeighboursShareAWorker(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	const side = 12
	for _, c := range []struct {
		name  string
		nodes int
		pin   bool
		most  int // a straight cut through the node's tasks, and a quarter more
	}{{"pinned", 1, true, side * 5 / 4}, {"two nodes", 2, false, side / 2 * 5 / 4}} {
		rt := gridOn(t, 0, c.nodes, side)
		rt.o.tree = topology.FromCPUs([]topology.CPU{{Number: 0}, {Number: 1, Core: 1}})
		rt.o.PinWorkers = c.pin
		stepGrid(rt)
		if err := errors.Join(rt.spreads(), rt.seat()); err != nil {
			t.Fatal(err)
		}
		if cut := cutOfSeats(rt); cut == 0 || cut > c.most {
			t.Errorf("%s: workers cut %d pairs of neighbours, want 1 to %d", c.name, cut, c.most)
		}
		if rt.seats.workers != 2 || (rt.seats.cpus != nil) != c.pin {
			t.Errorf("%s: %+v, want 2 workers", c.name, rt.seats)
		}
	}
}

// Two tasks of a column take turns: one writes what the other one reads. They share a worker, so that the other
// worker has a column, too, in each step.
func TestTasksThatTakeTurnsShareAWorker(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	const columns = 16
	name := func(column, half int) string { return fmt.Sprint(column, "/", half) }
	rt := mustNew(t, Options{})
	for half := range 2 {
		for c := range columns {
			rt.Resource(name(c, half), 8)
		}
	}
	for half := range 2 {
		for c := range columns {
			task := rt.Task(name(c, half))
			task.Write(rt.Lookup(name(c, half)))
			for d := max(c-1, 0); d <= min(c+1, columns-1); d++ {
				task.Read(rt.Lookup(name(d, 1-half)))
			}
		}
	}
	stepGrid(rt)
	if err := errors.Join(rt.spreads(), rt.seat()); err != nil {
		t.Fatal(err)
	}
	on := make([]int, 2)
	for c := range columns {
		a, b := rt.tasks[c].step.seat, rt.tasks[columns+c].step.seat
		if on[a]++; a != b {
			t.Errorf("the tasks of column %d have workers %d and %d, want one", c, a, b)
		}
	}
	if on[0] != columns/2 || on[1] != columns/2 {
		t.Errorf("workers have %v columns, want %d each", on, columns/2)
	}
}

// In a column of rows on two nodes, the rows at the border are urgent, and
// their neighbours.
func TestStepsNearAnotherNodeAreUrgent(t *testing.T) {
	const rows = 8
	rt := mustNew(t, Options{Nodes: &Nodes{place: launch.Place{Node: 0, Nodes: 2}}})
	for i := range rows {
		rt.Resource(fmt.Sprint(i), 8)
	}
	for i := range rows {
		task := rt.Task(fmt.Sprint(i)).On(i * 2 / rows)
		task.Write(rt.Lookup(fmt.Sprint(i)))
		if i > 0 {
			task.Read(rt.Lookup(fmt.Sprint(i - 1)))
		}
	}
	stepGrid(rt)
	if err := errors.Join(rt.spreads(), rt.seat()); err != nil {
		t.Fatal(err)
	}
	for i, want := range []bool{2: true, 3: true, rows - 1: false} { // this node does not look at the other node's rows
		if got := rt.tasks[i].step.near; got != want {
			t.Errorf("row %d is urgent: %t, want %t", i, got, want)
		}
	}
}

// Pinned workers are not more than the CPUs, unpinned ones are GOMAXPROCS.
func TestNumberOfWorkers(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	for _, c := range []struct {
		pin     bool
		workers int
	}{{false, 4}, {true, 3}} {
		rt := gridOn(t, 0, 1, 4)
		rt.o.tree = topology.FromCPUs([]topology.CPU{{Number: 0}, {Number: 1, Core: 1}, {Number: 2, Core: 2}})
		rt.o.PinWorkers = c.pin
		stepGrid(rt)
		if err := errors.Join(rt.spreads(), rt.seat()); err != nil {
			t.Fatal(err)
		}
		if rt.seats.workers != c.workers {
			t.Errorf("pinned %v: %d workers, want %d", c.pin, rt.seats.workers, c.workers)
		}
	}
}

// New refuses to pin workers where CPUs have no numbers, as on systems without affinity.
func TestPinsNeedCPUs(t *testing.T) {
	if _, err := New(Options{PinWorkers: true, tree: topology.Flat(2)}); !errors.Is(err, host.ErrNoCPU) {
		t.Errorf("%v, want host.ErrNoCPU", err)
	}
}

// A run ends with an error if its workers cannot be pinned: here to a CPU that no machine
// has.
func TestRunEndsIfWorkersCannotBePinned(t *testing.T) {
	rt := mustNew(t, Options{PinWorkers: true, tree: topology.FromCPUs([]topology.CPU{{Number: 1<<14 - 1}})})
	task := rt.Task("t")
	task.Write(rt.Resource("r", 8))
	task.Each(-1, func(int) error { t.Error("a step runs"); return errPlanned })
	var refused *host.PinError
	if err := rt.Run(t.Context()); !errors.As(err, &refused) {
		t.Errorf("%v, want a *host.PinError", err)
	}
	checkIdle(t, rt)
}

// Step tasks compute the same wherever they are placed, and on pinned workers: here on two
// nodes, which place them alone. No task has On, so this is also what nodes agree on.
func TestPlacedStepsComputeTheSame(t *testing.T) {
	const side, rounds = 6, 20
	order := rand.New(rand.NewPCG(2, 0)).Perm(side * side)
	name := func(i int) string { return fmt.Sprint("cell ", i) }
	program := func(o Options) *Runtime {
		rt := mustNew(t, o)
		for _, c := range order {
			rt.Resource(name(c), 8)
		}
		for i, c := range order {
			task := rt.Task(name(c))
			own := task.Write(rt.Lookup(name(c)))
			near := task.Read(rt.Lookup(name((c + side) % (side * side))))
			task.Each(rounds, func(int) error {
				Write[uint64](own)[0] += Read[uint64](near).At(0)*3 + uint64(i) + 1
				return nil
			})
		}
		return rt
	}
	alone := program(Options{})
	if err := alone.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	nodes := crew(t, 2)
	defer disband(t, nodes)
	each(nodes, func(i int, n *Nodes) {
		tree, err := host.Detect()
		if err != nil {
			t.Error(err)
			return
		}
		_, pin := tree.CPU(0)
		rt := program(Options{Nodes: n, tree: tree, PinWorkers: pin})
		if err := rt.Run(t.Context()); err != nil {
			t.Errorf("node %d: %v", i, err)
			return
		}
		if p := rt.Placement(); p.Crossing >= p.CrossingByIndex {
			t.Errorf("node %d: %d bytes cross, %d by index: want fewer", i, p.Crossing, p.CrossingByIndex)
		}
		for _, c := range order {
			got, gotVersion := content(t, rt.Lookup(name(c)))
			want, wantVersion := content(t, alone.Lookup(name(c)))
			if got[0] != want[0] || gotVersion != wantVersion {
				t.Errorf("node %d: %v is %d of version %d, want %d of version %d", i, c, got[0], gotVersion, want[0], wantVersion)
			}
		}
	})
}
