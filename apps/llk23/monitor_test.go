package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/orwl/go-orwl/dashboards"
	"github.com/orwl/go-orwl/internal/monitor"
	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/orwl/launch"
	"github.com/orwl/go-orwl/orwl/stencil"
	"github.com/orwl/go-orwl/orwl/stencil/show"
)

// body is what a page of a monitor says.
func body(t testing.TB, e *monitor.Monitor, path string) string {
	t.Helper()
	r, err := http.Get("http://" + e.Address() + path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestMonitor looks at a run before it, in the middle, and after.
func TestMonitor(t *testing.T) {
	e, err := monitor.New(monitor.Options{Address: "127.0.0.1:0", Place: launch.Place{Nodes: 1}})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if text := body(t, e, "/metrics"); strings.Contains(text, "llk23_") || !strings.Contains(text, "go_goroutines") {
		t.Errorf("before it sweeps: %s", text)
	}
	f := newField(problem{rows: 40, cols: 60, iters: 20, kernel: listing(), values: noise}, size{2, 3}, fused)
	f.figures = new(figures)
	if err := e.Register(f.figures); err != nil {
		t.Fatal(err)
	}
	err = orwl.Run(t.Context(), orwl.Options{Observers: append(e.Observers(), f)}, func(ctx context.Context, rt *orwl.Runtime) error {
		e.Watch(rt)
		return f.solve(ctx, rt, show.Silent())
	})
	if err != nil {
		t.Fatal(err)
	}
	text := body(t, e, "/metrics")
	for _, want := range []string{
		`llk23_info{block="20x20",grid="2x3",kernel="listing",node="0",tasks="fused"} 1`,
		`llk23_blocks{node="0"} 6`,
		`llk23_iterations{node="0"} 20`,
		`llk23_iterations_done{node="0"} 20`,
		`llk23_updates_planned{node="0"} 48000`,
		`llk23_updates_total{node="0"} 48000`,
		`orwl_task_rounds_total{node="0"} 120`,
		`orwl_accesses_total{access="ordered",mode="read",node="0",outcome="acquired"} 280`,
		`orwl_tasks{node="0",state="ended"} 6`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("the metrics have no line %s", want)
		}
	}
	// No scrape has counted a phase that was not over: what there is, is what the report says.
	for phase, label := range phaseLabels {
		want := 0.0
		for _, a := range f.accounts {
			want += a.Spent[phase].Seconds()
		}
		_, rest, _ := strings.Cut(text, fmt.Sprintf(`llk23_block_seconds_total{node="0",phase="%s"} `, label))
		got := 0.0
		if _, err := fmt.Sscan(rest, &got); err != nil || stencil.Phase(phase) != stencil.Outside && math.Abs(got-want) > 1e-6 {
			t.Errorf("blocks %s for %v s, and the report says %v s: %v", label, got, want, err)
		}
	}
	if text := body(t, e, "/debug/orwl"); !strings.HasPrefix(text, "{") {
		t.Errorf("the run's state is %q", text)
	}
}

// TestMetricsRefused asks for what cannot be, alone and with nodes.
func TestMetricsRefused(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	port := taken.Addr().String()
	run := httptest.NewServer(http.NotFoundHandler()) // another run
	defer run.Close()
	for _, nodes := range []string{"", " -nodes 2"} {
		for _, c := range []struct {
			args string
			says []string
		}{
			{"-metrics " + port, []string{"-metrics", port, "taken"}},
			{"-metrics " + strings.TrimPrefix(run.URL, "http://"), []string{"taken", "another run"}},
			{"-metrics 9464", []string{"-metrics", `"9464"`, "host:port", "127.0.0.1:9464"}},
			{"-metrics :port", []string{"-metrics", "host:port"}},
			{"-metrics 127.0.0.1:65536", []string{"-metrics", "host:port"}},
			{"-metrics nosuchhost.invalid:9464", []string{"-metrics", "nosuchhost.invalid:9464"}},
			{"-metrics 0.0.0.0:9464", []string{"-metrics", "0.0.0.0:9464", "key"}},
			{"-metrics [::]:9464", []string{"key"}},
			{"-metrics-linger 5s", []string{"-metrics-linger 5s", "want -metrics"}},
			{"-metrics :0 -metrics-linger 5", []string{"-metrics-linger", `"5"`, "15s"}},
			{"-metrics :0 -metrics-linger -5s", []string{"-metrics-linger", "0s to 1h"}},
		} {
			code, stdout, stderr := program(t, strings.Fields(c.args+nodes)...)
			want := 2
			if slices.Contains(c.says, "taken") { // the command is right, and the machine is not
				want = 1
			}
			if code != want || stdout != "" || strings.Count(stderr, "\n") != 1 {
				t.Errorf("llk23 %s: exit code %d, prints %q and %q, want %d and one line", c.args+nodes, code, stdout, stderr, want)
			}
			for _, want := range append(c.says, "llk23: ") {
				if !strings.Contains(stderr, want) {
					t.Errorf("llk23 %s: %q does not mention %s", c.args+nodes, stderr, want)
				}
			}
		}
	}
	if code, _, stderr := program(t, "-nodes", "2", "-metrics", "127.0.0.1:65535"); code != 2 || !strings.Contains(stderr, "node 1") {
		t.Errorf("exit code %d, %q: node 1 has no port", code, stderr)
	}
}

// TestDashboard compares the metrics of this program that dashboards name with those that
// there are, and all of them with docs/reference/observe.md.
func TestDashboard(t *testing.T) {
	there := make(chan *prometheus.Desc)
	f := solved(t, problem{rows: 2, cols: 2, iters: 1, kernel: listing(), values: noise}, size{1, 1}, fused)
	go func() { defer close(there); (&figures{field: f}).Describe(there) }()
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
	drawn, err := dashboards.Named()
	if err != nil {
		t.Fatal(err)
	}
	for name, where := range drawn {
		if strings.HasPrefix(name, "llk23_") && !exported[name] {
			t.Errorf("%s names %s, which nobody exports", where, name)
		}
	}
	if drawn["llk23_updates_total"] == "" {
		t.Error("no dashboard shows how far a run is")
	}
}
