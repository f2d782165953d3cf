//go:build unix

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/dashboards"
	"github.com/orwl/go-orwl/internal/freeport"
	"github.com/orwl/go-orwl/internal/promserver"
	"github.com/orwl/go-orwl/internal/rings"
)

// TestPrometheus runs the program on two nodes that a real Prometheus scrapes, and compares
// what that has found with what the program reports. All that is compared is the same however
// busy the machine is. TestMonitor compares the shares of the time.
func TestPrometheus(t *testing.T) {
	rings.Needs(t, rings.Change)
	t.Parallel()
	s := promserver.Start(t, promserver.Options{})
	targets := freeport.Addresses(t, 2)
	s.Watch(promserver.Job{Name: "orwl", Targets: targets})
	s.Until("count(up == 0)", func(found float64) bool { return found == 2 }) // no listener yet

	cmd := exec.CommandContext(t.Context(), os.Args[0], strings.Fields("-nodes 2 -grid 4x4 -block 200x200 -iters 500 -sweeps 1 "+
		"-verify=false -json -metrics-linger 1m -metrics "+targets[0])...)
	cmd.Env = append(os.Environ(), envProgram+"=1")
	var said strings.Builder
	cmd.Stderr = &said
	stdout, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, said.String())
	}
	var r report
	if err := json.Unmarshal(stdout, &r); err != nil {
		t.Fatalf("%v: %s", err, stdout)
	}

	// The processes are gone: what counts is what was found last.
	last := func(selector string) string { return "last_over_time(" + selector + "[10m])" }
	sum := func(selector string) float64 { return s.Value("sum(" + last(selector) + ")") }
	exact := func(what string, got, want float64) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %v, and the run says %v", what, got, want)
		}
	}
	exact("nodes", s.Value("count(count by (node) ("+last("orwl_info")+"))"), float64(r.Nodes))
	exact("iterations", s.Value("min("+last("llk23_iterations_done")+")"), float64(r.Iters))
	exact("iterations to do", s.Value("max("+last("llk23_iterations")+")"), float64(r.Iters))
	exact("updates", sum("llk23_updates_total"), float64(r.Elements*int64(r.Iters)))
	exact("updates to do", sum("llk23_updates_planned"), float64(r.Elements*int64(r.Iters)))
	exact("nodes lost", sum(`orwl_net_nodes{state="lost"}`), 0)

	// In the end node 0 reads the blocks of node 1. So node 1 reads nothing but frontiers, and node
	// 0 writes nothing but frontiers and the data of its blocks, by each piece once a round. Each
	// has half of the blocks, and half of all frontiers to read and to write.
	pieces := 4 * (2 + 3 + 3 + 2) // of blocks in the first row, and so on
	exact("rounds", sum(`orwl_task_rounds_total`), float64(pieces*r.Iters))
	exact("hand-overs", sum(`orwl_accesses_total{mode="read", outcome="acquired", node="1"}`)+
		sum(`orwl_accesses_total{mode="write", outcome="acquired", node="0"}`), float64(r.HandOvers)+float64(pieces/2*r.Iters))
	// The last frontiers of node 1 go to node 0, too, though no task reads them there.
	for _, of := range []string{`direction="in", node="1"`, `direction="out", node="0"`} {
		bytes := sum("orwl_resource_bytes_total{" + of + "}")
		exact("bytes shipped", 2*bytes+bytes/float64(r.Iters), float64(r.BytesShipped))
	}

	// A scrape may count a bit of a phase that has ended already, and a counter never goes back. So
	// it shows what the report says, or more.
	least := func(what string, got, want float64) {
		t.Helper()
		t.Logf("%s: %.4f s, and the run says %.4f s", what, got, want)
		if got < want*(1-1e-6) {
			t.Errorf("%s: %v s, and the run says %v s", what, got, want)
		}
	}
	blocks := 16 * r.Seconds
	least("computing", sum(`llk23_block_seconds_total{phase="compute"}`), r.ComputeShare*blocks)
	least("moving", sum(`llk23_block_seconds_total{phase=~"read|write"}`), (1-r.ComputeShare-r.QueuedShare-r.WaitShare)*blocks)
	if waited := sum("orwl_task_wait_seconds_total"); waited <= 0 {
		t.Errorf("tasks have waited for %v s", waited)
	}

	// While it went on it was seen, on most machines, and it never went back.
	t.Logf("each node was seen %v times", s.Value(`min(count_over_time(llk23_updates_total[10m]))`))
	exact("times that the metrics went back", s.Value(`sum(resets(llk23_updates_total[10m])) + sum(resets(llk23_block_seconds_total[10m])) + `+
		`sum(resets(orwl_task_wait_seconds_total[10m])) + sum(resets(orwl_accesses_total[10m]))`), 0)
}

// ofOthers are the panels of things that a run of this program does not have, by page.
var ofOthers = map[string][]string{
	"orwl-overview": {"Alerts that fire"},
	"orwl-network":  {"Sessions and their locks", "Locks granted", "Lost and forced"},
}

// TestPanels has a real Prometheus scrape a run of three nodes, and one of them dies. It asks what the panels of the dashboards ask:
// each query returns something.
func TestPanels(t *testing.T) {
	rings.Needs(t, rings.Change)
	s := promserver.Start(t, promserver.Options{})
	targets := freeport.Addresses(t, 3)
	s.Watch(promserver.Job{Name: "orwl", Targets: targets})
	dying(t, targets[0])
	s.Until("max(orwl_life)", func(life float64) bool { return life >= 2 }) // the nodes that are left may balance the work
	s.Until("max(orwl_cuts_total)", func(cuts float64) bool { return cuts > 0 })
	pages, err := dashboards.Pages()
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	for _, p := range pages {
		if p.UID != "orwl-overview" && p.UID != "orwl-llk23" && p.UID != "orwl-network" {
			continue
		}
		for _, q := range p.Queries("orwl", "20s") {
			if slices.Contains(ofOthers[p.UID], q.Panel) {
				continue
			}
			asked++
			s.Returns(q.Expr)
		}
	}
	t.Logf("%d queries return something", asked)
}
