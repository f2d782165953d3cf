package model

import (
	"fmt"
	"strings"

	"github.com/orwl/go-orwl/net/topology"
)

// Cost is the cost of one kind of operation between two ranks. The operation takes
// Alpha + Beta·bytes nanoseconds from issue to remote completion. For
// Busy + Beta·bytes of this time whatever serves it serves no other operation: the
// port of the target's node, its unit for atomics, or the cache line.
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
	// Shared, unless it is zero, is a change of a line that both ranks have in their caches. Where it is zero,
	// Put and Atomic say what that costs.
	Shared Cost `json:"shared,omitzero"`
	// Copy, unless it is zero, is a read of a line that another rank at this distance has read since it was changed:
	// the cache that the two share has a copy then. Where it is zero, Get says what that costs.
	Copy Cost `json:"copy,omitzero"`
	// Issue is the time in which the origin issues a Put or an Accumulate without
	// waiting for it.
	Issue float64 `json:"issue"`
	// Coherent says that the ranks share memory through caches. The costs are for
	// a line that the other rank has changed last. A rank that has the line in
	// its own cache pays the costs of Self, and a rank that waits for a word reads
	// it again only when it changes.
	Coherent bool `json:"coherent,omitempty"`
}

// Self is the level of a rank's operations on its own memory.
const Self = "self"

// Direct is the cost of atomic instructions (rma.Word) on a line that the rank has
// in its cache.
type Direct struct {
	Load  float64 `json:"load"`
	Store float64 `json:"store"`
	Swap  float64 `json:"swap"` // and every other instruction that reads and writes
	// Call is the part of an operation between ranks that share memory that is a call of the library. An
	// instruction on a line of another rank takes the operation's time without it.
	Call float64 `json:"call,omitempty"`
}

// Own is what a rank's own instructions take besides its accesses of memory.
type Own struct {
	Instruction float64 `json:"instruction"` // with each atomic instruction
	Operation   float64 `json:"operation"`   // with each operation of the window
	Turn        float64 `json:"turn"`        // with each turn of a benchmark's loop
	Clock       float64 `json:"clock"`       // with each reading of the clock
	Pause       float64 `json:"pause"`       // in a Pause of 1
	Offer       float64 `json:"offer"`       // in a Pause so long that the rank offers its processor
}

// Model is a machine, described by the costs of its operations.
type Model struct {
	Name   string `json:"name"`
	Source string `json:"source"` // where the figures come from
	// Node is how many ranks a node has, by default; 0 if that is not known.
	Node int `json:"node,omitempty"`
	// Levels go from Self to the whole machine.
	Levels []LevelCost `json:"levels"`
	// Direct, if not nil, says that ranks whose level is coherent share memory, and what their
	// instructions cost. If no level is coherent, all do.
	Direct *Direct `json:"direct,omitempty"`
	// Own, if not nil, is what ranks compute between their accesses.
	Own *Own `json:"own,omitempty"`
	// Wake is the time, in nanoseconds, from a change of a word in the rank's
	// own memory to the return of its Await, if the change came through a port.
	Wake float64 `json:"wake"`
	// Between is what a rank that waits does between two looks at its word, in nanoseconds. A change comes in the
	// middle of it.
	Between float64 `json:"between,omitempty"`
	// Refetch says that a rank that waits for a word of its own memory also fetches its line from
	// the rank that has changed it, if the two share caches: a hand-over takes longer the further it
	// goes. Wake comes on top.
	Refetch bool `json:"refetch,omitempty"`
	// Port is the level of the elements that have a single port to the outside.
	// Operations that leave or enter such an element pass its port one after
	// another, and its atomics have one unit behind the port. If Port is empty, no
	// element has one.
	Port string `json:"port,omitempty"`
	// Inject is for how long, in nanoseconds, the port is in use by one operation
	// that leaves.
	Inject float64 `json:"inject,omitempty"`
	// Agent says how a rank waits for another rank's word. If true, it leaves a
	// request there. Otherwise it reads the word again and again.
	Agent bool `json:"agent,omitempty"`
	// Lists is how many Gets an access of attached memory makes besides, to look whether what the rank
	// knows of the target's list of regions is still so.
	Lists int `json:"lists,omitempty"`
	// Receive is what a rank computes, in nanoseconds, for a message that it receives, besides its accesses.
	Receive float64 `json:"receive,omitempty"`
	// Scheduler, if not nil, says that ranks share processors.
	Scheduler *Scheduler `json:"scheduler,omitempty"`
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
		if l.Issue < 0 {
			return fmt.Errorf("model: machine %q, level %q: issue is negative", m.Name, l.Level)
		}
		for _, c := range []Cost{l.Put, l.Get, l.Atomic, l.Shared, l.Copy} {
			if c.Alpha < 0 || c.Beta < 0 || c.Busy < 0 {
				return fmt.Errorf("model: machine %q, level %q: a cost is negative", m.Name, l.Level)
			}
		}
	}
	if m.Node < 0 {
		return fmt.Errorf("model: machine %q: node is %d, want a number of ranks", m.Name, m.Node)
	}
	if m.Inject < 0 || m.Wake < 0 {
		return fmt.Errorf("model: machine %q: inject and wake must not be negative", m.Name)
	}
	if m.Between < 0 {
		return fmt.Errorf("model: machine %q: between must not be negative", m.Name)
	}
	if m.Lists < 0 || m.Receive < 0 {
		return fmt.Errorf("model: machine %q: lists and receive must not be negative", m.Name)
	}
	if d := m.Direct; d != nil && (d.Load < 0 || d.Store < 0 || d.Swap < 0 || d.Call < 0) {
		return fmt.Errorf("model: machine %q: the cost of an instruction is negative", m.Name)
	}
	if o := m.Own; o != nil && (o.Instruction < 0 || o.Operation < 0 || o.Turn < 0 || o.Clock < 0 || o.Pause < 0 || o.Offer < 0) {
		return fmt.Errorf("model: machine %q: the time of a rank's own instructions is negative", m.Name)
	}
	return m.Scheduler.validate(m.Name)
}

// String is a table of the model, with one line for each level.
func (m *Model) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s)\n", m.Name, m.Source)
	fmt.Fprintf(&b, "%-8s %24s %24s %24s %24s %8s\n", "level", "put ns", "get ns", "atomic ns", "change of a shared line", "issue ns")
	for _, l := range m.Levels {
		fmt.Fprintf(&b, "%-8s %24s %24s %24s %24s %8.3g\n", l.Level, l.Put, l.Get, l.Atomic, l.Shared, l.Issue)
	}
	fmt.Fprintf(&b, "wake %.3g ns", m.Wake)
	if m.Between > 0 {
		fmt.Fprintf(&b, ", %.3g ns between two looks", m.Between)
	}
	if m.Port != "" {
		fmt.Fprintf(&b, ", a port at each %s that takes %.3g ns for an operation that leaves", m.Port, m.Inject)
	}
	b.WriteByte('\n')
	if d := m.Direct; d != nil {
		fmt.Fprintf(&b, "instructions: load %.3g ns, store %.3g ns, swap %.3g ns\n", d.Load, d.Store, d.Swap)
	}
	if o := m.Own; o != nil {
		fmt.Fprintf(&b, "own: %.3g ns with each instruction, %.3g ns with each operation, %.3g ns with each turn of a benchmark, %.3g ns with each reading of the clock, %.3g or %.3g ns in a pause\n", o.Instruction, o.Operation, o.Turn, o.Clock, o.Pause, o.Offer)
	}
	if s := m.Scheduler; s != nil {
		fmt.Fprintln(&b, s)
	}
	return b.String()
}

func (c Cost) String() string {
	return fmt.Sprintf("%.4g+%.3g/B busy %.3g", c.Alpha, c.Beta, c.Busy)
}

// The values of Scheduler.Ranks.
const (
	Goroutines = "goroutines"
	Processes  = "processes"
)

// Scheduler describes processors that ranks share. A processor runs one rank at a time.
// A rank that waits looks at its word for as long as that has paid lately, and then sleeps. All times are
// nanoseconds.
type Scheduler struct {
	Ranks      string  `json:"ranks"` // Goroutines or Processes
	Processors int     `json:"processors"`
	Slice      float64 `json:"slice"`   // a rank loses its processor after that, if another is ready
	Change     float64 `json:"change"`  // a processor goes from one rank to the next
	Wake       float64 `json:"wake"`    // the rank that wakes another one takes so long
	Startle    float64 `json:"startle"` // until an idle processor runs a rank that was woken
	Look       float64 `json:"look"`    // a rank that waits looks once at its word
	Slack      float64 `json:"slack"`   // each sleep takes longer by so much
}

func (s *Scheduler) validate(machine string) error {
	switch {
	case s == nil:
		return nil
	case s.Ranks != Goroutines && s.Ranks != Processes:
		return fmt.Errorf("model: machine %q: scheduler: ranks are %q, want %s or %s", machine, s.Ranks, Goroutines, Processes)
	case s.Processors < 1:
		return fmt.Errorf("model: machine %q: scheduler: %d processors, want at least 1", machine, s.Processors)
	}
	for _, t := range []float64{s.Slice, s.Change, s.Wake, s.Startle, s.Look, s.Slack} {
		if t < 0 {
			return fmt.Errorf("model: machine %q: scheduler: a time is negative", machine)
		}
	}
	return nil
}

func (s *Scheduler) String() string {
	return fmt.Sprintf("%s on %d processors: slice %.3g ms, change %.3g ns, wake %.3g ns, startle %.3g ns, look %.3g ns, slack %.3g ns",
		s.Ranks, s.Processors, s.Slice/1e6, s.Change, s.Wake, s.Startle, s.Look, s.Slack)
}
