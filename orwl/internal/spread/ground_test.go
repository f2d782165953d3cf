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
			on := Ground{Processors: 1}
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
	all, err := ParseGrounds([][]byte{nil, Ground{Machine: "a", Processors: 1}.Encode(), Ground{Processors: 1}.Encode(), Ground{Machine: "a", Processors: 1}.Encode()})
	if err != nil || all.Machines().String() != "0, 1 3, 2" || all[1].Tree != nil {
		t.Errorf("%v, %v", all, err)
	}
	whole := Ground{Machine: "a", Processors: 2, CPUs: []int{0, 1}, Tree: topology.Flat(2)}.Encode()
	all, err = ParseGrounds([][]byte{whole})
	if err != nil || all[0].Processors != 2 || !slices.Equal(all[0].CPUs, []int{0, 1}) || !all[0].Tree.Equal(topology.Flat(2)) {
		t.Errorf("%v, %v", all, err)
	}
	if _, err := ParseGrounds([][]byte{Ground{Machine: "a"}.Encode()}); err == nil {
		t.Error("a node without a processor is read")
	}
	for cut := range whole {
		if _, err := ParseGrounds([][]byte{whole[:cut]}); err == nil {
			t.Errorf("the first %d bytes of %d are read", cut, len(whole))
		}
	}
}

// Nodes of one machine share its CPUs. Those on others, and those without numbers, have their own.
func TestProcessors(t *testing.T) {
	on := func(machine string, processors int, cpus ...int) Ground {
		return Ground{Machine: machine, Processors: processors, CPUs: cpus}
	}
	for name, c := range map[string]struct {
		all  Grounds
		want int
	}{
		"one node":                     {Grounds{on("", 2, 0, 1)}, 2},
		"one of few":                   {Grounds{on("a", 1, 0, 1)}, 1},
		"two nodes, same CPUs":         {Grounds{on("a", 2, 0, 1), on("a", 2, 0, 1)}, 2},
		"two nodes, CPUs of their own": {Grounds{on("a", 2, 0, 1), on("a", 2, 2, 3)}, 4},
		"CPUs in part the same":        {Grounds{on("a", 2, 0, 1), on("a", 2, 1, 2)}, 3},
		"one thread for each node":     {Grounds{on("a", 1, 0, 1, 2), on("a", 1, 0, 1, 2)}, 2},
		"two machines":                 {Grounds{on("a", 2, 0, 1), on("b", 2, 0, 1)}, 4},
		"no shared memory":             {Grounds{on("", 2, 0, 1), on("", 2, 0, 1)}, 4},
		"no numbers":                   {Grounds{on("a", 2), on("a", 2)}, 4},
		"a lost node":                  {Grounds{on("a", 2, 0, 1), {}}, 2},
	} {
		if got := c.all.Processors(); got != c.want {
			t.Errorf("%s: %d processors, want %d", name, got, c.want)
		}
	}
}

// FuzzGround reads anything as a ground.
func FuzzGround(f *testing.F) {
	f.Add(Ground{Machine: "a", Processors: 2, CPUs: []int{0, 1}, Tree: topology.Flat(2)}.Encode())
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
