package lockstest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/rma"
)

// Nested describes ranks that hold several locks of a set at once, in the simulator. Ranks of a
// Hemlock have one word for all locks: all successors of a rank wait for it. The ranks check the
// promises of each lock, as in a [Contest].
type Nested struct {
	// Set allocates a set of locks.
	Set func(f rma.Fabric) ([]At, error)
	// Rounds are what each rank does.
	Rounds [][]Nesting
}

// Nesting is one round of a rank. The rank acquires these locks of the set in this order.
// Then it releases them, from the last to the first or from the first to the last.
type Nesting struct {
	Locks     []int
	FromFirst bool
}

// Releases are the locks in the order in which the rank releases them.
func (n Nesting) Releases() []int {
	release := slices.Clone(n.Locks)
	if !n.FromFirst {
		slices.Reverse(release)
	}
	return release
}

// SetOf is a set of n locks of a row of the table.
func SetOf(spec locks.Spec, n int) func(f rma.Fabric) ([]At, error) {
	return func(f rma.Fabric) ([]At, error) {
		set, err := spec.NewSet(f, n, locks.Options{})
		var ats []At
		for _, l := range set {
			ats = append(ats, l.At)
		}
		return ats, err
	}
}

// Nestings draws rounds for ranks: any of n locks, in their order. So no ranks wait in a circle.
func Nestings(rng *rand.Rand, ranks, n, rounds int) [][]Nesting {
	all := make([][]Nesting, ranks)
	for p := range all {
		for range rounds {
			round := Nesting{FromFirst: rng.IntN(2) == 0}
			for k := range n {
				if rng.IntN(3) > 0 {
					round.Locks = append(round.Locks, k)
				}
			}
			all[p] = append(all[p], round)
		}
	}
	return all
}

// Start allocates the set and the data that its locks protect. It returns the body of each rank.
func (n Nested) Start(f rma.Fabric) (func(ctx context.Context, w rma.Window) error, error) {
	set, err := n.Set(f)
	if err != nil {
		return nil, err
	}
	data, err := f.Alloc(len(set))
	if err != nil {
		return nil, err
	}
	holder := make([]rma.Rank, len(set)) // rank+1
	written := make([]uint64, len(set))
	home := rma.Rank(f.Topology().Ranks() - 1)
	enter := func(ctx context.Context, w rma.Window, k int) error {
		if err := set[k](w).Acquire(ctx); err != nil {
			return err
		}
		if holder[k] != 0 {
			return fmt.Errorf("rank %d enters lock %d while rank %d holds it", w.Rank(), k, holder[k]-1)
		}
		holder[k] = w.Rank() + 1
		seen := w.Get(home, data+rma.Disp(k))
		if w.Err() != nil {
			return w.Err()
		}
		if seen != written[k] {
			return fmt.Errorf("rank %d sees write %d under lock %d, want %d", w.Rank(), seen, k, written[k])
		}
		written[k]++
		w.Put(home, data+rma.Disp(k), written[k])
		return nil
	}
	return func(ctx context.Context, w rma.Window) error {
		for _, round := range n.Rounds[w.Rank()] {
			for _, k := range round.Locks {
				if err := enter(ctx, w, k); err != nil {
					return err
				}
			}
			for _, k := range round.Releases() {
				holder[k] = 0
				set[k](w).Release()
			}
		}
		return nil
	}, nil
}
