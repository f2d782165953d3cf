package sim

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// With random small programs, the search that merges states reaches exactly the same
// ends as the search that does not merge.
func TestMergingLosesNothing(t *testing.T) {
	rings.Computes(t)
	for seed := range uint64(300) {
		merged, plain := outcomes(t, seed, true), outcomes(t, seed, false)
		if !slices.Equal(merged, plain) {
			t.Fatalf("program %d: merging reaches %d ends, plain enumeration %d:\n%v\n%v",
				seed, len(merged), len(plain), merged, plain)
		}
	}
}

// outcomes lists every end that the program of a seed can reach: the final memory,
// and all values that each rank has seen.
func outcomes(t *testing.T, seed uint64, merge bool) []string {
	t.Helper()
	var ends []string
	system := System{
		Topology: topology.Flat(2),
		Shared:   true,
		Setup: func(f *Fabric) (Program, error) {
			base, err := f.Alloc(2)
			seen := make([][]uint64, 2)
			return Program{
				Rank: func(ctx context.Context, w rma.Window) error {
					seen[w.Rank()] = randomBody(seed, w, base)
					return nil
				},
				Check: func() error {
					ends = append(ends, fmt.Sprint(f.memory.heap[:2], f.memory.heap[f.memory.words:][:2], seen))
					return nil
				},
			}, err
		},
	}.withDefaults()
	s := search{visited: make(map[uint64]struct{})}
	for runs := 0; ; runs++ {
		if runs > 1<<18 {
			t.Fatalf("program %d has too many schedules for a plain enumeration", seed)
		}
		if !merge {
			clear(s.visited)
		}
		s.depth = 0
		if _, err := explore(system, &s, faultPlan{}, false); err != nil {
			t.Fatalf("program %d: %v", seed, err)
		}
		if !s.next() {
			break
		}
	}
	slices.Sort(ends)
	return slices.Compact(ends)
}

// randomBody is a short random program of a rank. The values that it writes depend on
// the values that it has seen.
func randomBody(seed uint64, w rma.Window, base rma.Disp) []uint64 {
	rng := rand.New(rand.NewPCG(seed, uint64(w.Rank())))
	var seen []uint64
	for range 3 {
		target, disp := rma.Rank(rng.IntN(2)), base+rma.Disp(rng.IntN(2))
		value := uint64(1 + rng.IntN(3))
		if n := len(seen); n > 0 {
			value += seen[n-1]
		}
		word, _ := w.(rma.Shared).Direct(target, disp)
		switch rng.IntN(12) {
		case 0, 1:
			w.Put(target, disp, value)
		case 2:
			w.Accumulate(target, disp, rma.Sum, value)
		case 3:
			seen = append(seen, w.FetchOp(target, disp, rma.Sum, value))
		case 4:
			seen = append(seen, w.CAS(target, disp, 0, value))
		case 5:
			seen = append(seen, w.Get(target, disp))
		case 6:
			w.FlushAll()
		case 7:
			word.Store(value)
		case 8:
			seen = append(seen, word.Swap(value))
		case 9:
			seen = append(seen, word.Add(value))
		case 10:
			if word.CompareAndSwap(0, value) {
				seen = append(seen, 1)
			}
		case 11:
			seen = append(seen, word.Load())
		}
	}
	return seen
}

// A schedule survives printing and parsing. parseSchedule refuses every other text.
func FuzzSchedule(f *testing.F) {
	f.Add("0120")
	f.Add("z[36][65535]")
	f.Add("[")
	f.Add("[-1]")
	f.Fuzz(func(t *testing.T, text string) {
		schedule, err := parseSchedule(text)
		if err != nil {
			return
		}
		again, err := parseSchedule(formatSchedule(schedule))
		if err != nil || !slices.Equal(schedule, again) {
			t.Fatalf("%q becomes %v, then %v, %v", text, schedule, again, err)
		}
	})
}

// The agenda returns events in the order of their times, and events of equal times in
// the order of pushing. It does so with few events and with many, pushed in order or
// not.
func TestAgenda(t *testing.T) {
	rings.Computes(t)
	for seed := range uint64(100) {
		rng := rand.New(rand.NewPCG(seed, 0))
		var a agenda
		last := event{at: -1}
		spread := int64(1 + 20*seed)
		for step := range int64(3000) {
			a.push(event{at: max(last.at, 5*step) + rng.Int64N(spread)}) // not in the past
			if rng.IntN(4) == 0 {
				last = popAfter(t, &a, last)
			}
		}
		for len(a.events) > 0 {
			last = popAfter(t, &a, last)
		}
	}
}

func popAfter(t *testing.T, a *agenda, last event) event {
	t.Helper()
	next := a.next()
	e := a.pop()
	if e.at != next || !a.before(&last, &e) {
		t.Fatalf("the event at %d (%d) comes after the one at %d (%d); the next one should be at %d",
			e.at, e.seq, last.at, last.seq, next)
	}
	return e
}
