package locks

import (
	"context"
	"fmt"
	"testing"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/net/mem"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/sim"
	"github.com/orwl/go-orwl/net/topology"
)

// rwOptions put one counter of RMA-RW at rank 0.
func rwOptions(ranks, tr int, operations bool) Options {
	return Options{TDC: ranks, TR: tr, Operations: operations}
}

// Readers that no writer interrupts begin to count anew whenever T_R have come. Those
// inside stay counted.
func TestCounterBeginsAnew(t *testing.T) {
	for _, operations := range []bool{false, true} {
		for _, try := range []bool{false, true} {
			t.Run(fmt.Sprintf("operations=%t/try=%t", operations, try), func(t *testing.T) {
				f, err := mem.New(mem.Options{Topology: topology.Flat(2)})
				if err != nil {
					t.Fatal(err)
				}
				defer f.Close()
				spec, _ := ByName("RMA-RW")
				l, err := spec.New(f, rwOptions(2, 3, operations))
				if err != nil {
					t.Fatal(err)
				}
				var w [2]rma.Window
				var m [2]*rmaRW
				for p := range w {
					if w[p], err = f.Window(Rank(p)); err != nil {
						t.Fatal(err)
					}
					m[p] = l.At(w[p]).(*rmaRW)
				}
				read := func(want ...uint64) {
					t.Helper()
					for i, n := range want {
						switch {
						case try && !m[0].TryAcquireRead():
							t.Fatal("no writer has come, and a try to read fails")
						case !try:
							if err := m[0].AcquireRead(context.Background()); err != nil {
								t.Fatal(err)
							}
						}
						m[0].ReleaseRead()
						if got := w[0].Get(0, l.base.rank+rwCounter); arrived(got) != n {
							t.Fatalf("after reader %d the counter is %#x: %d have arrived, want %d", i, got, arrived(got), n)
						}
					}
				}
				read(1, 2, 3, 1, 2, 3, 1)
				if err := m[1].AcquireRead(context.Background()); err != nil { // the second
					t.Fatal(err)
				}
				read(3, 2, 3, 2, 3)
				m[1].ReleaseRead()
				read(1, 2, 3, 1)
			})
		}
	}
}

// rwFrom is ranks that find a counter as it is after a long time.
func rwFrom(ranks, tr int, shared bool, value uint64, body func(ctx context.Context, w rma.Window, l *Lock) error) sim.System {
	return sim.System{Topology: topology.Flat(ranks), Shared: shared, Setup: func(f *sim.Fabric) (sim.Program, error) {
		spec, _ := ByName("RMA-RW")
		l, err := spec.New(f, rwOptions(ranks, tr, !shared))
		if err != nil {
			return sim.Program{}, err
		}
		ready, err := f.Alloc(1)
		if err != nil {
			return sim.Program{}, err
		}
		return sim.Program{Rank: func(ctx context.Context, w rma.Window) error {
			if w.Rank() == 0 {
				w.Put(0, l.base.rank+rwCounter, value)
				w.Flush(0)
				w.Put(0, ready, 1)
				w.Flush(0)
			} else if _, err := w.Await(ctx, 0, ready, rma.Is(1)); err != nil {
				return err
			}
			return body(ctx, w, l)
		}}, nil
	}}
}

// From arrivedHigh on a reader does not go on before the counter has been reset, whatever
// other readers do meanwhile.
func TestCounterIsReset(t *testing.T) {
	rings.Computes(t)
	t.Parallel()
	for _, shared := range []bool{false, true} {
		const first = arrivedHigh * (arriveOne + departOne)
		system := rwFrom(3, maxTR, shared, first, func(ctx context.Context, w rma.Window, l *Lock) error {
			m := l.At(w).(*rmaRW)
			for i := range 3 {
				if (int(w.Rank())+i)%2 == 0 {
					if !m.TryAcquireRead() {
						return fmt.Errorf("no writer has come, and a try of rank %d to read fails", w.Rank())
					}
				} else if err := m.AcquireRead(ctx); err != nil {
					return err
				}
				if v := w.Get(0, l.base.rank+rwCounter); arrived(v) >= arrivedHigh {
					return fmt.Errorf("rank %d goes on, and the counter is %#x", w.Rank(), v)
				}
				m.ReleaseRead()
			}
			return nil
		})
		if err := system.Seeds(0, 500).Err(); err != nil {
			t.Fatalf("shared=%t: %v", shared, err)
		}
	}
}

// A writer does not give up where the number of writers that gave up would come round.
func TestWriterStays(t *testing.T) {
	rings.Computes(t)
	for _, shared := range []bool{false, true} {
		var quit context.CancelFunc
		system := rwFrom(2, 4, shared, abortsMask, func(ctx context.Context, w rma.Window, l *Lock) error {
			m, counter := l.At(w).(*rmaRW), l.base.rank+rwCounter
			if w.Rank() == 1 {
				for arrived(w.Get(0, counter)) == 0 {
					w.Pause(1)
				}
				patience, cancel := context.WithCancel(ctx)
				quit = cancel
				if err := m.Acquire(patience); err != nil {
					return fmt.Errorf("a writer gives up as the last that can be counted, and its error is %w", err)
				}
				m.Release()
				return nil
			}
			if err := m.AcquireRead(ctx); err != nil {
				return err
			}
			for w.Get(0, counter)&wanted == 0 {
				w.Pause(1)
			}
			quit()
			for range 4 {
				w.Get(0, counter) // the writer may go on
			}
			m.ReleaseRead()
			return nil
		})
		if err := system.Seeds(0, 200).Err(); err != nil {
			t.Fatalf("shared=%t: %v", shared, err)
		}
	}
}

// Epochs without readers take the counters further apart, one step each time, until there is one.
// A reader finds its counter closed and goes to that one. Many readers bring the counters back, and
// the reader returns to its own.
func TestReadersFollowCounters(t *testing.T) {
	for _, operations := range []bool{false, true} {
		for _, try := range []bool{false, true} {
			ctx := context.Background()
			all := adaptive(t, "core:4", Options{TDC: 1, Hysteresis: 2, Operations: operations})
			write := func(n int) {
				for range n {
					must(all[0].Acquire(ctx))
					all[0].Release()
				}
			}
			read := func(p, n int) {
				t.Helper()
				for range n {
					if !try {
						must(all[p].AcquireRead(ctx))
					} else if !all[p].TryAcquireRead() {
						t.Fatal("no writer has come, and a try to read fails")
					}
					all[p].ReleaseRead()
				}
			}
			at := func(p int, counter Rank) {
				t.Helper()
				if all[p].own.Target != counter {
					t.Errorf("operations=%t, try=%t: rank %d reads at counter %d, want %d", operations, try, p, all[p].own.Target, counter)
				}
			}
			read(3, 1)
			at(3, 3)
			write(2)
			read(3, 1)
			at(3, 2)
			write(2)
			read(3, 2)
			at(3, 0)
			for range 2 {
				read(3, 40)
				write(1)
			}
			must(all[3].AcquireRead(ctx)) // sees that counters are nearer
			all[3].ReleaseRead()
			for range 2 {
				must(all[3].AcquireRead(ctx))
				all[3].ReleaseRead()
				at(3, 2)
				read(3, 80)
				write(1)
			}
			for range 2 {
				must(all[3].AcquireRead(ctx))
				all[3].ReleaseRead()
			}
			at(3, 3)
		}
	}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
