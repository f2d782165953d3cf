package locks_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/locks/lockstest"
	"github.com/orwl/go-orwl/net/mem"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/rmatest"
)

var composed = rings.Size("locks.clof", 21, 49, 343, "TestCLoFNames: how many of the locks CLoF-X-Y-Z it plays")

// cloFNames are names of three parts. The first 21 have each part at each place, the first 49 each part
// over each other one.
func cloFNames(n int) (names []string) {
	parts := []string{"TTS", "TKT", "MCS", "CLH", "HEM", "HEM-AH", "Reciprocating"}
	k := len(parts)
	for i := range n {
		x, y, z := i%k, i/k%k, i/k/k%k
		names = append(names, "CLoF-"+parts[x]+"-"+parts[(x+y)%k]+"-"+parts[(x+2*y+z)%k])
	}
	return names
}

// TestCLoFNames plays locks of three parts, each of which may stand at each level, and counts what
// they cost.
func TestCLoFNames(t *testing.T) {
	rings.Computes(t)
	t.Parallel()
	for _, name := range cloFNames(composed.N()) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec, ok := locks.ByName(name)
			if !ok {
				t.Fatal("there is no such lock")
			}
			for _, way := range waysOf(spec) {
				for _, text := range []string{"core:2", "rack:2 node:2 core:2"} {
					g := game{spec: spec, tree: machine(t, text), acquisitions: 3, way: way}
					if r := g.seeds(seeds.All()); r.Failure != nil {
						t.Fatalf("%s: %v", g, r.Failure)
					}
				}
			}
			for _, c := range []string{"cost/uncontended", "cost/contended", "misuse/release", "counts/contended"} {
				if c, err := lockstest.CaseByName(c); err == nil {
					conform(t, c, lockstest.Of(spec), backendsOf("mem-operations")...)
				}
			}
		})
	}
}

// Locks are composed of two to eight parts, and each has to be one.
func TestCLoFByName(t *testing.T) {
	long := "CLoF"
	for range 8 {
		long += "-MCS"
	}
	for name, want := range map[string]bool{
		"CLoF-TKT-MCS": true, "CLoF-HEM-AH-HEM-HEM-AH": true, long: true,
		"CLoF": false, "CLoF-": false, "CLoF-MCS": false, "CLoF-TKT-": false, "CLoF-TKT-TAS": false, "CLoF-TKTMCS": false,
		"CLoFTKT-MCS": false, "CLoF-TKT-MCSX": false, long + "-MCS": false,
	} {
		if spec, ok := locks.ByName(name); ok != want || ok && spec.Name != name {
			t.Errorf("%s: there is such a lock: %t, want %t", name, ok, want)
		}
	}
}

// A CLoF passes the lock on inside the finest element first, then inside the next coarser one, at
// most T_L,i times in a row. Rank 0 holds it. Rank 4 of the other rack comes, rank 2 of the other
// node, and rank 1.
func TestCLoFLevels(t *testing.T) {
	for _, name := range []string{"CLoF-TKT-MCS-CLH", "CLoF-MCS-CLH-HEM", "CLoF-HEM-TKT-MCS", "CLoF-CLH-HEM-Reciprocating", "HMCS"} {
		for _, c := range []struct {
			tl    []int
			order []int
		}{
			{[]int{1, 9, 9}, []int{1, 2, 4}},
			{[]int{1, 1, 9}, []int{1, 4, 2}}, // the rack has had its share
			{[]int{1, 9, 1}, []int{2, 1, 4}}, // the node has
			{[]int{1, 2, 1}, []int{2, 4, 1}}, // the node, and after rank 2 the rack
		} {
			for _, way := range []way{byOperations, direct} {
				v := newVisitors(t, name, "rack:2 node:2 core:2", locks.Options{TL: c.tl, Operations: way == byOperations})
				must(v.m[0].Acquire(context.Background()))
				for _, p := range []int{4, 2, 1} {
					v.comes(p)
				}
				v.m[0].Release()
				v.all.Wait()
				if !slices.Equal(v.order, c.order) {
					t.Errorf("%s %s, T_L %v: the order is %v, want %v", name, way, c.tl, v.order, c.order)
				}
				if got := v.counts(); got.Acquired != 4 || got.Upper+got.Passed != 4 {
					t.Errorf("%s %s, T_L %v: counted %+v", name, way, c.tl, got)
				}
			}
		}
	}
}

// remote is how many operations on other ranks' memory a rank's acquire and release take, while
// others come: arrivals come for the lock one after the other before rank 0, which holds it, releases.
func remote(t *testing.T, lock string, ranks, who int) (got locks.Operations, order []int) {
	t.Helper()
	spec, _ := locks.ByName(lock)
	f, err := mem.New(mem.Options{Topology: machine(t, fmt.Sprintf("core:%d", ranks))})
	must(err)
	defer f.Close()
	l, err := spec.New(f, locks.Options{Operations: true})
	must(err)
	v := &visitors{t: t, l: l}
	var tally *rmatest.Tally
	for p := range ranks {
		w, err := f.Window(rma.Rank(p))
		must(err)
		if p == who {
			tally = rmatest.NewTally(w)
			w = tally
		}
		waits := make(chan struct{})
		v.waits = append(v.waits, waits)
		v.m = append(v.m, l.At(lockstest.Watch(w, func() { close(waits) })))
	}
	must(v.m[0].Acquire(context.Background()))
	for p := 1; p < ranks; p++ {
		v.comes(p)
	}
	v.m[0].Release()
	v.all.Wait()
	c := tally.Remote
	return locks.Operations{Atomics: c.FetchOp + c.CAS, Puts: c.Put + c.Accumulate, Gets: c.Get + c.Await}, v.order
}

// A rank in the middle of a segment of Reciprocating takes a swap and a Put. So the last that came
// goes first.
func TestReciprocatingSegment(t *testing.T) {
	got, order := remote(t, "Reciprocating", 5, 3)
	if want := (locks.Operations{Atomics: 1, Puts: 1}); got != want {
		t.Errorf("a rank in a segment takes %v on other ranks' memory, want %v", got, want)
	}
	if want := []int{4, 3, 2, 1}; !slices.Equal(order, want) {
		t.Errorf("the order is %v, want %v", order, want)
	}
}

// Of the ranks that wait for TWA one at most awaits the word that is served. The others have slots
// of their own, and a lock of the same set does not let them go on.
func TestTWAWaitsApart(t *testing.T) {
	got, order := remote(t, "TWA", 6, 4)
	// The look at what is served, another one before it waits at its slot, a last one before it waits
	// for its turn, and the look at the next ticket: these and two awaits. The slot is at rank 5.
	if want := (locks.Operations{Atomics: 2, Puts: 0, Gets: 8}); got != want {
		t.Errorf("the fourth that waits takes %v on other ranks' memory, want %v", got, want)
	}
	if want := []int{1, 2, 3, 4, 5}; !slices.Equal(order, want) {
		t.Errorf("the order is %v, want %v", order, want)
	}
}
