package model

import (
	"fmt"
	"strings"

	"github.com/orwl/go-orwl/net/topology"
)

// Cost is what one kind of operation costs between two ranks: Alpha + Beta·bytes
// nanoseconds from issue to remote completion, of which the target's memory, or
// the port in front of it, is busy for Busy + Beta·bytes and serves nobody else.
type Cost struct {
	Alpha float64 `json:"alpha"`
	Beta  float64 `json:"beta,omitempty"`
	Busy  float64 `json:"busy,omitempty"`
}

// LevelCost is the costs between two ranks whose finest common element is of a
// level, such as two ranks of one node that sit in different sockets.
type LevelCost struct {
	Level  string `json:"level"`
	Put    Cost   `json:"put"`    // Put and PutBytes, up to the end of the Flush
	Get    Cost   `json:"get"`    // Get and GetBytes
	Atomic Cost   `json:"atomic"` // FetchOp, CAS, Accumulate
	// Coherent says that a rank may wait on another's word in its own cache
	// and looks again only when the word changes.
	Coherent bool `json:"coherent,omitempty"`
}

// Self is the level of a rank's operations on its own memory.
const Self = "self"

// Model is a machine as its operations' costs. A backend's model is measured
// ([Meter.Measure]); the simulator takes a model as the machine that it plays.
type Model struct {
	Name   string `json:"name"`
	Source string `json:"source"` // where the figures come from
	// Levels go from Self to the whole machine.
	Levels []LevelCost `json:"levels"`
	// Issue is the time that the origin is busy with an operation that it does
	// not wait for.
	Issue float64 `json:"issue"`
	// Wake is the time from a change of a word of the own memory to the return
	// of the Await.
	Wake float64 `json:"wake"`
	// Port is the level whose elements have one port to the outside, which
	// everything that enters an element passes in turn; none if empty.
	Port string `json:"port,omitempty"`
	// Agent says that a rank waits for another's word by leaving a request
	// with it; otherwise it asks again and again.
	Agent bool `json:"agent,omitempty"`
}

// Costs lays the model over a tree: element i is the cost between two ranks
// whose topology.Tree.Common is i, the last one a rank's own memory. A level
// that the model does not know costs what the next coarser one does.
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

// Validate names the first thing that makes the model unusable.
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

// String is a table of the model, one line for each level.
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
