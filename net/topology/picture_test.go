package topology

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestPicture(t *testing.T) {
	for text, want := range map[string]string{
		"core:1": `
machine: 1 rank
└─ 1 × core`,
		"rack:2 node:4 core:8": `
machine: 64 ranks
└─ 2 × rack (0-1): 32 ranks each
   └─ 4 × node: 8 ranks each
      └─ 8 × core`,
		"node:3 socket:2*2+1 core:2*4+4": `
machine: 12 ranks
├─ 2 × node (0-1): 4 ranks each
│  └─ 2 × socket: 2 ranks each
│     └─ 2 × core
└─ node 2: 4 ranks (8-11)
   └─ socket 4: 4 ranks (8-11)
      └─ 4 × core`,
		// Elements are alike only if all their parts are.
		"node:2 socket:2 core:1+2+2+1": `
machine: 6 ranks
├─ node 0: 3 ranks (0-2)
│  ├─ socket 0: 1 rank (0)
│  │  └─ 1 × core
│  └─ socket 1: 2 ranks (1-2)
│     └─ 2 × core
└─ node 1: 3 ranks (3-5)
   ├─ socket 2: 2 ranks (3-4)
   │  └─ 2 × core
   └─ socket 3: 1 rank (5)
      └─ 1 × core`,
		"node:2 socket:2 core:1+2+1+2": `
machine: 6 ranks
└─ 2 × node (0-1): 3 ranks each
   ├─ 1 × socket: 1 rank
   │  └─ 1 × core
   └─ 1 × socket: 2 ranks
      └─ 2 × core`,
	} {
		if got := "\n" + mustParse(t, text).Picture(); got != want {
			t.Errorf("%s is drawn as%s\nwant%s", text, got, want)
		}
	}
}

// twoThreadsEach returns cores with two threads each. It numbers them as firmware
// often does: the first threads of all cores, then the second threads.
func twoThreadsEach(sockets, cores int) (cpus []CPU) {
	for number := range sockets * cores * 2 {
		core := number % (sockets * cores)
		cpus = append(cpus, CPU{Number: number, Socket: core / cores, Core: core})
	}
	return cpus
}

func TestPictureWithCPUs(t *testing.T) {
	machine := FromCPUs(twoThreadsEach(2, 2))
	cluster, err := machine.Under("node:3")
	if err != nil {
		t.Fatal(err)
	}
	crowded, err := machine.WithRanks(17)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		tree *Tree
		want string
	}{
		{machine, `
machine: 8 ranks
└─ 2 × socket (0-1): 4 ranks each
   └─ 2 × core: 2 ranks each
      └─ 2 × thread
CPUs in the order of ranks: 0, 4, 1, 5, 2, 6, 3, 7`},
		{cluster, `
machine: 24 ranks
└─ 3 × node (0-2): 8 ranks each
   └─ 2 × socket: 4 ranks each
      └─ 2 × core: 2 ranks each
         └─ 2 × thread
CPUs in the order of ranks, in each node: 0, 4, 1, 5, 2, 6, 3, 7`},
		{crowded, `
machine: 17 ranks
├─ socket 0: 9 ranks (0-8)
│  ├─ core 0: 5 ranks (0-4)
│  │  └─ 5 × rank
│  └─ core 1: 4 ranks (5-8)
│     └─ 4 × rank
└─ socket 1: 8 ranks (9-16)
   └─ 2 × core (2-3): 4 ranks each
      └─ 4 × rank
CPUs in the order of ranks: 0×3, 4×2, 1×2, 5×2, 2×2, 6×2, 3×2, 7×2`},
	} {
		if got := "\n" + test.tree.Picture(); got != test.want {
			t.Errorf("drawn as%s\nwant%s", got, test.want)
		}
	}
}

func TestPictureBreaksLongLines(t *testing.T) {
	machine := FromCPUs(twoThreadsEach(2, 64))
	for line := range strings.Lines(machine.Picture()) {
		if n := utf8.RuneCountInString(strings.TrimSpace(line)); n > pictureWidth {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}
