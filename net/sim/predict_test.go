package sim_test

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/rma/model"
	"github.com/orwl/go-orwl/net/sim"
	"github.com/orwl/go-orwl/net/sim/specimen"
	"github.com/orwl/go-orwl/net/topology"
)

// toy is a machine with round figures: own memory takes 10 ns, a node 100 ns, and the
// network 1000 ns and 1 ns for each byte. A port admits one operation every 50 ns.
func toy() model.Model {
	all := func(level string, alpha, beta, busy float64, coherent bool) model.LevelCost {
		c := model.Cost{Alpha: alpha, Beta: beta, Busy: busy}
		return model.LevelCost{Level: level, Put: c, Get: c, Atomic: c, Issue: 5, Coherent: coherent}
	}
	return model.Model{
		Name: "toy", Source: "round figures",
		Levels: []model.LevelCost{all(model.Self, 10, 0, 0, true), all("node", 100, 0, 0, true), all("machine", 1000, 1, 50, false)},
		Wake:   20, Port: "node",
	}
}

// lasts is how long each rank's body takes on the toy machine, with two nodes of two
// ranks each. All bodies begin at the same time.
func lasts(t *testing.T, words int, body func(w *sim.Window, base rma.Disp)) []time.Duration {
	t.Helper()
	return lastsOn(t, toy(), words, body)
}

// lastsOn is lasts on another machine.
func lastsOn(t *testing.T, machine model.Model, words int, body func(w *sim.Window, base rma.Disp)) []time.Duration {
	t.Helper()
	tree, err := topology.Parse("node:2 core:2")
	if err != nil {
		t.Fatal(err)
	}
	took := make([]time.Duration, 4)
	p := sim.System{
		Topology: tree,
		Words:    words,
		Setup: func(f *sim.Fabric) (sim.Program, error) {
			base, err := f.Alloc(words)
			return sim.Program{Rank: func(_ context.Context, w rma.Window) error {
				s := w.(*sim.Window)
				s.Compute(10*time.Microsecond - s.Now())
				begin := s.Now()
				body(s, base)
				took[w.Rank()] = s.Now() - begin
				return w.Err()
			}}, err
		},
	}.Predict(machine, 1)
	if p.Failure != nil {
		t.Fatal(p.Failure)
	}
	return took
}

// An operation costs in virtual time what the model says.
func TestPredictedCosts(t *testing.T) {
	const ns = time.Nanosecond
	only := func(p rma.Rank, do func(*sim.Window, rma.Disp)) func(*sim.Window, rma.Disp) {
		return func(w *sim.Window, base rma.Disp) {
			if w.Rank() == p {
				do(w, base)
			}
		}
	}
	for name, c := range map[string]struct {
		body func(*sim.Window, rma.Disp)
		want [4]time.Duration
	}{
		"own memory": {only(0, func(w *sim.Window, d rma.Disp) { w.Get(0, d) }), [4]time.Duration{10 * ns}},
		"same node":  {only(0, func(w *sim.Window, d rma.Disp) { w.FetchOp(1, d, rma.Sum, 1) }), [4]time.Duration{100 * ns}},
		"network":    {only(0, func(w *sim.Window, d rma.Disp) { w.CAS(2, d, 0, 1) }), [4]time.Duration{1008 * ns}},
		"bulk": {only(0, func(w *sim.Window, d rma.Disp) { w.GetBytes(2, d, make([]byte, 8)) }),
			[4]time.Duration{1008 * ns}},
		"a put is only issued":              {only(0, func(w *sim.Window, d rma.Disp) { w.Put(2, d, 1) }), [4]time.Duration{5 * ns}},
		"a flush waits for it":              {only(0, func(w *sim.Window, d rma.Disp) { w.Put(2, d, 1); w.Flush(2) }), [4]time.Duration{1013 * ns}},
		"a flush waits for one target only": {only(0, func(w *sim.Window, d rma.Disp) { w.Put(2, d, 1); w.Flush(1) }), [4]time.Duration{5 * ns}},
		"two puts travel together":          {only(0, func(w *sim.Window, d rma.Disp) { w.Put(2, d, 1); w.Put(2, d, 1); w.FlushAll() }), [4]time.Duration{1071 * ns}},
		"a target serves in turn":           {func(w *sim.Window, d rma.Disp) { w.FetchOp(2, d, rma.Sum, 1) }, [4]time.Duration{1008 * ns, 1066 * ns, 10 * ns, 100 * ns}},
		"an await is woken": {func(w *sim.Window, d rma.Disp) {
			switch w.Rank() {
			case 0:
				w.Put(1, d, 1)
				w.Flush(1)
			case 1:
				w.Await(context.Background(), 1, d, rma.Is(1))
			}
		}, [4]time.Duration{105 * ns, 75 * ns}},
		"a remote await polls": {func(w *sim.Window, d rma.Disp) {
			switch w.Rank() {
			case 0:
				w.Await(context.Background(), 2, d, rma.Is(1))
			case 2:
				w.Compute(600 * ns)
				w.Put(2, d, 1)
			}
		}, [4]time.Duration{2016 * ns, 0, 605 * ns}},
	} {
		t.Run(name, func(t *testing.T) {
			got := lasts(t, 4, c.body)
			if [4]time.Duration(got) != c.want {
				t.Errorf("took %v, want %v", got, c.want)
			}
		})
	}
}

// Where operations are calls, a rank pays for one unless it reaches the word by instructions. It reads its own memory without
// a call while it waits.
func TestPredictedCalls(t *testing.T) {
	const ns = time.Nanosecond
	machine := toy()
	machine.Direct = &model.Direct{Load: 1, Store: 1, Swap: 5, Call: 40}
	for name, c := range map[string]struct {
		do           func(w *sim.Window, target rma.Rank, base rma.Disp)
		target       rma.Rank
		call, mapped time.Duration
	}{
		"put": {func(w *sim.Window, target rma.Rank, base rma.Disp) {
			w.Put(target, base, 1)
			w.Flush(target)
		}, 0, 105 * ns, 60 * ns},
		"wait": {func(w *sim.Window, target rma.Rank, base rma.Disp) {
			_, _ = w.Await(context.Background(), target, base, rma.Is(0))
		}, 0, 100 * ns, 60 * ns},
		"wait for an own word": {func(w *sim.Window, target rma.Rank, base rma.Disp) {
			_, _ = w.Await(context.Background(), target, base, rma.Is(0))
		}, 1, 0, 0},
	} {
		for _, mapped := range []bool{false, true} {
			got := lastsOn(t, machine, 1, func(w *sim.Window, base rma.Disp) {
				if w.Rank() != 1 {
					return
				}
				if mapped {
					if _, ok := w.Direct(c.target, base); !ok {
						t.Error("the ranks share no memory")
					}
				}
				c.do(w, c.target, base)
			})[1]
			want := c.call
			if mapped {
				want = c.mapped
			}
			if got != want {
				t.Errorf("%s, mapped: %t: takes %v, want %v", name, mapped, got, want)
			}
		}
	}
}

// A rank fetches a line from a neighbour that has read it since it was changed, if the two share a cache. Then it need not
// go to the rank that changed it.
func TestPredictedCopies(t *testing.T) {
	const ns = time.Nanosecond
	for copied, want := range map[float64]time.Duration{0: 1008 * ns, 40: 40 * ns} {
		machine := toy()
		machine.Port, machine.Levels[2].Coherent = "", true
		machine.Levels[1].Copy.Alpha = copied
		got := lastsOn(t, machine, 1, func(w *sim.Window, base rma.Disp) {
			switch w.Rank() {
			case 0:
				w.Put(0, base, 1)
				w.Flush(0)
			case 2, 3: // the second one of a node comes later
				w.Compute(time.Duration(w.Rank()) * 10 * time.Microsecond)
				w.Get(w.Rank(), base) // after that time
				began := w.Now()
				w.Get(0, base)
				if took := w.Now() - began; w.Rank() == 3 && took != want {
					t.Errorf("with a copy of %g ns the neighbour's read takes %v, want %v", copied, took, want)
				}
			}
		})
		if len(got) != 4 {
			t.Fatal(got)
		}
	}
}

// A rank that does something between two looks sees a change half of that later.
func TestPredictedLooks(t *testing.T) {
	const ns = time.Nanosecond
	for _, home := range []rma.Rank{0, 1} {
		var took [2]time.Duration
		for i, between := range []float64{0, 30} {
			machine := toy()
			machine.Between = between
			took[i] = lastsOn(t, machine, 1, func(w *sim.Window, base rma.Disp) {
				switch w.Rank() {
				case 0:
					w.Compute(500 * ns)
					w.Put(home, base, 1)
					w.Flush(home)
				case 1:
					_, _ = w.Await(context.Background(), home, base, rma.Is(1))
				}
			})[1]
		}
		if took[1] != took[0]+15*ns {
			t.Errorf("a word of rank %d: %v, and %v with 30 ns between two looks", home, took[0], took[1])
		}
	}
}

// The same seed gives the same prediction.
func TestPredictRepeats(t *testing.T) {
	rings.Computes(t)
	s := contest(t, "mcs-flushed", 64, 20)
	cray, err := sim.MachineByName("piz-daint")
	if err != nil {
		t.Fatal(err)
	}
	a, b := s.Predict(cray, 7), s.Predict(cray, 7)
	if a.Failure != nil || a.Time != b.Time || a.Operations != b.Operations {
		t.Fatalf("%+v\n%+v", a, b)
	}
	for seed := uint64(8); s.Predict(cray, seed).Time == a.Time; seed++ {
		if seed == 100 {
			t.Fatal("no other seed gives another run")
		}
	}
}

// A prediction catches ranks that wait for ever. It also catches a wrong specimen if
// the schedule lets it fail.
func TestPredictNoticesHang(t *testing.T) {
	s := sim.System{
		Topology: topology.Flat(2),
		Setup: func(f *sim.Fabric) (sim.Program, error) {
			flag, err := f.Alloc(1)
			return sim.Program{Rank: func(ctx context.Context, w rma.Window) error {
				_, err := w.Await(ctx, w.Rank(), flag, rma.Is(1))
				return err
			}}, err
		},
	}
	if p := s.Predict(toy(), 0); p.Failure == nil {
		t.Fatal("two ranks wait for a word that no rank changes, and the prediction does not fail")
	}
}

// A wait ends when another rank ends its context. TestClose tests closing.
func TestPredictedEndOfWait(t *testing.T) {
	const ns = time.Nanosecond
	ctx, end := context.WithCancel(context.Background())
	waits := func(w *sim.Window, target rma.Rank, d rma.Disp, want error) {
		if _, err := w.Await(ctx, target, d, rma.Is(1)); !errors.Is(err, want) {
			t.Errorf("rank %d returns %v, want %v", w.Rank(), err, want)
		}
	}
	got := lasts(t, 4, func(w *sim.Window, d rma.Disp) {
		switch w.Rank() {
		case 0:
			w.Compute(200 * ns)
			w.Get(0, d) // lets the other ranks begin to wait
			end()
			w.Compute(500 * ns)
		case 1:
			waits(w, 1, d, context.Canceled) // is woken, and looks at its context
		case 3:
			waits(w, 0, d, context.Canceled) // polls
		}
	})
	if want := []time.Duration{710 * ns, 215 * ns, 0, 1008 * ns}; !slices.Equal(got, want) {
		t.Errorf("took %v, want %v", got, want)
	}
}

// Faults in virtual time break no promise: only the crashed rank does not end.
func TestPredictFaults(t *testing.T) {
	rings.Computes(t)
	for seed := range uint64(50) {
		s := contest(t, "mcs-flushed", 16, 20)
		s.Faults = sim.Faults{Crashes: 1, Cancels: 1, Pauses: 3, Delays: 3}
		if p := s.Predict(toy(), seed); p.Failure != nil {
			t.Fatal(p.Failure)
		}
	}
}

// 4,096 ranks that acquire a lock 20 times each fit into 4 GiB of memory.
// BenchmarkPredict measures the time.
func TestPredictBigMachine(t *testing.T) {
	rings.Computes(t)
	p := bigMachine(t, "mcs-flushed")
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if m.Sys > 4<<30 {
		t.Errorf("the prediction takes %d MiB of memory, want at most 4096", m.Sys>>20)
	}
	t.Logf("%v of virtual time, %d operations, %d MiB", p.Time, p.Operations, m.Sys>>20)
}

func bigMachine(t testing.TB, name string) sim.Prediction {
	t.Helper()
	tree, err := topology.Parse("node:256 core:16")
	if err != nil {
		t.Fatal(err)
	}
	cray, err := sim.MachineByName("piz-daint")
	if err != nil {
		t.Fatal(err)
	}
	s, _ := specimen.ByName(name)
	p := specimen.Contest{Topology: tree, Acquisitions: 20}.System(s).Predict(cray, 1)
	if p.Failure != nil {
		t.Fatal(p.Failure)
	}
	return p
}

// BenchmarkPredict lets 4,096 ranks of a Cray acquire a lock 20 times each.
func BenchmarkPredict(b *testing.B) {
	operations := 0
	for b.Loop() {
		operations += bigMachine(b, "mcs-flushed").Operations
	}
	b.ReportMetric(float64(operations)/b.Elapsed().Seconds(), "operations/s")
}

// BenchmarkExplore measures seeded runs of small systems.
func BenchmarkExplore(b *testing.B) {
	for _, ranks := range []int{2, 4, 64} {
		b.Run(fmt.Sprint(ranks), func(b *testing.B) {
			s, _ := specimen.ByName("mcs-flushed")
			system := specimen.Contest{Topology: topology.Flat(ranks), Acquisitions: 3}.System(s)
			steps := 0
			for seed := uint64(0); b.Loop(); seed++ {
				steps += system.Seed(seed).Steps
			}
			b.ReportMetric(float64(steps)/b.Elapsed().Seconds(), "steps/s")
		})
	}
}

// TestMachinesAreFixed knows the hash of the described machines. A figure may change for a
// better source, never for a better result: say in the commit which source it is.
func TestMachinesAreFixed(t *testing.T) {
	if got, want := sim.MachinesHash(), "b5ec28f959ff"; got != want {
		t.Errorf("machines.json has the hash %s, want %s", got, want)
	}
}

// Each described machine is valid, and each of its figures has a source and a grade.
func TestMachinesHaveSources(t *testing.T) {
	grades := []string{"published", "recalled", "derived", "assumed"}
	for _, m := range sim.Described() {
		if err := m.Model.Validate(); err != nil {
			t.Error(err)
		}
		if len(m.Figures) == 0 || m.Model.Node == 0 {
			t.Errorf("%s has %d sources and %d ranks a node", m.Model.Name, len(m.Figures), m.Model.Node)
		}
		for _, f := range m.Figures {
			if f.Figure == "" || f.Source == "" || !slices.Contains(grades, f.Grade) {
				t.Errorf("%s: %+v, want a figure, a source and a grade of %v", m.Model.Name, f, grades)
			}
		}
	}
}

// TestSameOnEveryHost knows the outcome of predictions, to the operation and the
// nanosecond. The same seed gives the same prediction on any machine, whatever its number
// of processors, its map order and its rounding of fused multiply-adds. A change of the
// simulator or of a specimen changes the table: say so in the commit.
func TestSameOnEveryHost(t *testing.T) {
	rings.Computes(t)
	for _, c := range []struct {
		lock, machine string
		ranks         int
		seed          uint64
		ns            int64
		operations    int
	}{
		{"mcs-flushed", "piz-daint", 64, 1, 2840393, 8316},
		{"mcs-flushed", "coolmuc-2", 64, 2, 7637295, 8316},
		{"ticket", "piz-daint", 64, 3, 3633350, 115884},
		{"rw", "ethernet", 32, 4, 3346748, 2165},
	} {
		machine, err := sim.MachineByName(c.machine)
		if err != nil {
			t.Fatal(err)
		}
		for _, processors := range []int{1, 2, 7} {
			before := runtime.GOMAXPROCS(processors)
			p := contest(t, c.lock, c.ranks, 10).Predict(machine, c.seed)
			runtime.GOMAXPROCS(before)
			if p.Failure != nil {
				t.Fatal(p.Failure)
			}
			if p.Time.Nanoseconds() != c.ns || p.Operations != c.operations {
				t.Errorf("{%q, %q, %d, %d, %d, %d} on %d processors", c.lock, c.machine, c.ranks, c.seed, p.Time.Nanoseconds(), p.Operations, processors)
			}
		}
	}
}

// Virtual time has no floating-point numbers: a processor or compiler that fuses a
// multiplication and an addition would predict something else.
func TestVirtualTimeIsWhole(t *testing.T) {
	for _, file := range []string{"journey.go", "memory.go", "explore.go", "predict.go"} {
		set := token.NewFileSet()
		parsed, err := parser.ParseFile(set, file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Ident:
				if n.Name == "float64" || n.Name == "float32" {
					t.Errorf("%s: %s: round it to picoseconds by ps", set.Position(n.Pos()), n.Name)
				}
			case *ast.BasicLit:
				if n.Kind == token.FLOAT {
					t.Errorf("%s: %s is no whole number", set.Position(n.Pos()), n.Value)
				}
			}
			return true
		})
	}
}
