package epoch_test

import (
	"fmt"
	"testing"

	"github.com/orwl/go-orwl/lab/epoch"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/rmatest"
)

// costs checks the number of this rank's operations on the memory of other ranks
// since the last call.
func (a *actor) costs(t *testing.T, what string, want rmatest.Count) {
	t.Helper()
	if a.Remote != want {
		t.Errorf("%s cost %v, want %v", what, a.Remote, want)
	}
	a.Reset()
}

// TestFenceCost proves ⌈log₂ P⌉ rounds of one flushed put each, foMPI §2.4.
func TestFenceCost(t *testing.T) {
	for ranks, rounds := range map[int]int{1: 0, 2: 1, 3: 2, 4: 2, 5: 3, 8: 3, 9: 4, 64: 6} {
		t.Run(fmt.Sprint(ranks), func(t *testing.T) {
			w := newWorld(t, ranks, epoch.Options{})
			w.together(func(a *actor) error { return a.Fence(background) })
			for _, a := range w.ranks {
				a.costs(t, "Fence", rmatest.Count{Put: rounds, Flush: rounds})
			}
		})
	}
}

// TestMemory proves that no rank keeps a list of all ranks.
func TestMemory(t *testing.T) {
	const k = 6
	for ranks, rounds := range map[int]int{8: 3, 64: 6, 1024: 10} {
		if w := newWorld(t, ranks, epoch.Options{Neighbours: k}); w.words != rounds+k+4 {
			t.Errorf("a Set of %d ranks with %d neighbours each use %d words, want %d", ranks, k, w.words, rounds+k+4)
		}
	}
}

// TestPSCWCost proves that Post and Complete cost O(k) and that Start and Wait
// use only the rank's own memory, foMPI §2.4.
func TestPSCWCost(t *testing.T) {
	for k := range 4 {
		w := newWorld(t, 5, epoch.Options{})
		group := []rma.Rank{1, 2, 3}[:k]
		for _, p := range group {
			must(t, w.ranks[p].Post(background, []rma.Rank{0}))
		}
		a := w.ranks[0]
		must(t, a.Post(background, group))
		a.costs(t, "Post", rmatest.Count{FetchOp: k, CAS: k})
		must(t, a.Start(background, group))
		a.costs(t, "Start", rmatest.Count{})
		must(t, a.Complete())
		a.costs(t, "Complete", rmatest.Count{Accumulate: k, Flush: 2 * k})
		for _, p := range group {
			must(t, w.ranks[p].Start(background, []rma.Rank{0}), w.ranks[p].Complete())
		}
		must(t, a.Wait(background))
		a.costs(t, "Wait", rmatest.Count{})
	}
}

func TestLockCost(t *testing.T) {
	w := newWorld(t, 4, epoch.Options{})
	a := w.ranks[1]
	must(t, a.Lock(background, 2, epoch.Shared))
	a.costs(t, "a shared Lock", rmatest.Count{FetchOp: 1})
	must(t, a.Unlock(2))
	a.costs(t, "its Unlock", rmatest.Count{Accumulate: 1, Flush: 2})

	must(t, a.Lock(background, 2, epoch.Exclusive))
	a.costs(t, "an exclusive Lock", rmatest.Count{FetchOp: 1, CAS: 1})
	must(t, a.Lock(background, 3, epoch.Exclusive))
	a.costs(t, "a second exclusive Lock", rmatest.Count{CAS: 1})
	must(t, a.Unlock(2))
	a.costs(t, "the first Unlock", rmatest.Count{Accumulate: 1, Flush: 2})
	must(t, a.Unlock(3))
	a.costs(t, "the last Unlock", rmatest.Count{Accumulate: 2, Flush: 3})

	must(t, a.LockAll(background))
	a.costs(t, "LockAll", rmatest.Count{FetchOp: 1})
	must(t, a.UnlockAll())
	a.costs(t, "UnlockAll", rmatest.Count{Accumulate: 1, Flush: 1})
}

// TestContendedLockCost counts operations when a rank waits once, for each kind of
// lock.
func TestContendedLockCost(t *testing.T) {
	w := newWorld(t, 4, epoch.Options{})
	a, b := w.ranks[1], w.ranks[2]

	must(t, b.Lock(background, 3, epoch.Exclusive))
	a.whenItWaits(func() { must(t, b.Unlock(3)) })
	must(t, a.Lock(background, 3, epoch.Shared))
	a.costs(t, "a shared Lock behind an exclusive one", rmatest.Count{FetchOp: 1, Await: 1})

	a.whenItWaits(func() { t.Error("waits for a reader") })
	must(t, a.Unlock(3), b.Lock(background, 3, epoch.Shared), a.Lock(background, 3, epoch.Shared), a.Unlock(3))
	a.Reset()

	a.whenItWaits(func() { must(t, b.Unlock(3)) })
	must(t, a.Lock(background, 3, epoch.Exclusive))
	a.costs(t, "an exclusive Lock behind a shared one", rmatest.Count{FetchOp: 1, CAS: 2, Await: 1})

	b.whenItWaits(func() { must(t, a.Unlock(3)) })
	must(t, b.LockAll(background))
	b.Reset()
	a.Reset()
	a.whenItWaits(func() { must(t, b.UnlockAll()) })
	must(t, a.Lock(background, 3, epoch.Exclusive))
	a.costs(t, "an exclusive Lock behind LockAll", rmatest.Count{FetchOp: 1, CAS: 1, Await: 1})

	b.Reset()
	b.whenItWaits(func() { must(t, a.Unlock(3)) })
	must(t, b.LockAll(background))
	b.costs(t, "LockAll behind an exclusive Lock", rmatest.Count{FetchOp: 2, Accumulate: 1, Flush: 1, Await: 1})
	must(t, b.UnlockAll())
}

// TestExposeCost proves that an allgather costs a fence with ⌈log₂ P⌉ messages.
func TestExposeCost(t *testing.T) {
	for ranks, rounds := range map[int]int{1: 0, 2: 1, 4: 2, 8: 3, 32: 5} {
		w := newWorld(t, ranks, epoch.Options{})
		x, err := epoch.NewExposure(w.fabric)
		must(t, err)
		w.together(func(a *actor) error {
			_, err := x.Expose(background, a.Sync, make([]uint64, 3))
			return err
		})
		for _, a := range w.ranks {
			if a.Remote.Put != rounds || a.Remote.PutBytes < rounds || a.Remote.PutBytes > 2*rounds || a.Remote.Get+a.Remote.GetBytes > 0 {
				t.Errorf("Expose among %d ranks cost rank %d %v, want %d rounds of at most two messages", ranks, a.Rank(), a.Remote, rounds)
			}
		}
	}
}
