package model_test

import (
	"strings"
	"testing"

	"github.com/orwl/go-orwl/net/rma/model"
	"github.com/orwl/go-orwl/net/topology"
)

// machine knows a rank's own memory, a node, and the whole machine.
func machine() model.Model {
	level := func(name string, alpha float64) model.LevelCost {
		c := model.Cost{Alpha: alpha}
		return model.LevelCost{Level: name, Put: c, Get: c, Atomic: c}
	}
	return model.Model{Name: "toy", Levels: []model.LevelCost{level(model.Self, 1), level("node", 10), level("machine", 100)}}
}

// TestCosts applies a model to trees. A level that the model does not name costs as
// much as the next coarser one.
func TestCosts(t *testing.T) {
	for text, want := range map[string][]float64{
		"core:4":                 {100, 100, 1},
		"node:2 core:4":          {100, 100, 10, 1},
		"node:2 socket:2 core:2": {100, 100, 10, 10, 1},
		"rack:2 node:2 core:2":   {100, 100, 100, 10, 1},
	} {
		tree, err := topology.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		m := machine()
		costs := m.Costs(tree)
		if len(costs) != len(want) {
			t.Fatalf("%s has %d costs, want %d", text, len(costs), len(want))
		}
		for i, c := range costs {
			if c.Put.Alpha != want[i] {
				t.Errorf("%s: element %d costs %v, want %v", text, i, c.Put.Alpha, want[i])
			}
		}
	}
}

func TestValidate(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(m *model.Model)
		want  string // part of the error, or nothing
	}{
		{"good", func(m *model.Model) {}, ""},
		{"no levels", func(m *model.Model) { m.Levels = nil }, `the first level must be "self"`},
		{"no self", func(m *model.Model) { m.Levels = m.Levels[1:] }, `the first level must be "self"`},
		{"alpha", func(m *model.Model) { m.Levels[1].Put.Alpha = -1 }, `level "node": a cost is negative`},
		{"beta", func(m *model.Model) { m.Levels[2].Get.Beta = -1 }, `level "machine": a cost is negative`},
		{"busy", func(m *model.Model) { m.Levels[0].Atomic.Busy = -1 }, `level "self": a cost is negative`},
		{"issue", func(m *model.Model) { m.Levels[1].Issue = -1 }, `level "node": issue is negative`},
		{"inject", func(m *model.Model) { m.Inject = -1 }, "inject and wake must not be negative"},
		{"wake", func(m *model.Model) { m.Wake = -1 }, "inject and wake must not be negative"},
		{"between", func(m *model.Model) { m.Between = -1 }, "between must not be negative"},
		{"copy", func(m *model.Model) { m.Levels[0].Copy.Busy = -1 }, "a cost is negative"},
		{"instruction", func(m *model.Model) { m.Direct = &model.Direct{Load: -1} }, "the cost of an instruction is negative"},
		{"own", func(m *model.Model) { m.Own = &model.Own{Operation: -1} }, "own instructions is negative"},
		{"kind", func(m *model.Model) { m.Scheduler = &model.Scheduler{Ranks: "threads", Processors: 1} }, `ranks are "threads", want goroutines or processes`},
		{"processors", func(m *model.Model) { m.Scheduler = &model.Scheduler{Ranks: model.Processes} }, "0 processors, want at least 1"},
		{"change", func(m *model.Model) {
			m.Scheduler = &model.Scheduler{Ranks: model.Processes, Processors: 1, Change: -1}
		}, "a time is negative"},
		{"scheduler", func(m *model.Model) {
			m.Scheduler = &model.Scheduler{Ranks: model.Processes, Processors: 2, Change: 1}
		}, ""},
	} {
		m := machine()
		c.spoil(&m)
		err := m.Validate()
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: the error is %v, want one with %q", c.name, err, c.want)
		}
	}
}
