package guests

import (
	"slices"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/internal/rings"
)

// bars are how many names the faces have at most, and how many of them no program uses. Together the goals are 250 and
// none. The bars hold today, so that no face grows. A change that takes a name away lowers its bar.
var bars = map[string]struct{ names, without int }{
	"orwl":         {110, 34},
	"handle":       {33, 6},
	"resource":     {22, 5},
	"orwl/stencil": {84, 7},
}

// TestGuests lists each exported name with its guests.
func TestGuests(t *testing.T) {
	rings.Needs(t, rings.Change)
	var faces []string
	for face := range bars {
		faces = append(faces, face)
	}
	all, err := Of("../..", faces...)
	if err != nil {
		t.Fatal(err)
	}
	names, without := make(map[string]int), make(map[string]int)
	for _, n := range all {
		names[n.Package]++
		if !n.Program() {
			without[n.Package]++
		}
		t.Logf("%s.%s: %s", n.Package, n.Name, strings.Join(n.Guests, " "))
	}
	for face, bar := range bars {
		t.Logf("%s has %d names, %d of them without a program", face, names[face], without[face])
		if names[face] > bar.names || without[face] > bar.without {
			t.Errorf("%s has grown: want at most %d names, %d of them without a program that uses them", face, bar.names, bar.without)
		}
	}
	known := func(name, guest string) bool {
		return slices.ContainsFunc(all, func(n Name) bool { return n.Package+"."+n.Name == name && slices.Contains(n.Guests, guest) })
	}
	for name, guest := range map[string]string{"orwl.Task.Each": "examples/pairs", "handle.Handle.Announce": "examples/mergesort", "orwl.Options.Stall": "apps/llk23"} {
		if !known(name, guest) {
			t.Errorf("%s is used in %s, and that is not noticed", name, guest)
		}
	}
}
