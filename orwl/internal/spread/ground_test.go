package spread

import (
	"slices"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/net/topology"
)

// A guard stands on the machines of all nodes, with its ranks under each of them. Nodes on one
// machine are a group, wherever they are in the order of nodes.
func TestTreeOfGuard(t *testing.T) {
	for _, c := range []struct {
		machines []string // with a name, or nodes that share no memory
		ranks    int
		want     string
		at       []int // nil: the nodes in their order
	}{
		{[]string{"core:4", "core:4"}, 4, "node:2 core:4", nil},
		{[]string{"socket:2 core:4", "socket:2 core:4", "socket:2 core:4"}, 4, "node:3 socket:2 core:2", nil},
		{[]string{"socket:2 core:4", "core:4"}, 3, "node:2 rank:3", nil},
		{[]string{"node:2 core:4", "node:2 core:4"}, 3, "node:2 rank:3", nil},
		{[]string{"core:4 a", "core:4 a"}, 4, "node:2 core:4", nil},
		{[]string{"core:4 a", "core:4 a", "core:4 b", "core:4 b"}, 4, "group:2 node:2 core:4", nil},
		{[]string{"core:4 a", "core:2 a", "core:4 b", "core:4 b"}, 3, "group:2 node:2 rank:3", nil},
		{[]string{"core:4 a", "core:4 a", "core:4 b"}, 4, "group:2 node:2+1 core:4", nil},
		{[]string{"core:4 a", "core:4 b", "core:4 a", "core:4 b"}, 4, "group:2 node:2 core:4", []int{0, 2, 1, 3}},
		{[]string{"core:4 a", "core:4 b", "core:4 b", "core:4", "core:4 a"}, 2, "group:3 node:2*2+1 core:2", []int{0, 2, 3, 4, 1}},
		{[]string{"core:4 a", "core:4 a", "core:4", "core:4"}, 4, "group:3 node:2+1*2 core:4", nil},
	} {
		var texts [][]byte
		for _, text := range c.machines {
			on := Ground{}
			if words := strings.Fields(text); !strings.Contains(words[len(words)-1], ":") {
				on.Machine = words[len(words)-1]
				text = strings.TrimSuffix(text, " "+on.Machine)
			}
			var err error
			if on.Tree, err = topology.Parse(text); err != nil {
				t.Fatal(err)
			}
			texts = append(texts, on.Encode())
		}
		grounds, err := ParseGrounds(texts)
		if err != nil {
			t.Fatal(err)
		}
		tree, at, err := grounds.Tree(0, c.ranks)
		if err != nil || tree.String() != c.want {
			t.Errorf("%v with %d ranks: %v, %v, want %s", c.machines, c.ranks, tree, err, c.want)
		}
		if want := c.at; !slices.Equal(at, want) && (want != nil || !slices.Equal(at, upTo(len(at)))) {
			t.Errorf("%v: the nodes are in the places %v, want %v", c.machines, at, want)
		}
	}
}

// A lost node and a node without memory to share are on machines of their own. Trees may be left
// out.
func TestParseGrounds(t *testing.T) {
	all, err := ParseGrounds([][]byte{nil, Ground{Machine: "a"}.Encode(), Ground{}.Encode(), Ground{Machine: "a"}.Encode()})
	if err != nil || all.Machines().String() != "0, 1 3, 2" || all[1].Tree != nil {
		t.Errorf("%v, %v", all, err)
	}
	whole := Ground{Machine: "a", Tree: topology.Flat(2)}.Encode()
	for cut := range whole {
		if _, err := ParseGrounds([][]byte{whole[:cut]}); err == nil {
			t.Errorf("the first %d bytes of %d are read", cut, len(whole))
		}
	}
}

// FuzzGround reads anything as a ground.
func FuzzGround(f *testing.F) {
	f.Add(Ground{Machine: "a", Tree: topology.Flat(2)}.Encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		all, err := ParseGrounds([][]byte{b})
		if err != nil {
			return
		}
		again, err := ParseGrounds([][]byte{all[0].Encode()})
		if err != nil || again[0].Machine != all[0].Machine {
			t.Errorf("%v is read as %v, %v", all, again, err)
		}
	})
}
