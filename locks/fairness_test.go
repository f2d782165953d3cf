package locks_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/orwl/go-orwl/internal/invariant"
	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/mem"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/sim"
	"github.com/orwl/go-orwl/net/topology"
)

// onMem makes a lock on a new fabric of goroutines.
func onMem(t testing.TB, name, machine string, o locks.Options) (*locks.Lock, *mem.Fabric) {
	t.Helper()
	spec, ok := locks.ByName(name)
	if !ok {
		t.Fatalf("there is no lock %s", name)
	}
	tree, err := topology.Parse(machine)
	if err != nil {
		t.Fatal(err)
	}
	f, err := mem.New(mem.Options{Topology: tree})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	l, err := spec.New(f, o)
	if err != nil {
		t.Fatal(err)
	}
	return l, f
}

// TestBargeInMemory lets readers that step back meet writers that barge, in memory with
// direct access. No rank is inside together with a writer, and no rank sleeps for ever:
// with one counter, with several, and with one counter for each rank.
func TestBargeInMemory(t *testing.T) {
	rounds := 20_000
	if invariant.Enabled {
		rounds = 4_000
	}
	for _, c := range []struct{ ranks, tdc, writes int }{
		{2, 1, 2}, {2, 2, 20}, {2, 2, 50},
		{4, 1, 20}, {4, 2, 5}, {4, 4, 20},
		{8, 1, 2}, {8, 4, 5}, {8, 8, 20},
	} {
		t.Run(fmt.Sprintf("%d ranks, T_DC %d, %d %% writes", c.ranks, c.tdc, c.writes), func(t *testing.T) {
			l, f := onMem(t, "RMA-RW", fmt.Sprintf("core:%d", c.ranks), locks.Options{TDC: c.tdc, StepBack: true})
			var all sync.WaitGroup
			var written, want int
			wrote := make([]int, c.ranks)
			for p := range c.ranks {
				w, err := f.Window(locks.Rank(p))
				must(err)
				m := l.At(w).(locks.RWMutex)
				all.Go(func() {
					ctx, rng := context.Background(), rand.New(rand.NewPCG(uint64(p), 1))
					for range rounds {
						write, linger := rng.IntN(100) < c.writes, rng.IntN(20) == 0
						if write {
							must(m.Acquire(ctx))
							written++
							wrote[p]++
						} else {
							must(m.AcquireRead(ctx))
						}
						before := written
						if linger {
							runtime.Gosched()
						}
						if written != before {
							t.Errorf("rank %d: another rank writes while it is inside (it writes: %t)", p, write)
						}
						if write {
							m.Release()
						} else {
							m.ReleaseRead()
						}
					}
				})
			}
			all.Wait()
			for _, n := range wrote {
				want += n
			}
			if written != want {
				t.Errorf("the data has %d writes, want %d", written, want)
			}
		})
	}
}

// sortedOrder is the order in which ranks get a lock that come one after the other, while
// rank 0 holds it. Ranks 1 to 3 are rank 0's neighbours, 4 to 7 live in another element. The
// time is virtual, so a rank that waits has done what it can before the next one comes.
func sortedOrder(t *testing.T, spec locks.Spec, o locks.Options, arrivals []int) (order []int) {
	t.Helper()
	system := sim.System{
		Topology: machine(t, "node:2 core:4"), Shared: !o.Operations, MaxSteps: 1 << 18,
		Setup: func(f *sim.Fabric) (sim.Program, error) {
			order = nil
			l, err := spec.New(f, o)
			if err != nil {
				return sim.Program{}, err
			}
			return sim.Program{Rank: func(ctx context.Context, w rma.Window) error {
				const long = 1 << 20
				m, place := l.At(w), slices.Index(arrivals, int(w.Rank()))
				if w.Rank() != 0 && place < 0 {
					return nil
				}
				w.Pause((place + 1) * long)
				if err := m.Acquire(ctx); err != nil {
					return err
				}
				order = append(order, int(w.Rank()))
				if w.Rank() == 0 {
					w.Pause(16 * long)
				}
				w.Pause(long)
				m.Release()
				return nil
			}}, nil
		},
	}
	if report := system.Predict(sim.Machines()[0], 1); report.Failure != nil {
		t.Fatal(report.Failure)
	}
	return order[1:]
}

// TestBatches says in which order a sorted queue serves ranks: neighbours of the holder come
// first, at most Batch in a row. The last of the queue is never moved.
func TestBatches(t *testing.T) {
	rings.Computes(t)
	t.Parallel()
	for _, c := range []struct {
		lock           string
		batch          int
		arrivals, want []int
	}{
		{"MCS", 0, []int{1, 4, 2, 5, 3, 6}, []int{1, 4, 2, 5, 3, 6}},
		{"TTS-MCS", 0, []int{1, 4, 2, 5, 3, 6}, []int{1, 4, 2, 5, 3, 6}},
		{"TAS-MCS", 0, []int{1, 4, 2, 5, 3, 6}, []int{1, 4, 2, 5, 3, 6}},
		// The queue of SHFL is empty when rank 1 becomes its head.
		{"SHFL", 1, []int{1, 4, 2, 5, 3, 6}, []int{1, 4, 2, 5, 3, 6}},
		{"SHFL", 2, []int{1, 4, 2, 5, 6, 3}, []int{1, 4, 5, 2, 6, 3}},
		{"SHFL", 3, []int{1, 4, 2, 5, 6, 3}, []int{1, 4, 5, 6, 2, 3}},
		{"SHFL", 9, []int{1, 4, 2, 5, 3, 6}, []int{1, 4, 5, 2, 3, 6}},
		{"SHFL-TAS", 2, []int{1, 4, 2, 5, 6, 3}, []int{1, 4, 5, 2, 6, 3}},
		{"SHFL-TAS", 3, []int{1, 4, 2, 5, 6, 3}, []int{1, 4, 5, 6, 2, 3}},
		{"CNA", 1, []int{4, 1, 5, 2, 6, 3}, []int{4, 1, 5, 2, 6, 3}},
		{"CNA", 2, []int{4, 1, 5, 2, 6, 3}, []int{1, 4, 5, 2, 3, 6}},
		{"CNA", 9, []int{4, 1, 5, 2, 6, 3}, []int{1, 2, 3, 4, 5, 6}},
		{"CNA", 9, []int{4, 5, 1, 6, 7, 2}, []int{1, 2, 4, 5, 6, 7}},
		{"Fissile", 9, []int{1, 4, 2, 5, 3, 6}, []int{1, 2, 3, 4, 5, 6}},
		{"TWA", 0, []int{1, 4, 2, 5, 3, 6}, []int{1, 4, 2, 5, 3, 6}},
		{"R-MCS", 0, []int{6, 3, 5, 2, 4, 1}, []int{6, 3, 5, 2, 4, 1}},
		{"Reciprocating", 0, []int{1, 4, 2, 5}, []int{5, 2, 4, 1}},
		// A releaser parks its successor if there is another one. The eldest comes back after Batch
		// acquisitions, and the newest one where no rank waits.
		{"MCSCR", 9, []int{1, 2, 3, 4}, []int{2, 4, 3, 1}},
		{"MCSCR", 1, []int{1, 2, 3, 4}, []int{2, 1, 4, 3}},
		{"MCSCR", 2, []int{1, 2, 3, 4}, []int{2, 4, 1, 3}},
		{"MCSCR", 3, []int{1, 2, 3, 4, 5, 6}, []int{2, 4, 6, 1, 5, 3}},
		{"MCSCR", 4, []int{1, 2, 3, 4, 5, 6}, []int{2, 4, 6, 5, 1, 3}},
	} {
		for _, way := range []way{byOperations, direct} {
			t.Run(fmt.Sprintf("%s/%d/%v/%s", c.lock, c.batch, c.arrivals, way), func(t *testing.T) {
				spec, _ := locks.ByName(c.lock)
				got := sortedOrder(t, spec, locks.Options{Batch: c.batch, Operations: way == byOperations}, c.arrivals)
				if !slices.Equal(got, c.want) {
					t.Errorf("the order is %v, want %v", got, c.want)
				}
			})
		}
	}
}
