package sim_test

import (
	"slices"
	"testing"

	"github.com/orwl/go-orwl/net/sim"
)

// TestMachinesAreFixed knows the hash of the described machines. A figure may change for a
// better source, never for a better result: say in the commit which source it is.
func TestMachinesAreFixed(t *testing.T) {
	if got, want := sim.MachinesHash(), "911ee8d4c0ee"; got != want {
		t.Errorf("machines.json has the hash %s, want %s", got, want)
	}
}

// Each described machine is valid, and each of its figures has a source and a grade.
func TestMachinesHaveSources(t *testing.T) {
	grades := []string{"published", "recalled", "derived", "assumed"}
	for _, m := range sim.Described() {
		if err := m.Model.Validate(); err != nil {
			t.Error(err)
		}
		if len(m.Figures) == 0 || m.Model.Node == 0 {
			t.Errorf("%s has %d sources and %d ranks a node", m.Model.Name, len(m.Figures), m.Model.Node)
		}
		for _, f := range m.Figures {
			if f.Figure == "" || f.Source == "" || !slices.Contains(grades, f.Grade) {
				t.Errorf("%s: %+v, want a figure, a source and a grade of %v", m.Model.Name, f, grades)
			}
		}
	}
}
