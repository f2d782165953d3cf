package spread

import (
	"fmt"
	"slices"
	"testing"
)

// A lost node and a node without memory to share are on machines of their own.
func TestParseGrounds(t *testing.T) {
	all, err := ParseGrounds([][]byte{nil, Ground{Machine: "a", Processors: 1}.Encode(), Ground{Processors: 1}.Encode(), Ground{Machine: "a", Processors: 1}.Encode()})
	if err != nil || all.Machines().String() != "0, 1 3, 2" {
		t.Errorf("%v, %v", all, err)
	}
	whole := Ground{Machine: "a", Processors: 2, CPUs: []int{0, 1}}.Encode()
	all, err = ParseGrounds([][]byte{whole})
	if err != nil || all[0].Processors != 2 || !slices.Equal(all[0].CPUs, []int{0, 1}) {
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
	f.Add(Ground{Machine: "a", Processors: 2, CPUs: []int{0, 1}}.Encode())
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

// Processes of one machine with the same CPUs divide them.
func TestShare(t *testing.T) {
	four := []int{0, 2, 1, 3} // neighbours stand side by side
	on := func(process int) Ground { return Ground{Machine: "a", Host: "h", Process: process, CPUs: four} }
	elsewhere := Ground{Machine: "b", Host: "i", Process: 1, CPUs: four}
	inside := Ground{Machine: "a", Host: "container", Process: 1, CPUs: four}
	few := Ground{Machine: "a", Host: "h", Process: 9, CPUs: []int{0}}
	for name, c := range map[string]struct {
		all   Grounds
		want  string
		alone bool
	}{
		"one":                    {Grounds{on(1)}, "[[]]", false},
		"two":                    {Grounds{on(1), on(2)}, "[[0 2] [1 3]]", true},
		"three":                  {Grounds{on(1), on(2), on(3)}, "[[0] [2] [1 3]]", true},
		"more than CPUs":         {Grounds{on(1), on(2), on(3), on(4), on(5), on(6)}, "[[0] [0] [2] [1] [1] [3]]", false},
		"one process":            {Grounds{on(1), on(1)}, "[[] []]", false},
		"one on another machine": {Grounds{on(1), elsewhere, on(2)}, "[[0 2] [] [1 3]]", true},
		"in a container":         {Grounds{on(1), inside}, "[[0 2] [1 3]]", true},
		"other CPUs":             {Grounds{on(1), few}, "[[] []]", false},
		"a lost node":            {Grounds{on(1), {}, on(2)}, "[[0 2] [] [1 3]]", true},
		"no numbers":             {Grounds{{Machine: "a", Process: 1}, {Machine: "a", Process: 2}}, "[[] []]", false},
	} {
		var got [][]int
		for node := range c.all {
			cpus, alone := c.all.Share(node)
			if got = append(got, cpus); len(cpus) > 0 && alone != c.alone {
				t.Errorf("%s: node %d is alone: %t", name, node, alone)
			}
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%s: %v, want %s", name, got, c.want)
		}
	}
}
