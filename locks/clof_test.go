package locks_test

import (
	"context"
	"slices"
	"testing"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/locks/lockstest"
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

// TestCLoFNames plays locks of three parts, and counts what they cost. Each part may stand at each
// level.
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
					g := gameOf(spec, machine(t, text), 3, 0, way)
					if r := g.Seeds(seeds.All()); r.Failure != nil {
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
			stays map[int]int
		}{
			{[]int{1, 9, 9}, []int{1, 2, 4}, nil},
			{[]int{1, 1, 9}, []int{1, 4, 2}, nil},               // the rack has had its share
			{[]int{1, 9, 1}, []int{2, 1, 4}, map[int]int{2: 1}}, // the node has, and rank 1 waits in the rack
			{[]int{1, 2, 1}, []int{2, 4, 1}, map[int]int{2: 1}}, // the node, and after rank 2 the rack
		} {
			for _, way := range []way{byOperations, direct} {
				v := newVisitors(t, name, "rack:2 node:2 core:2", locks.Options{TL: c.tl, Operations: way == byOperations})
				v.stays = c.stays
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

// A rank of a CLoF waits at its node, or above it. Rank 2 of the other node waits for the rack, whose share is one, and
// has the lock of all after that without a wait. Rank 0 waits nowhere.
func TestCLoFCounts(t *testing.T) {
	for _, name := range []string{"CLoF-TKT-MCS-CLH", "CLoF-MCS-CLH-HEM", "CLoF-HEM-TKT-MCS"} {
		v := newVisitors(t, name, "rack:2 node:2 core:2", locks.Options{TL: []int{1, 1, 9}})
		must(v.m[0].Acquire(context.Background()))
		v.comes(2)
		v.m[0].Release()
		v.all.Wait()
		var sum locks.Counts
		for _, c := range v.l.Counts() {
			sum = sum.Add(c)
		}
		if want := (locks.Counts{Acquired: 2, Upper: 2, UpperWaited: 1}); sum != want {
			t.Errorf("%s: counted %+v, want %+v", name, sum, want)
		}
	}
}
