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

// TestPlaceAgainstReference searches the leaf of every rank one by one, and
// compares the whole tree.
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

func TestUnder(t *testing.T) {
	for _, test := range []struct{ inside, text, want string }{
		{"socket:2 core:8", "rack:2 node:4", "rack:2 node:4 socket:2 core:8"},
		{"core:8", "node:4", "node:4 core:8"},
		{"socket:2 core:4+2", "node:2", "node:2 socket:2 core:4+2+4+2"},
		{"core:2", "machine:1 rack:2 node:1+3", "rack:2 node:1+3 core:2"},
		{"core:2", "node:1", "node:1 core:2"},
	} {
		tree, err := mustParse(t, test.inside).Under(test.text)
		if err != nil || tree.String() != test.want {
			t.Errorf("%s under %s: %v, %v; want %s", test.inside, test.text, tree, err, test.want)
			continue
		}
		checkInvariants(t, tree)
	}
}

func TestUnderError(t *testing.T) {
	for _, test := range []struct{ inside, text, want string }{
		{"node:2 core:8", "rack:2 node:4", `topology: node does not fit into node: it is not finer
	rack:2 node:4
	       ^~~~
	allowed: group, rack`},
		{"group:2 core:8", "node:4", `topology: group does not fit into node: it is not finer
	node:4
	^~~~
	allowed: no level: group is the coarsest`},
		{"core:1024", "node:1025", `topology: the machine is too large: node:1025 with 1024 ranks each
	node:1025
	^~~~
	allowed: up to 1048576 ranks in all`},
		{"core:2", "nod:4", `topology: unknown level "nod", did you mean "node"?
	nod:4
	^~~
	allowed: ` + anyName},
	} {
		_, err := mustParse(t, test.inside).Under(test.text)
		var bad *ParseError
		if !errors.As(err, &bad) || err.Error() != test.want {
			t.Errorf("%s under %s gives\n%v\nwant\n%s", test.inside, test.text, err, test.want)
		}
	}
}

func TestUnderAgainstReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		whole := drawReference(t)
		depth := rapid.IntRange(1, max(1, len(whole.names)-1)).Draw(t, "depth")
		if len(whole.names) < 2 {
			t.Skip("needs two levels, one for the nodes and one inside")
		}
		// All nodes get the inside of the first one.
		inside := reference{names: whole.names[depth:]}
		outside := reference{names: whole.names[:depth]}
		for p, path := range whole.paths {
			if p == 0 || !slices.Equal(whole.paths[p-1][:depth], path[:depth]) {
				outside.paths = append(outside.paths, path[:depth])
			}
			if slices.Equal(whole.paths[0][:depth], path[:depth]) {
				inside.paths = append(inside.paths, path[depth:])
			}
		}
		joined := reference{names: whole.names}
		for _, node := range outside.paths {
			for _, path := range inside.paths {
				joined.paths = append(joined.paths, slices.Concat(node, path))
			}
		}
		machine := inside.tree(t)
		machine.cpus = rapid.Permutation(upTo(len(inside.paths))).Draw(t, "cpus")
		got, err := machine.Under(outside.text())
		if err != nil {
			t.Fatal(err)
		}
		joined.sameAs(t, got)
		for p := range Rank(got.Ranks()) {
			if cpu, ok := got.CPU(p); !ok || cpu != machine.cpus[int(p)%len(machine.cpus)] {
				t.Fatalf("rank %d is on CPU %d", p, cpu)
			}
		}
	})
}

func TestUnderKeepsCPUsUnknown(t *testing.T) {
	tree, err := mustParse(t, "core:2").Under("node:2")
	if err != nil {
		t.Fatal(err)
	}
	if cpu, ok := tree.CPU(0); ok {
		t.Errorf("rank 0 is on CPU %d, want no CPU number", cpu)
	}
}
