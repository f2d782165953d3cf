package window

import (
	"fmt"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/net/rma"
)

// text shows the machines with their nodes, and on each the agent of each rank.
func (l *layout) text() string {
	var b strings.Builder
	for m, nodes := range l.machines {
		fmt.Fprintf(&b, "%v", nodes)
		for p := range l.at {
			if len(nodes) > 0 {
				fmt.Fprintf(&b, " %d", l.agent(rma.Rank(p), m))
			}
		}
		b.WriteString("; ")
	}
	return strings.TrimSuffix(b.String(), "; ")
}

func TestLayout(t *testing.T) {
	for _, c := range []struct {
		at            []int
		names         string // of the machines of the nodes, - for none
		want          string
		shares, whole bool
	}{
		{[]int{0, 0}, "a", "[0] 0 0", false, true},
		{[]int{0, 1}, "a a", "[0 1] 0 1", true, true},
		{[]int{0, 1}, "a b", "[0] 0 0; [1] 1 1", false, false},
		{[]int{0, 1}, "- -", "[0] 0 0; [1] 1 1", false, false},
		{[]int{0, 1, 2}, "a a b", "[0 1] 0 1 0; [2] 2 2 2", true, false},
		{[]int{0, 1, 2}, "a b a", "[0 2] 0 2 2; [1] 1 1 1", true, false},
		{[]int{0, 1, 2}, "a - a", "[0 2] 0 2 2; [1] 1 1 1", true, false},
		{[]int{0, 1, 2, 3}, "a a b b", "[0 1] 0 1 0 1; [2 3] 2 3 2 3", true, false},
		{[]int{0, 0, 1, 1, 2, 2}, "a a b", "[0 1] 0 0 1 1 0 1; [2] 2 2 2 2 2 2", true, false},
		// A node without ranks shares no memory, and acts for no rank.
		{[]int{0, 2}, "a a a", "[0 2] 0 2; []", true, true},
		{[]int{1, 2}, "a a b", "[]; [1] 1 1; [2] 2 2", false, false},
		{[]int{1, 1}, "a a", "[]; [1] 1 1", false, true},
	} {
		l := newLayout(c.at, strings.Split(strings.ReplaceAll(c.names, "-", ""), " "))
		if got := l.text(); got != c.want || l.shares() != c.shares || l.whole() != c.whole {
			t.Errorf("ranks at %v, machines %s: %s, shares %t, whole %t, want %s, %t, %t",
				c.at, c.names, got, l.shares(), l.whole(), c.want, c.shares, c.whole)
		}
	}
}

// TestAgentsAreFixed checks for many layouts what windows rely on: a rank has one agent on
// each machine, it shares the memory there, and at home it is the rank's node.
func TestAgentsAreFixed(t *testing.T) {
	for _, names := range []string{"a b", "a a b", "a b a b c", "a a a b b", " b b "} {
		nodes := strings.Split(names, " ")
		var at []int
		for p := range 3 * len(nodes) {
			at = append(at, p*p%len(nodes))
		}
		l := newLayout(at, nodes)
		for p := range rma.Rank(len(at)) {
			for m, on := range l.machines {
				if len(on) == 0 {
					continue
				}
				agent := l.agent(p, m)
				if l.machine[agent] != m || len(l.neighbours(agent)) != len(on) {
					t.Errorf("%q: the agent of rank %d on machine %d is node %d of machine %d", names, p, m, agent, l.machine[agent])
				}
				if l.on[p] == m && agent != at[p] {
					t.Errorf("%q: rank %d of node %d acts by node %d at home", names, p, at[p], agent)
				}
			}
		}
	}
}
