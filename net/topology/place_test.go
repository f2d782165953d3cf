package topology

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestWithRanks(t *testing.T) {
	for _, test := range []struct {
		text   string
		ranks  int
		packed string
		spread string
	}{
		{"node:2 core:4", 8, "node:2 core:4", "node:2 core:4"},
		{"node:2 core:4", 1, "node:1 core:1", "node:1 core:1"},
		{"node:2 core:4", 2, "node:1 core:2", "node:2 core:1"},
		{"node:2 core:4", 5, "node:2 core:4+1", "node:2 core:3+2"},
		{"node:2 core:4", 16, "node:2 rank:8", "node:2 rank:8"},
		{"node:2 core:4", 10, "node:2 rank:5", "node:2 rank:5"},
		{"node:4 core:8*3+6", 15, "node:2 core:8+7", "node:4 core:4*3+3"},
		{"core:3", 2, "core:2", "core:2"},
		{"rack:2 node:2 core:2", 2, "rack:1 node:1 core:2", "rack:2 node:1 core:1"},
	} {
		tree := mustParse(t, test.text)
		packed, err := tree.WithRanks(test.ranks)
		if err != nil || packed.String() != test.packed {
			t.Errorf("%s with %d ranks packed: %v, %v; want %s", test.text, test.ranks, packed, err, test.packed)
		}
		spread, err := tree.Spread(test.ranks)
		if err != nil || spread.String() != test.spread {
			t.Errorf("%s with %d ranks spread: %v, %v; want %s", test.text, test.ranks, spread, err, test.spread)
		}
	}
}

func TestWithRanksOutOfRange(t *testing.T) {
	for _, n := range []int{-1, 0, MaxRanks + 1} {
		_, packed := Flat(4).WithRanks(n)
		_, spread := Flat(4).Spread(n)
		for _, err := range []error{packed, spread} {
			var outside *RangeError
			if !errors.As(err, &outside) || outside.Value != n {
				t.Errorf("%d ranks: %v, want a *RangeError", n, err)
			}
		}
	}
}

// TestPlaceAgainstReference finds the leaf of every rank by dealing ranks out to
// leaves one by one, and compares the whole tree.
func TestPlaceAgainstReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawReference(t)
		leaves := len(r.paths)
		tree := r.tree(t)
		tree.cpus = rapid.Permutation(upTo(leaves)).Draw(t, "cpus")
		n := rapid.IntRange(1, 2*leaves+1).Draw(t, "ranks")
		packed := rapid.Bool().Draw(t, "packed")

		place := tree.Spread
		if packed {
			place = tree.WithRanks
		}
		got, err := place(n)
		if err != nil {
			t.Fatal(err)
		}

		carried := make([]int, leaves)
		placed := reference{names: slices.Clone(r.names)}
		if n > leaves {
			placed.names[len(r.names)-1] = "rank"
		}
		for p := range n {
			leaf := p
			if n > leaves || !packed {
				for leaf = 0; (leaf+1)*n <= p*leaves; leaf++ {
				}
			}
			carried[leaf]++
			placed.paths = append(placed.paths, r.paths[leaf])
			if cpu, ok := got.CPU(Rank(p)); !ok || cpu != tree.cpus[leaf] {
				t.Fatalf("rank %d of %d is on CPU %d, want that of leaf %d, %d", p, n, cpu, leaf, tree.cpus[leaf])
			}
		}
		if slices.Max(carried)-slices.Min(carried) > 1 {
			t.Fatalf("leaves carry %v", carried)
		}
		if placed.names[len(r.names)-1] == "rank" && slices.Contains(r.names[:len(r.names)-1], "rank") {
			t.Fatal("rank names a level and the leaves")
		}
		placed.sameAs(t, got)
	})
}

func upTo(n int) []int {
	numbers := make([]int, n)
	for i := range numbers {
		numbers[i] = i
	}
	return numbers
}
