package model

import (
	"fmt"
	"strings"

	"github.com/orwl/go-orwl/net/topology"
)

// Cost is the cost of one kind of operation between two ranks. The operation takes
// Alpha + Beta·bytes nanoseconds from issue to remote completion. For
// Busy + Beta·bytes of this time the target's memory, or the port in front of it,
// serves no other operation.
type Cost struct {
	Alpha float64 `json:"alpha"`
	Beta  float64 `json:"beta,omitempty"`
	Busy  float64 `json:"busy,omitempty"`
}

// LevelCost is the costs between two ranks at one distance: their finest common
// element is of the level. For two ranks in different sockets of one node, this
// level is the node.
type LevelCost struct {
	Level  string `json:"level"`
	Put    Cost   `json:"put"`    // Put and PutBytes, up to the end of the Flush
	Get    Cost   `json:"get"`    // Get and GetBytes
	Atomic Cost   `json:"atomic"` // FetchOp, CAS, Accumulate
	// Coherent says that a rank can wait for another rank's word in its own
	// cache. It reads the word again only when the word changes.
	Coherent bool `json:"coherent,omitempty"`
}

// Self is the level of a rank's operations on its own memory.
const Self = "self"

// Model is a machine, described by the costs of its operations.
type Model struct {
	Name   string `json:"name"`
	Source string `json:"source"` // where the figures come from
	// Levels go from Self to the whole machine.
	Levels []LevelCost `json:"levels"`
	// Issue is the time, in nanoseconds, to issue an operation without waiting
	// for it.
	Issue float64 `json:"issue"`
	// Wake is the time, in nanoseconds, from a change of a word in the rank's
	// own memory to the return of its Await.
	Wake float64 `json:"wake"`
	// Port is the level of the elements that have a single port to the outside.
	// Operations that enter such an element pass its port one after another. If
	// Port is empty, no element has one.
	Port string `json:"port,omitempty"`
	// Agent says how a rank waits for another rank's word. If true, it leaves a
	// request there. Otherwise it reads the word again and again.
	Agent bool `json:"agent,omitempty"`
}

// Costs applies the model to a tree. Element i of the result is the cost between
// two ranks with topology.Tree.Common equal to i. The last element is a rank's own
// memory. A level that the model does not name costs as much as the next coarser
// one.
func (m *Model) Costs(tree *topology.Tree) []LevelCost {
	costs := make([]LevelCost, tree.Levels()+2)
	costs[0] = m.Levels[len(m.Levels)-1]
	for i := 1; i <= tree.Levels(); i++ {
		costs[i] = costs[i-1]
		if known := m.level(tree.LevelName(i)); known != nil {
			costs[i] = *known
		}
	}
	costs[tree.Levels()+1] = m.Levels[0]
	return costs
}

func (m *Model) level(name string) *LevelCost {
	for i := range m.Levels {
		if m.Levels[i].Level == name {
			return &m.Levels[i]
		}
	}
	return nil
}

// Validate returns an error for the first thing that makes the model unusable.
func (m *Model) Validate() error {
	if len(m.Levels) == 0 || m.Levels[0].Level != Self {
		return fmt.Errorf("model: machine %q: the first level must be %q", m.Name, Self)
	}
	for _, l := range m.Levels {
		for _, c := range []Cost{l.Put, l.Get, l.Atomic} {
			if c.Alpha < 0 || c.Beta < 0 || c.Busy < 0 {
				return fmt.Errorf("model: machine %q, level %q: a cost is negative", m.Name, l.Level)
			}
		}
	}
	if m.Issue < 0 || m.Wake < 0 {
		return fmt.Errorf("model: machine %q: issue and wake must not be negative", m.Name)
	}
	return nil
}

// String is a table of the model, with one line for each level.
func (m *Model) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s)\n", m.Name, m.Source)
	fmt.Fprintf(&b, "%-8s %22s %22s %22s\n", "level", "put ns", "get ns", "atomic ns")
	for _, l := range m.Levels {
		fmt.Fprintf(&b, "%-8s %22s %22s %22s\n", l.Level, l.Put, l.Get, l.Atomic)
	}
	fmt.Fprintf(&b, "issue %.3g ns, wake %.3g ns\n", m.Issue, m.Wake)
	return b.String()
}

func (c Cost) String() string {
	return fmt.Sprintf("%.4g+%.3g/B busy %.3g", c.Alpha, c.Beta, c.Busy)
}
