package main

import (
	"os"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/orwl/go-orwl/dashboards"
	"github.com/orwl/go-orwl/orwl/launch"
)

// TestDashboard compares the metrics of this program that dashboards name with those that
// there are, and all of them with docs/reference/observe.md.
func TestDashboard(t *testing.T) {
	e, err := show("127.0.0.1:0", "RMA-RW", launch.Place{Nodes: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	there := make(chan *prometheus.Desc)
	go func() {
		defer close(there)
		new(figures).Describe(there)
		e.times.Describe(there)
	}()
	guide, err := os.ReadFile("../../docs/reference/observe.md")
	if err != nil {
		t.Fatal(err)
	}
	exported := make(map[string]bool)
	for d := range there {
		name := strings.Split(d.String(), `"`)[1]
		exported[name] = true
		if !strings.Contains(string(guide), "`"+name+"`") {
			t.Errorf("docs/reference/observe.md does not tell of %s", name)
		}
	}
	named, err := dashboards.Named()
	if err != nil {
		t.Fatal(err)
	}
	drawn := 0
	for name, where := range named {
		if !strings.HasPrefix(name, "dht_") {
			continue
		}
		if drawn++; !exported[strings.TrimSuffix(name, "_bucket")] {
			t.Errorf("%s names %s, which nobody exports", where, name)
		}
	}
	if drawn == 0 {
		t.Error("no dashboard shows the table")
	}
}
