package topology

import (
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// §4.4: "for N = 3 and four subelements per machine element, the system would
// consist of 4^3 processes".
func TestTreeOfThePaper(t *testing.T) {
	tree := mustParse(t, "rack:4 node:4 core:4")
	if tree.Levels() != 3 || tree.Ranks() != 64 {
		t.Fatalf("N = %d and P = %d, want 3 and 4^3", tree.Levels(), tree.Ranks())
	}
	for i, want := range map[int]struct {
		name     string
		elements int
	}{1: {"machine", 1}, 2: {"rack", 4}, 3: {"node", 16}} {
		if tree.LevelName(i) != want.name || tree.Elements(i) != want.elements {
			t.Errorf("level %d is %d of %s, want %d of %s", i, tree.Elements(i), tree.LevelName(i), want.elements, want.name)
		}
	}
	if tree.LevelName(4) != "core" {
		t.Errorf("leaves are called %s, want core", tree.LevelName(4))
	}
}

func TestTreeAgainstReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawReference(t)
		r.sameAs(t, r.tree(t))
	})
}

func TestFlat(t *testing.T) {
	for _, ranks := range []int{1, 8, MaxRanks} {
		tree := Flat(ranks)
		if tree.Ranks() != ranks || tree.Levels() != 1 || tree.Element(Rank(ranks-1), 1) != 0 {
			t.Errorf("Flat(%d) is %s", ranks, tree)
		}
		checkInvariants(t, tree)
	}
}

func TestEqual(t *testing.T) {
	texts := []string{
		"core:8", "rank:8", "core:9", "node:2 core:4", "node:4 core:2", "rack:2 core:4",
		"node:2 core:3+5", "node:2 core:5+3", "node:2 socket:1 core:4", "node:2 socket:2 core:2",
	}
	for i, a := range texts {
		for j, b := range texts {
			if got := mustParse(t, a).equal(mustParse(t, b)); got != (i == j) {
				t.Errorf("%q and %q: Equal is %v", a, b, got)
			}
		}
	}
}

// Nodes agree on the order of ranks, not on CPU numbers.
func TestEqualIgnoresCPUs(t *testing.T) {
	plain := mustParse(t, "thread:2")
	if detected := FromCPUs([]CPU{{Number: 4, Core: 4}, {Number: 5, Core: 4}}); !detected.equal(plain) {
		t.Errorf("%s and %s differ", detected, plain)
	}
}

func TestOutOfRangePanics(t *testing.T) {
	tree := mustParse(t, "node:2 core:3")
	for name, test := range map[string]struct {
		call func()
		want string
	}{
		"Flat 0":             {func() { Flat(0) }, "topology: Flat: number of ranks is 0: give 1..1048576"},
		"Flat too large":     {func() { Flat(MaxRanks + 1) }, "topology: Flat: number of ranks is 1048577: give 1..1048576"},
		"FromCPUs none":      {func() { FromCPUs(nil) }, "topology: FromCPUs: number of CPUs is 0: give 1..1048576"},
		"LevelName 0":        {func() { tree.LevelName(0) }, "topology: LevelName: level is 0: give 1..2"},
		"LevelName N+2":      {func() { tree.LevelName(4) }, "topology: LevelName: level is 4: give 1..2"},
		"Elements":           {func() { tree.Elements(3) }, "topology: Elements: level is 3: give 1..2"},
		"Element level":      {func() { tree.Element(0, 3) }, "topology: Element: level is 3: give 1..2"},
		"Element level 0":    {func() { tree.Element(0, 0) }, "topology: Element: level is 0: give 1..2"},
		"Element rank":       {func() { tree.Element(6, 1) }, "topology: Element: rank is 6: give 0..5"},
		"Element rank -1":    {func() { tree.Element(-1, 1) }, "topology: Element: rank is -1: give 0..5"},
		"TailRank level":     {func() { tree.TailRank(-1, 0) }, "topology: TailRank: level is -1: give 1..2"},
		"TailRank element":   {func() { tree.TailRank(2, 2) }, "topology: TailRank: element of level node is 2: give 0..1"},
		"Members element -1": {func() { tree.Members(2, -1) }, "topology: Members: element of level node is -1: give 0..1"},
		"Common first":       {func() { tree.Common(6, 0) }, "topology: Common: rank is 6: give 0..5"},
		"Common second":      {func() { tree.Common(0, 7) }, "topology: Common: rank is 7: give 0..5"},
		"Counter rank":       {func() { tree.Counter(6, 2) }, "topology: Counter: rank is 6: give 0..5"},
		"Counter tdc":        {func() { tree.Counter(0, 0) }, "topology: Counter: tdc is 0: give 1 or more"},
		"Counters tdc":       {func() { tree.Counters(-2) }, "topology: Counters: tdc is -2: give 1 or more"},
		"CPU":                {func() { tree.CPU(6) }, "topology: CPU: rank is 6: give 0..5"},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				err, _ := recover().(error)
				var outside *RangeError
				if !errors.As(err, &outside) || err.Error() != test.want {
					t.Errorf("panic with %v, want %s", err, test.want)
				}
			}()
			test.call()
		})
	}
}

// Every lock operation calls these methods, so none may allocate.
func TestHotPathsDoNotAllocate(t *testing.T) {
	tree := mustParse(t, "rack:2 node:4 socket:2 core:8")
	var sum int
	allocations := testing.AllocsPerRun(100, func() {
		for p := range Rank(tree.Ranks()) {
			j := tree.Element(p, 3)
			first, n := tree.Members(3, j)
			sum += n + int(first+tree.TailRank(3, j)+tree.Counter(p, 16)) + tree.Common(p, 100)
		}
		for p := range tree.Counters(16) {
			sum += int(p)
		}
	})
	if allocations != 0 {
		t.Errorf("%v allocations, want 0 (sum %d)", allocations, sum)
	}
}

func BenchmarkElement(b *testing.B) {
	tree := mustParse(b, "rack:2 node:4 socket:2 core:8")
	sum, p := 0, Rank(0)
	for b.Loop() {
		sum += tree.Element(p&127, 3)
		p++
	}
	_ = sum
}

func BenchmarkCommon(b *testing.B) {
	tree := mustParse(b, "rack:2 node:4 socket:2 core:8")
	sum, p := 0, Rank(0)
	for b.Loop() {
		sum += tree.Common(p&127, (p*7)&127)
		p++
	}
	_ = sum
}

// A simulation of a million ranks parses its tree once.
func BenchmarkParseMillionRanks(b *testing.B) {
	for b.Loop() {
		if _, err := Parse("group:4 rack:16 node:64 socket:2 cache:8 core:16"); err != nil {
			b.Fatal(err)
		}
	}
}

func TestFromCPUs(t *testing.T) {
	for _, test := range []struct {
		name string
		cpus []CPU
		want string
		on   []int // the CPUs in the order of ranks
	}{
		{"one CPU", []CPU{{Number: 7}}, "core:1", []int{7}},
		{"one core, two threads", []CPU{{Number: 5}, {Number: 4}}, "thread:2", []int{4, 5}},
		{"only cores known", []CPU{{1, -1, -1, -1, 1}, {0, -1, -1, -1, 0}}, "core:2", []int{0, 1}},
		{"sockets and cores", []CPU{{0, 0, 0, 0, 0}, {1, 1, 1, 1, 1}, {2, 0, 0, 0, 2}, {3, 1, 1, 1, 3}},
			"socket:2 core:2", []int{0, 2, 1, 3}},
		{"every level", []CPU{
			{0, 0, 0, 0, 0}, {1, 0, 0, 0, 0}, {2, 0, 0, 0, 1}, {3, 0, 0, 1, 2}, {4, 0, 1, 2, 3}, {5, 1, 2, 3, 4},
		}, "socket:2 numa:2+1 cache:2+1*2 core:2+1*3 thread:2+1*4", []int{0, 1, 2, 3, 4, 5}},
		{"memory nodes inside one cache", []CPU{{0, 0, 0, 9, 0}, {1, 0, 0, 9, 1}, {2, 0, 1, 9, 2}, {3, 0, 1, 9, 3}},
			"numa:2 core:2", []int{0, 1, 2, 3}},
		{"one memory node over two sockets", []CPU{{0, 0, 0, 0, 0}, {1, 0, 0, 0, 1}, {2, 1, 0, 1, 2}, {3, 1, 0, 1, 3}},
			"socket:2 core:2", []int{0, 1, 2, 3}},
	} {
		t.Run(test.name, func(t *testing.T) {
			given := slices.Clone(test.cpus)
			slices.Reverse(given)
			before := slices.Clone(given)
			tree := FromCPUs(given)
			if tree.String() != test.want || !slices.Equal(tree.cpus, test.on) {
				t.Errorf("%s on CPUs %v, want %s on %v", tree, tree.cpus, test.want, test.on)
			}
			checkInvariants(t, tree)
			if !slices.Equal(given, before) {
				t.Errorf("the argument is %v now, want %v as before", given, before)
			}
		})
	}
}

func TestCounters(t *testing.T) {
	for _, test := range []struct {
		ranks, tdc int
		want       []Rank
	}{
		{1, 1, []Rank{0}},
		{4, 1, []Rank{0, 1, 2, 3}},
		{8, 4, []Rank{0, 4}},
		{9, 4, []Rank{0, 4, 8}},
		{7, 4, []Rank{0, 4}},
		{7, 7, []Rank{0}},
		{7, math.MaxInt, []Rank{0}}, // must not overflow
	} {
		tree := Flat(test.ranks)
		if got := slices.Collect(tree.Counters(test.tdc)); !slices.Equal(got, test.want) {
			t.Errorf("%d ranks, tdc %d: counters on %v, want %v", test.ranks, test.tdc, got, test.want)
		}
		// The counter of a rank is the last one up to it.
		for p := range Rank(test.ranks) {
			want := Rank(0)
			for _, c := range test.want {
				if c <= p {
					want = c
				}
			}
			if got := tree.Counter(p, test.tdc); got != want {
				t.Errorf("%d ranks, tdc %d: c(%d) = %d, want %d", test.ranks, test.tdc, p, got, want)
			}
		}
	}
}

func TestCountersStops(t *testing.T) {
	for p := range Flat(100).Counters(10) {
		if p > 20 {
			t.Fatalf("rank %d came after the break", p)
		}
		if p == 20 {
			break
		}
	}
}

// §3.2.1: with x ranks on every node, T_DC = kx puts one counter on every k-th
// node.
func TestCounterOnEverySecondNode(t *testing.T) {
	tree := mustParse(t, "node:6 core:4")
	var nodes []int
	for p := range tree.Counters(2 * 4) {
		nodes = append(nodes, tree.Element(p, 2))
	}
	if !slices.Equal(nodes, []int{0, 2, 4}) {
		t.Errorf("counters on nodes %v, want every second", nodes)
	}
}

// equal reports whether t and u have the same levels, with the same names and the same ranks in each element, and the same name
// for leaves. Two trees are equal if and only if their Strings are. CPU numbers do not count: each node numbers its own.
func (t *Tree) equal(u *Tree) bool {
	return t.ranks == u.ranks && t.leaf == u.leaf &&
		slices.EqualFunc(t.levels, u.levels, func(a, b level) bool {
			return a.name == b.name && slices.Equal(a.first, b.first)
		})
}
