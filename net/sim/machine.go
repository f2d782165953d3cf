package sim

import (
	"fmt"
	"strings"

	"github.com/orwl/go-orwl/net/rma"
)

// Machines are the machines that the simulator can describe. Their costs are
// published or measured figures, rounded; each machine's Source names the origin.
// Use them to compare algorithms with each other. They do not predict the figures
// of one system.
func Machines() []rma.Model {
	return []rma.Model{cray(), infiniband(), ethernet()}
}

// MachineByName finds a described machine.
func MachineByName(name string) (rma.Model, error) {
	var known []string
	for _, m := range Machines() {
		if m.Name == name {
			return m, nil
		}
		known = append(known, m.Name)
	}
	return rma.Model{}, fmt.Errorf("sim: no machine %q: known are %s", name, strings.Join(known, ", "))
}

// inside is the cost between the cores of one node, the same for all three
// machines: loads, stores and atomics through caches.
func inside() []rma.LevelCost {
	level := func(name string, load, atomic, busy float64) rma.LevelCost {
		return rma.LevelCost{Level: name, Coherent: true,
			Put:    rma.Cost{Alpha: load, Beta: 0.1, Busy: busy},
			Get:    rma.Cost{Alpha: load, Beta: 0.1, Busy: busy},
			Atomic: rma.Cost{Alpha: atomic, Busy: busy}}
	}
	return []rma.LevelCost{
		level(rma.Self, 5, 10, 2),
		level("core", 15, 20, 5),
		level("cache", 40, 60, 20),
		level("numa", 80, 120, 40),
		level("socket", 80, 120, 40),
		level("node", 150, 220, 80),
	}
}

// outside is inside plus the cost of the network, for every level above the node.
func outside(put, get, atomic rma.Cost) []rma.LevelCost {
	levels := inside()
	for _, name := range []string{"rack", "group", "machine"} {
		levels = append(levels, rma.LevelCost{Level: name, Put: put, Get: get, Atomic: atomic})
	}
	return levels
}

func cray() rma.Model {
	return rma.Model{
		Name:   "cray-xc30",
		Source: "foMPI's published models for Gemini and Aries, rounded",
		Levels: outside(
			rma.Cost{Alpha: 1000, Beta: 0.16, Busy: 30},
			rma.Cost{Alpha: 1900, Beta: 0.17, Busy: 30},
			rma.Cost{Alpha: 2400, Busy: 60}),
		Issue: 80, Wake: 20, Port: "node",
	}
}

func infiniband() rma.Model {
	return rma.Model{
		Name:   "infiniband-fdr",
		Source: "published latency, bandwidth and atomic rate of FDR adapters, rounded",
		Levels: outside(
			rma.Cost{Alpha: 1300, Beta: 0.16, Busy: 60},
			rma.Cost{Alpha: 1900, Beta: 0.16, Busy: 60},
			rma.Cost{Alpha: 2200, Busy: 370}),
		Issue: 100, Wake: 20, Port: "node",
	}
}

func ethernet() rma.Model {
	return rma.Model{
		Name:   "ethernet-libp2p",
		Source: "libp2p over TLS and yamux on a loopback, plus 10 µs of switch and wire",
		Levels: outside(
			rma.Cost{Alpha: 30000, Beta: 1, Busy: 150},
			rma.Cost{Alpha: 30000, Beta: 1, Busy: 2300},
			rma.Cost{Alpha: 30000, Busy: 2300}),
		Issue: 150, Wake: 5000, Port: "node", Agent: true,
	}
}
