package arena

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/lab"
	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/sim"
	"github.com/orwl/go-orwl/net/topology"
)

func TestMain(m *testing.M) {
	if Child() {
		return
	}
	os.Exit(m.Run())
}

// few is a length that no clock decides.
var few = lab.Length{Turns: 20, Repeats: 2, Seed: 1}

func caseOf(b lab.Benchmark, lock, window string) lab.Case {
	c := lab.Case{Benchmark: b.Name, Lock: lock, Window: window, Machine: "node:2 core:2", Writers: 0.25, Length: few}
	if b.Lockless {
		c.Lock = ""
	}
	if b.Section == nil && !b.Lockless && b.Name != "UPB" {
		c.Turns = 2 // each is many acquisitions
	}
	if b.Sweep != nil {
		c.Step = b.Sweep.Steps(4)[1]
	}
	return c
}

func options(t *testing.T, window string) (o Options) {
	t.Helper()
	if window == Sim {
		var err error
		if o.Machine, err = sim.MachineByName("piz-daint"); err != nil {
			t.Fatal(err)
		}
	}
	return o
}

// judge complains about a case whose result does not have what the benchmark is about.
func judge(t *testing.T, b lab.Benchmark, c lab.Case, samples []lab.Sample, err error) lab.Result {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if want := 4 * c.Repeats; len(samples) != want {
		t.Fatalf("%d samples, want %d: one of each rank and repeat", len(samples), want)
	}
	r, err := lab.Summarize(c, samples)
	if err != nil {
		t.Fatal(err)
	}
	f, ok := r.Figure(b.Figure)
	if !ok || f.Median <= 0 || f.N != c.Repeats || f.Low > f.Median || f.Median > f.High {
		t.Errorf("%s is %+v, want one above 0 of each repeat: figures are %+v", b.Figure, f, r.Figures)
	}
	return r
}

// TestEveryBenchmark plays every benchmark in memory, and TestEveryPrediction in the simulator.
func TestEveryBenchmark(t *testing.T) { everyBenchmark(t, Mem) }

func TestEveryPrediction(t *testing.T) {
	rings.Computes(t)
	everyBenchmark(t, Sim)
}

func everyBenchmark(t *testing.T, window string) {
	few, all := []string{"RMA-MCS", "RMA-RW"}, []string{"MCS", "RMA-MCS", "RMA-RW", "P-HMCS-MCS"}
	for _, b := range lab.Benchmarks() {
		for _, lock := range rings.Of(few, all, all) {
			t.Run(fmt.Sprintf("%s/%s", b.Name, lock), func(t *testing.T) {
				c := caseOf(b, lock, window)
				samples, err := Play(t.Context(), c, options(t, window))
				judge(t, b, c, samples, err)
			})
			if b.Lockless {
				break
			}
		}
	}
}

// TestEveryTurnCounts plays with a number of turns: exactly so many are counted.
func TestEveryTurnCounts(t *testing.T) {
	b, err := lab.BenchmarkByName("ecsb")
	if err != nil {
		t.Fatal(err)
	}
	c := caseOf(b, "D-MCS", Sim)
	samples, err := Play(t.Context(), c, options(t, Sim))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range samples {
		if s.Turns != uint64(c.Turns) || s.Waits.N != s.Turns || s.Counts.Acquired != s.Turns {
			t.Errorf("rank %d counts %d turns, %d waits, %d acquisitions, want %d", s.Rank, s.Turns, s.Waits.N, s.Counts.Acquired, c.Turns)
		}
		var from uint64
		for _, n := range s.From {
			from += n
		}
		if from != s.Turns {
			t.Errorf("rank %d came after %v, want %d in all", s.Rank, s.From, s.Turns)
		}
	}
}

// TestRankKeptOut plays RH for a time. One rank takes it again and again, so the others get it when their time is
// over, and count nothing. The run ends then.
func TestRankKeptOut(t *testing.T) {
	c := lab.Case{Benchmark: "ECSB", Lock: "RH", Options: locks.Options{Backoff: locks.Backoff{Min: 1, Max: 1}}, Window: Sim, Machine: "node:1 core:4", Writers: 1,
		Length: lab.Length{Time: 100 * time.Microsecond, Repeats: 1, Seed: 1}}
	samples, err := Play(t.Context(), c, options(t, Sim))
	if err != nil {
		t.Fatal(err)
	}
	played := 0
	for _, s := range samples {
		if s.Turns > 0 {
			played++
		}
		if end := s.Began + s.Time; end > c.Time*11/10 {
			t.Errorf("rank %d ends after %v, want a tenth above %v at most", s.Rank, end, c.Time)
		}
	}
	if played != 1 {
		t.Errorf("%d ranks count turns, want 1", played)
	}
}

// TestQueueIsFair plays a queue for a time. A rank that was alone at first, for which an iteration was short, counts
// no more than another one.
func TestQueueIsFair(t *testing.T) {
	c := lab.Case{Benchmark: "ECSB", Lock: "D-MCS", Window: Sim, Machine: "node:4 core:16", Writers: 1,
		Length: lab.Length{Time: 4 * time.Millisecond, Repeats: 1, Seed: 1, Uncounted: true}}
	samples, err := Play(t.Context(), c, options(t, Sim))
	if err != nil {
		t.Fatal(err)
	}
	r, err := lab.Summarize(c, samples)
	if err != nil {
		t.Fatal(err)
	}
	if cv, _ := r.Figure(lab.FigureFairness); cv.Median > .05 {
		t.Errorf("the coefficient of variation of a queue is %.3f, want at most 0.05", cv.Median)
	}
}

// TestEveryIterationIsTimed plays a rank that is alone, whose iterations are short. Only with Every all are timed.
func TestEveryIterationIsTimed(t *testing.T) {
	for _, every := range []bool{false, true} {
		c := lab.Case{Benchmark: "ECSB", Lock: "MCS", Window: Sim, Machine: "node:1 core:1", Writers: 1,
			Length: lab.Length{Time: 100 * time.Microsecond, Every: every, Repeats: 1, Seed: 1, Uncounted: true}}
		samples, err := Play(t.Context(), c, options(t, Sim))
		if err != nil {
			t.Fatal(err)
		}
		if s := samples[0]; (s.Waits.N == s.Turns) != every {
			t.Errorf("every is %v: %d of %d iterations are timed", every, s.Waits.N, s.Turns)
		}
	}
}

// TestProcesses plays on processes and on nodes, which have nothing in common but the text.
func TestProcesses(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("processes share memory on Linux only")
	}
	b, err := lab.BenchmarkByName("sob")
	if err != nil {
		t.Fatal(err)
	}
	for _, window := range []string{SHM, P2P} {
		t.Run(window, func(t *testing.T) {
			c := caseOf(b, "RMA-RW", window)
			samples, err := Play(t.Context(), c, Options{})
			judge(t, b, c, samples, err)
		})
	}
}

// open is a lock that lets all in. As any lock it refuses a rank whose context has ended: else the
// last rank, which no other one meets, would go on to its last turn.
type open struct{ w rma.Window }

func (o open) Acquire(ctx context.Context) error { o.w.Get(0, 0); return ctx.Err() }
func (o open) Release()                          { o.w.FlushAll() }

// never is a lock that no rank gets.
type never struct{ w rma.Window }

func (n never) Acquire(ctx context.Context) error {
	_, err := n.w.Await(ctx, n.w.Rank(), 0, rma.Is(1<<60))
	return err
}
func (never) Release() {}

func specimen(make func(w rma.Window) locks.Mutex) *lab.Contender {
	return &lab.Contender{
		Name: "specimen", Words: func(*topology.Tree) int { return 8 },
		New: func(rma.Fabric, rma.Rank) (func(rma.Window) locks.Mutex, error) { return make, nil },
	}
}

// TestBrokenLock has the witness find a lock that excludes no rank: on the simulator in every
// run, and on goroutines, where holders meet by chance, before long.
func TestBrokenLock(t *testing.T) {
	for _, window := range []string{Sim, Mem} {
		t.Run(window, func(t *testing.T) {
			if window == Mem && rings.Race {
				t.Skip("the race detector reports the holders that meet, before the witness does")
			}
			b, err := lab.BenchmarkByName("sob")
			if err != nil {
				t.Fatal(err)
			}
			c := caseOf(b, "specimen", window)
			c.Turns = 1 << 30 // until it is found
			o := options(t, window)
			o.Contender = specimen(func(w rma.Window) locks.Mutex { return open{w} })
			_, err = Play(t.Context(), c, o)
			var broken *lab.ExclusionError
			if !errors.As(err, &broken) {
				t.Errorf("the error is %v, want an ExclusionError", err)
			}
		})
	}
}

// TestHang says what ranks do that wait for ever.
func TestHang(t *testing.T) {
	b, err := lab.BenchmarkByName("ecsb")
	if err != nil {
		t.Fatal(err)
	}
	c := caseOf(b, "specimen", Mem)
	o := Options{Limit: 1, patience: time.Minute, Contender: specimen(func(w rma.Window) locks.Mutex { return never{w} })}
	_, err = Play(t.Context(), c, o)
	var stalled *lab.StallError
	if !errors.As(err, &stalled) || len(stalled.Ranks) != 4 || !strings.Contains(err.Error(), "rank 3 ") {
		t.Errorf("the error is %v, want a StallError about four ranks", err)
	}
}

// TestHangOfProcesses asks processes what they do, after a limit that none of them can keep.
func TestHangOfProcesses(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("processes share memory on Linux only")
	}
	b, err := lab.BenchmarkByName("ecsb")
	if err != nil {
		t.Fatal(err)
	}
	c := caseOf(b, "MCS", SHM)
	c.Turns = 1 << 30
	_, err = Play(t.Context(), c, Options{Limit: 1, patience: time.Minute})
	var stalled *lab.StallError
	if !errors.As(err, &stalled) || len(stalled.Ranks) != 4 {
		t.Fatalf("the error is %v, want a StallError about four ranks", err)
	}
	for p, r := range stalled.Ranks {
		if r.Rank != rma.Rank(p) || r.Doing == "has ended" {
			t.Errorf("rank %d %s, want rank %d to do something", r.Rank, r.Doing, p)
		}
	}
}

// TestEndOfContext keeps what there is when the user has seen enough.
func TestEndOfContext(t *testing.T) {
	b, err := lab.BenchmarkByName("ecsb")
	if err != nil {
		t.Fatal(err)
	}
	c := caseOf(b, "MCS", Mem)
	c.Repeats = 1 << 30
	ctx, cancel := context.WithCancel(t.Context())
	samples, err := Play(ctx, c, Options{Sampled: func(s lab.Sample) {
		if s.Repeat == 1 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) || len(samples) == 0 {
		t.Errorf("%d samples and %v, want some and the context's end", len(samples), err)
	}
}

// TestEndInVirtualTime ends a run of the simulator before its ranks have made their turns.
func TestEndInVirtualTime(t *testing.T) {
	b, err := lab.BenchmarkByName("ecsb")
	if err != nil {
		t.Fatal(err)
	}
	machine, err := sim.MachineByName("piz-daint")
	if err != nil {
		t.Fatal(err)
	}
	c := caseOf(b, "MCS", Sim)
	c.Repeats, c.Turns = 1, 100_000
	ctx, cancel := context.WithCancel(t.Context())
	samples, err := Play(&endsAt{ctx, cancel, 1000}, c, Options{Machine: machine})
	if !errors.Is(err, context.Canceled) || len(samples) != 0 {
		t.Errorf("%d samples and %v, want none and the context's end", len(samples), err)
	}
}

// endsAt is a context that ends when it is asked for the left-th time whether it has.
type endsAt struct {
	context.Context
	cancel context.CancelFunc
	left   int
}

func (e *endsAt) Err() error {
	if e.left--; e.left == 0 {
		e.cancel()
	}
	return e.Context.Err()
}

// A recording takes as long in virtual time as its ranks hold the lock, and work outside if the lock
// is free then.
func TestRecordedWorkload(t *testing.T) {
	machine, err := sim.MachineByName("piz-daint")
	if err != nil {
		t.Fatal(err)
	}
	const us = time.Microsecond
	for _, c := range []struct {
		what  string
		turns []lab.Turn
		want  float64 // microseconds from one section to the next
	}{
		{"holding is the limit", []lab.Turn{{Write: true, Hold: 90 * us}, {Write: true, Hold: 110 * us}}, 100},
		{"outside is the limit", []lab.Turn{{Write: true, Hold: 10 * us, Outside: 390 * us}}, 200},
		{"readers hold it together", []lab.Turn{{Hold: 100 * us}}, 50},
	} {
		one := lab.Case{Benchmark: "recorded", Lock: "RMA-RW", Window: Sim, Machine: "node:1 core:2", Writers: 1,
			Recording: &lab.Recording{Ranks: [][]lab.Turn{c.turns, c.turns}}, Length: lab.Length{Turns: 40, Repeats: 1, Seed: 1, Uncounted: true}}
		samples, err := Play(t.Context(), one, Options{Machine: machine})
		if err != nil {
			t.Fatal(err)
		}
		result, err := lab.Summarize(one, samples)
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := result.Figure(lab.FigureIteration); got.Median < .95*1e3*c.want || got.Median > 1.1*1e3*c.want {
			t.Errorf("%s: an iteration takes %.1f us, want %.0f", c.what, got.Median/1e3, c.want)
		}
		one.Machine = "node:1 core:3"
		if _, err := Play(t.Context(), one, Options{Machine: machine}); err == nil || !strings.Contains(err.Error(), "the recording has 2 ranks") {
			t.Errorf("three ranks play it: %v", err)
		}
	}
}
