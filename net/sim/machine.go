package sim

import (
	"fmt"
	"strings"

	"github.com/orwl/go-orwl/net/rma/model"
)

// Machines are the machines that the simulator can describe. Their costs are
// published or measured figures, rounded; each machine's Source names the origin.
// Use them to compare algorithms with each other. They do not predict the figures
// of one system.
func Machines() []model.Model {
	return []model.Model{cray(), infiniband(), ethernet()}
}

// MachineByName finds a described machine.
func MachineByName(name string) (model.Model, error) {
	var known []string
	for _, m := range Machines() {
		if m.Name == name {
			return m, nil
		}
		known = append(known, m.Name)
	}
	return model.Model{}, fmt.Errorf("sim: no machine %q: known are %s", name, strings.Join(known, ", "))
}

// inside is the cost between the cores of one node, the same for all three
// machines: loads, stores and atomics through caches.
func inside() []model.LevelCost {
	level := func(name string, load, atomic, busy float64) model.LevelCost {
		return model.LevelCost{Level: name, Coherent: true,
			Put:    model.Cost{Alpha: load, Beta: 0.1, Busy: busy},
			Get:    model.Cost{Alpha: load, Beta: 0.1, Busy: busy},
			Atomic: model.Cost{Alpha: atomic, Busy: busy}}
	}
	return []model.LevelCost{
		level(model.Self, 5, 10, 2),
		level("core", 15, 20, 5),
		level("cache", 40, 60, 20),
		level("numa", 80, 120, 40),
		level("socket", 80, 120, 40),
		level("node", 150, 220, 80),
	}
}

// outside is inside plus the cost of the network, for every level above the node.
func outside(put, get, atomic model.Cost) []model.LevelCost {
	levels := inside()
	for _, name := range []string{"rack", "group", "machine"} {
		levels = append(levels, model.LevelCost{Level: name, Put: put, Get: get, Atomic: atomic})
	}
	return levels
}

func cray() model.Model {
	return model.Model{
		Name:   "cray-xc30",
		Source: "foMPI's published models for Gemini and Aries, rounded",
		Levels: outside(
			model.Cost{Alpha: 1000, Beta: 0.16, Busy: 30},
			model.Cost{Alpha: 1900, Beta: 0.17, Busy: 30},
			model.Cost{Alpha: 2400, Busy: 60}),
		Issue: 80, Wake: 20, Port: "node",
	}
}

func infiniband() model.Model {
	return model.Model{
		Name:   "infiniband-fdr",
		Source: "published latency, bandwidth and atomic rate of FDR adapters, rounded",
		Levels: outside(
			model.Cost{Alpha: 1300, Beta: 0.16, Busy: 60},
			model.Cost{Alpha: 1900, Beta: 0.16, Busy: 60},
			model.Cost{Alpha: 2200, Busy: 370}),
		Issue: 100, Wake: 20, Port: "node",
	}
}

func ethernet() model.Model {
	return model.Model{
		Name:   "ethernet-libp2p",
		Source: "libp2p over TLS and yamux on a loopback, plus 10 µs of switch and wire",
		Levels: outside(
			model.Cost{Alpha: 30000, Beta: 1, Busy: 150},
			model.Cost{Alpha: 30000, Beta: 1, Busy: 2300},
			model.Cost{Alpha: 30000, Busy: 2300}),
		Issue: 150, Wake: 5000, Port: "node", Agent: true,
	}
}
