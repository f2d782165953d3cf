package topology

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

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
		{"node:2 core:8", "rack:2 node:4", `topology: the tree to put under node begins with node, which is not finer
	rack:2 node:4
	       ^~~~
	allowed: group, rack`},
		{"group:2 core:8", "node:4", `topology: the tree to put under node begins with group, which is not finer
	node:4
	^~~~
	allowed: nothing, for group is the coarsest`},
		{"core:1024", "node:1025", `topology: 1025 of node with 1024 ranks each are too many
	node:1025
	^~~~
	allowed: up to 1048576 ranks in all`},
		{"core:2", "nod:4", `topology: "nod" is no level, did you mean "node"?
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
			t.Skip("one level has no inside")
		}
		// The inside of the first node stands for the inside of all.
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
		t.Errorf("rank 0 got CPU %d out of nowhere", cpu)
	}
}
