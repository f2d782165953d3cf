package spread

import (
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
