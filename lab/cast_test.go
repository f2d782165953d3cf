package lab

import (
	"testing"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

func parse(t *testing.T, text string) *topology.Tree {
	t.Helper()
	tree, err := topology.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// TestScenariosOfUPB checks the table of the thesis: which rank takes the locks, and whether the rank
// before was itself, of its node, or of another node.
func TestScenariosOfUPB(t *testing.T) {
	tree := parse(t, "node:3 core:4")
	c, err := castOf(tree)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, s := range c.scenarios() {
		before := byte('3')
		switch tree.Common(s.taker, s.before) {
		case tree.Levels() + 1:
			before = '1'
		case 2:
			before = '2'
		}
		taker := byte('c')
		switch {
		case s.taker == 0:
			taker = 'a'
		case tree.Common(s.taker, 0) == 2:
			taker = 'b'
		}
		if name := string([]byte{before, taker}); name != s.name {
			t.Errorf("scenario %s, rank %d after rank %d, is %s", s.name, s.taker, s.before, name)
		}
		seen[s.name] = true
	}
	if len(seen) != 9 {
		t.Errorf("%d scenarios, want nine", len(seen))
	}
	for _, bad := range []string{"core:4", "node:1 core:4", "node:4 core:1"} {
		if _, err := castOf(parse(t, bad)); err == nil {
			t.Errorf("%s has the ranks for UPB", bad)
		}
	}
}

func TestGridOfSNAP(t *testing.T) {
	for text, want := range map[string][3]int{
		"node:2 core:3": {2, 1, 3}, "node:6 core:2": {3, 2, 2}, "node:7 core:1": {7, 1, 1}, "node:9 core:2": {3, 3, 2}, "node:2 core:3+1": {2, 1, 1},
	} {
		g := gridOf(parse(t, text))
		if got := [3]int{g.ny, g.nz, g.threads}; got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
	g := gridOf(parse(t, "node:6 core:2"))
	for _, c := range []struct{ y, z, t, want int }{{0, 0, 1, 1}, {2, 1, 0, 10}, {1, 0, 1, 5}, {3, 0, 0, -1}, {0, -1, 0, -1}} {
		if got := g.thread(c.y, c.z, c.t); got != rma.Rank(c.want) {
			t.Errorf("thread %d of %d, %d is rank %d, want %d", c.t, c.y, c.z, got, c.want)
		}
	}
}
