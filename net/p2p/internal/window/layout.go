package window

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/orwl/go-orwl/net/p2p/internal/control"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/shm"
)

// layout says which nodes share memory. A machine here is the nodes that do: a node that
// shares none with others, or has no ranks, is a machine of its own.
//
//	machine 0                    machine 1
//	┌──────────────────────┐     ┌──────────────────────┐
//	│ node 0   node 1      │     │ node 2   node 3      │
//	│ rank 0   rank 1      │     │ rank 2   rank 3      │
//	│ (rank 2) (rank 3)    │     │ (rank 0) (rank 1)    │
//	└──────────────────────┘     └──────────────────────┘
//
// One node of a machine, the agent, acts there for a rank of another machine: for rank 2
// above that is node 0. It executes all operations of the rank on any memory of the machine,
// so a word is only ever changed by processors of its own machine, and the rank waits in one
// place there.
//
// All nodes make the same layout.
type layout struct {
	at       []int   // the node of each rank
	machine  []int   // the machine of each node
	on       []int   // the machine of each rank
	machines [][]int // the nodes of each machine, if they have ranks
}

// newLayout is the layout of ranks at these nodes. Nodes whose machines have the same name
// share memory, unless the name is empty.
func newLayout(at []int, names []string) layout {
	l := layout{at: at, machine: make([]int, len(names)), on: make([]int, len(at))}
	first := make(map[string]int) // machine
	for node, name := range names {
		ranks := slices.Contains(at, node)
		m, known := first[name]
		if !known || name == "" || !ranks {
			m = len(l.machines)
			l.machines = append(l.machines, nil)
			if ranks {
				first[name] = m
			}
		}
		l.machine[node] = m
		if ranks {
			l.machines[m] = append(l.machines[m], node)
		}
	}
	for p, node := range at {
		l.on[p] = l.machine[node]
	}
	return l
}

// shares reports whether any nodes share memory.
func (l *layout) shares() bool {
	return slices.ContainsFunc(l.machines, func(nodes []int) bool { return len(nodes) > 1 })
}

// whole reports whether all ranks are on one machine, so that no operation is a frame.
func (l *layout) whole() bool {
	return !slices.ContainsFunc(l.on, func(m int) bool { return m != l.on[0] })
}

// neighbours are the nodes with ranks that share memory with a node, and the node itself.
func (l *layout) neighbours(node int) []int { return l.machines[l.machine[node]] }

// agent is the node of a machine that acts there for a rank. On the rank's own machine that
// is the node of the rank.
func (l *layout) agent(p rma.Rank, machine int) int {
	if l.on[p] == machine {
		return l.at[p]
	}
	nodes := l.machines[machine]
	return nodes[int(p)%len(nodes)]
}

// Several nodes share memory on one machine: one of them creates it, and the others join it when
// they know of it.

// dynamicWords bounds what each rank attaches: addresses, not memory.
const dynamicWords = 1 << 27

// shared are the options of package shm. A process that is lost is the failure of the whole
// fabric. Package shm asks for ranks while the fabric may still get another layout, in which
// this machine has the same ranks, or does not share memory after all.
func (f *Fabric) shared() shm.Options {
	on, here := f.on, f.here
	return shm.Options{
		Topology: f.o.Topology, Words: f.o.Words, DynamicWords: dynamicWords,
		Here: func(p rma.Rank) bool { return on[p] == here }, Lost: f.fail,
	}
}

// create makes memory for this machine, and says where it is.
func (f *Fabric) create() (*shm.Fabric, control.Place, error) {
	m, err := shm.Create(f.shared())
	if err != nil {
		return nil, control.Place{}, err
	}
	file, err := fileID(m.File())
	if err != nil {
		_ = m.Close() // its error is always nil
		return nil, control.Place{}, err
	}
	return m, control.Place{Path: m.Path(), File: file}, nil
}

// join opens the memory that another node of this machine has made, if it can be.
func (f *Fabric) join(at control.Place) (*shm.Fabric, error) {
	// Where processes are numbered differently that may be anything.
	if what, err := os.Readlink(at.Path); err != nil || !strings.HasPrefix(what, "/memfd:") {
		return nil, fmt.Errorf("%s is %q, %v", at.Path, what, err)
	}
	file, err := os.OpenFile(at.Path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if id, err := fileID(file); err != nil || id != at.File {
		return nil, fmt.Errorf("%s is file %s, not %s: %v", at.Path, id, at.File, err)
	}
	return shm.Open(file, f.shared())
}
