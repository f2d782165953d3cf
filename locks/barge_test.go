package locks_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"github.com/orwl/go-orwl/internal/invariant"
	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/mem"
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
