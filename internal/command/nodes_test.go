package command

import (
	"flag"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/orwl/launch"
)

// TestNodes reads the flags of a program of several nodes, and refuses what contradicts the launcher.
func TestNodes(t *testing.T) {
	one, two := launch.Place{Nodes: 1, How: launch.Alone}, launch.Place{Nodes: 2, How: launch.Environment}
	ssh := launch.Place{Nodes: 2, How: launch.SSH}
	for _, c := range []struct {
		args   string
		place  launch.Place
		err    string // or none
		nodes  int
		spawns bool
	}{
		{"", one, "", 0, false},
		{"-nodes 1", one, "", 1, false},
		{"-nodes 3", one, "", 3, true},
		{"-ssh a", one, "", 1, true},
		{"-ssh a,b", one, "", 2, true},
		{"-ssh a,b -nodes 4", one, "", 4, true},
		{"-ssh a,b -nodes 1", one, "-nodes is 1, want at least 2", 0, false},
		{"-nodes 2 -join 2", one, "want one of them", 0, false},
		{"-nodes 3", two, "-nodes is 3, want 2, or no -nodes", 0, false},
		{"-nodes 2", two, "", 2, false},
		{"-ssh a,b", two, "want none, since this is node 0 of 2", 0, false},
		{"-ssh a,b", ssh, "", 2, false},
	} {
		var n Nodes
		f := flag.NewFlagSet("", flag.ContinueOnError)
		n.Define(f, 8, 8, "`N` nodes")
		if err := Parse(f, strings.Fields(c.args)); err != nil {
			t.Fatal(err)
		}
		_, err := n.Place() // of this test, which nothing has started
		if err == nil {
			err = n.suits(c.place)
		}
		switch {
		case c.err != "":
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s in %v: %v, want %q", c.args, c.place, err, c.err)
			}
		case err != nil || n.Nodes != c.nodes || n.Spawns(c.place) != c.spawns:
			t.Errorf("%s in %v: %v, %d nodes, spawns %v, want %d and %v", c.args, c.place, err, n.Nodes, n.Spawns(c.place), c.nodes, c.spawns)
		}
	}
}
