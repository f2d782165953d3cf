package spread

import (
	"fmt"

	"github.com/orwl/go-orwl/internal/pack"
)

// Ground is what a node stands on.
type Ground struct {
	Machine    string `msgpack:"machine"`    // its name; empty if the node shares no memory, or is lost
	Processors int    `msgpack:"processors"` // the number that Go uses at a time
	CPUs       []int  `msgpack:"cpus"`       // their numbers on the machine; none if they have no numbers
	Process    int    `msgpack:"process"`    // its number on its host
	Host       string `msgpack:"host"`       // the host's name
}

// Encode is the ground as other nodes are told it.
func (g Ground) Encode() []byte { return pack.Encode(&g) }

// Grounds are what all nodes stand on, in their order.
type Grounds []Ground

// ParseGrounds reads what the nodes have said: nil for those that were lost.
func ParseGrounds(texts [][]byte) (all Grounds, err error) {
	all = make(Grounds, len(texts))
	for i, text := range texts {
		if text == nil {
			continue
		}
		on := &all[i]
		if err := pack.Decode(text, on); err != nil {
			return nil, fmt.Errorf("orwl: the ground of node %d: %w", i, err)
		}
		if on.Processors < 1 {
			return nil, fmt.Errorf("orwl: the ground of node %d: %d processors, want 1 or more", i, on.Processors)
		}
	}
	return all, nil
}

// Machines are the nodes on each machine.
func (all Grounds) Machines() Machines {
	names := make([]string, len(all))
	for i, g := range all {
		names[i] = g.Machine
	}
	return MachinesOf(names)
}

// Processors is how many processors the nodes use together. Nodes of one machine do not have more
// than it has.
func (all Grounds) Processors() (n int) {
	for _, nodes := range all.Machines() {
		uses, cpus := 0, make(map[int]bool)
		for _, node := range nodes {
			uses += all[node].Processors
			for _, cpu := range all[node].CPUs {
				cpus[cpu] = true
			}
		}
		if len(cpus) > 0 {
			uses = min(uses, len(cpus))
		}
		n += uses
	}
	return n
}
