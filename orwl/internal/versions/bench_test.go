package versions

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/orwl/go-orwl/internal/invariant"
	modes "github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/orwl/internal/plan"
	"github.com/orwl/go-orwl/orwl/liveness"
)

// pair is a writer on node 0 and a reader on node 1.
type pair struct {
	nodes        [2]*Node
	bytes        [2]*words
	k            uint32
	header, bulk []byte
	w            Work
}

// newPair has a resource of so many bytes, with its home on a node.
func newPair(size, home int) *pair {
	s := liveness.System{Tasks: []liveness.Task{
		{Accesses: []liveness.Access{{Resource: "r", Mode: modes.Write}}}, {Accesses: []liveness.Access{{Resource: "r"}}},
	}}
	p := plan.OfSystemOnNodes(s, []plan.Task{{Rounds: plan.Open}, {Rounds: plan.Open, Node: 1}}, map[string]int{"r": home})
	b := new(pair)
	for x := range b.nodes {
		b.bytes[x] = &words{make([]byte, size)}
		n, err := New(Options{Node: x, Nodes: 2, Plan: p, Copies: []Copy{{Memory: b.bytes[x]}}})
		if err != nil {
			panic(err)
		}
		n.Begin(new(Work))
		b.nodes[x] = n
	}
	b.move(home, 1-home)
	return b
}

// move passes what waits.
func (b *pair) move(from, to int) {
	for ok := true; ok; {
		if b.header, b.bulk, ok = b.nodes[from].Pass(to, b.header[:0], b.bulk[:0]); ok {
			b.w.reset()
			if err := b.nodes[to].Take(from, b.header, b.bulk, &b.w); err != nil {
				panic(err)
			}
		}
	}
}

// round is a round of both tasks.
func (b *pair) round(changed []Span) {
	b.k++
	for x := range 2 {
		b.w.reset()
		if err := b.nodes[x].Released(x, b.k, changed, Goes, &b.w); err != nil {
			panic(err)
		}
		b.move(x, 1-x)
		b.move(1-x, x) // an answer
	}
}

// BenchmarkRound moves a resource from a writer to a reader on another node, and the credit back: two calls of
// Released, and two messages. The copy of as many bytes stands beside it.
func BenchmarkRound(b *testing.B) {
	for _, size := range []int{8, 1 << 10, 64 << 10} {
		for home, name := range []string{"home of the writer", "home of the reader"} {
			b.Run(fmt.Sprintf("%d/%s", size, name), func(b *testing.B) {
				p, all := newPair(size, home), []Span{{0, size}}
				p.round(all)
				b.SetBytes(int64(size))
				b.ReportAllocs()
				for b.Loop() {
					p.round(all)
				}
			})
		}
		b.Run(fmt.Sprintf("%d/copy", size), func(b *testing.B) {
			from, to := make([]byte, size), make([]byte, size)
			b.SetBytes(int64(size))
			for b.Loop() {
				copy(to, from)
			}
		})
	}
}

// TestNoAllocations counts what a round allocates once all memory is there: nothing.
func TestNoAllocations(t *testing.T) {
	if invariant.Enabled {
		t.Skip("asserts allocate")
	}
	for home := range 2 {
		p, all := newPair(1<<10, home), []Span{{0, 100}, {200, 300}}
		for range 20 {
			p.round(all)
		}
		if n := testing.AllocsPerRun(100, func() { p.round(all) }); n > 0 {
			t.Errorf("home on node %d: %v allocations in a round", home, n)
		}
	}
}

// ring is n tasks in a circle on four nodes. Each writes a resource and reads its neighbours' resources.
func ring(n int, node func(task int) int) (p *plan.Plan, copies []Copy) {
	s, tasks, homes := liveness.System{Tasks: make([]liveness.Task, n)}, make([]plan.Task, n), make(map[string]int, n)
	for i := range s.Tasks {
		name := func(i int) string { return fmt.Sprint("block ", (i+n)%n) }
		homes[name(i)] = node(i)
		tasks[i] = plan.Task{Rounds: 100, Node: node(i)}
		s.Tasks[i].Accesses = []liveness.Access{{Resource: name(i), Mode: modes.Write}, {Resource: name(i + 1)}, {Resource: name(i - 1)}}
	}
	copies = make([]Copy, n)
	for i := range copies {
		copies[i].Memory = new(words)
	}
	return plan.OfSystemOnNodes(s, tasks, homes), copies
}

// rings4 are rings of n tasks: blocks of neighbours on each node, and neighbours on different nodes. There three nodes use
// each resource.
var rings4 = map[string]func(n int) (*plan.Plan, []Copy){
	"blocks": func(n int) (*plan.Plan, []Copy) { return ring(n, func(i int) int { return i * 4 / n }) },
	"spread": func(n int) (*plan.Plan, []Copy) { return ring(n, func(i int) int { return i % 4 }) },
}

// TestLinear counts what the tables of a node cost: the bytes of a task do not grow with the number of tasks.
func TestLinear(t *testing.T) {
	rings.Needs(t, rings.Change)
	rings.Computes(t)
	for name, most := range map[string]uint64{"blocks": 100, "spread": 700} {
		for _, n := range []int{10_000, 100_000} {
			p, copies := rings4[name](n)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			node, err := New(Options{Nodes: 4, Plan: p, Copies: copies})
			runtime.ReadMemStats(&after)
			if err != nil {
				t.Fatal(err)
			}
			bytes := (after.TotalAlloc - before.TotalAlloc) / uint64(n)
			t.Logf("%s, %d tasks: %d bytes a task, %d listeners", name, n, bytes, len(node.listeners))
			if bytes > most {
				t.Errorf("%s, %d tasks: %d bytes a task, want at most %d", name, n, bytes, most)
			}
		}
	}
}

// BenchmarkNew makes the plan of tasks with three accesses each on four nodes, and the tables of one node.
func BenchmarkNew(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		for name, make := range rings4 {
			p, copies := make(n)
			b.Run(fmt.Sprint(name, "-", n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := New(Options{Nodes: 4, Plan: p, Copies: copies}); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/task")
			})
		}
	}
}

// reset makes it empty.
func (w *Work) reset() { w.Publish, w.Nodes = w.Publish[:0], w.Nodes[:0] }
