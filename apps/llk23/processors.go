package main

import (
	"runtime"

	"github.com/orwl/go-orwl/net/topology"
	"github.com/orwl/go-orwl/net/topology/host"
)

// hardware is the processors of a node.
type hardware struct {
	Most    int    // how many of them Go uses at a time
	Machine string // where they are; empty if no other node may be there
	CPUs    []int  // their numbers there; none if they have no numbers
}

// hardware is this node's.
func (f *field) hardware() hardware {
	s := hardware{Most: runtime.GOMAXPROCS(0)}
	if n := f.nodes.Network(); n != nil {
		s.Machine = n.Machine()
	}
	tree, err := host.Detect()
	if err != nil {
		return s // as if they had no numbers
	}
	for rank := range tree.Ranks() {
		if cpu, known := tree.CPU(topology.Rank(rank)); known {
			s.CPUs = append(s.CPUs, cpu)
		}
	}
	return s
}

// processors is how many processors the nodes use together. Nodes of one machine do not have more
// than it has.
func processors(all []hardware) (n int) {
	type machine struct {
		most int
		cpus map[int]bool
	}
	machines := make(map[string]*machine)
	for _, s := range all {
		if s.Machine == "" || len(s.CPUs) == 0 {
			n += s.Most
			continue
		}
		m := machines[s.Machine]
		if m == nil {
			m = &machine{cpus: make(map[int]bool)}
			machines[s.Machine] = m
		}
		m.most += s.Most
		for _, cpu := range s.CPUs {
			m.cpus[cpu] = true
		}
	}
	for _, m := range machines {
		n += min(m.most, len(m.cpus))
	}
	return n
}
