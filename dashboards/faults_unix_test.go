//go:build unix

package dashboards

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/orwl/go-orwl/internal/promserver"
	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/metrics"
	"github.com/orwl/go-orwl/orwl"
)

func TestMain(m *testing.M) {
	if root := os.Getenv(envActor); root != "" {
		if err := holdUntilTold(root); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// TestAlertsFire injects a fault for each alert of a run into runs that a real Prometheus
// watches with rules.yml, and waits until that is alarmed. How long a state must last before
// the alert pages is another matter: promtool test rules looks at that.
func TestAlertsFire(t *testing.T) {
	rings.Needs(t, rings.Change)
	t.Parallel()
	s := promserver.Start(t, promserver.Options{Rules: "rules.yml"})
	scenes := []*scene{well(t), stalls(t), unfair(t), silent(t, s), hostile(t), slow(t, s)}
	var jobs []promserver.Job
	var fired []string
	for _, sc := range scenes {
		jobs = append(jobs, sc.job)
		fired = slices.Concat(fired, sc.during, sc.alerts)
	}
	s.Watch(jobs...)
	// Not all of them at one moment: a machine with too much to do misses now this one, now that one.
	s.Until("count(sum_over_time(up[1m]) > 3)", func(often float64) bool { return often == 8 })
	if early := s.Query("ALERTS" + mine); len(early) > 0 {
		t.Fatalf("alarmed before there was a fault: %v", early)
	}
	for _, sc := range scenes {
		if sc.fault != nil {
			sc.fault()
		}
	}
	for _, sc := range scenes {
		for _, alert := range sc.alerts {
			s.Until(fmt.Sprintf("ALERTS{alertname=%q, job=%q}", alert, sc.job.Name), func(v float64) bool { return v == 1 })
			t.Log(sc.job.Name, "has set off", alert)
		}
	}
	if wrong := s.Query(`ALERTS{job="orwl-well"}` + mine); len(wrong) > 0 {
		t.Errorf("alarmed where nothing is wrong: %v", wrong)
	}
	_, alerts := rules(t)
	for _, alert := range alerts {
		if strings.HasPrefix(alert, "Orwl") && !slices.Contains(fired, alert) {
			t.Errorf("nothing has set off %s", alert)
		}
	}
}

// mine leaves out alerts of other causes. A busy machine is slow, or does not answer a scrape
// in time. The other node of hostile is not ours, and shows nothing. No node of silent goes on,
// and the alert for that fires in the end.
const mine = ` unless ALERTS{alertname=~"OrwlSlowRoundTrips|OrwlUnreachable"}` +
	` unless (ALERTS{alertname="OrwlUnseenNode"} and on (job) ALERTS{alertname="OrwlUnreachable"})` +
	` unless ALERTS{alertname="OrwlUnseenNode", job="orwl-hostile"}` +
	` unless ALERTS{alertname="OrwlStalled", job="orwl-silent"}`

// scene is a run, and what can be done to it.
type scene struct {
	job    promserver.Job
	fault  func()
	during []string // alerts that fault itself waits for, since they pass
	alerts []string
}

// node is one of a run in this process.
type node struct {
	*metrics.Metrics
	*orwl.Nodes
	address string
}

// show has a node's metrics served until the test is over.
func show(t *testing.T, nodes *orwl.Nodes) *node {
	t.Helper()
	n, stop, err := serve(nodes)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return n
}

func serve(nodes *orwl.Nodes) (n *node, stop func(), err error) {
	registry := prometheus.NewRegistry()
	m, err := metrics.New(metrics.Options{Registerer: registry, Node: nodes.Number()})
	if err != nil {
		return nil, nil, err
	}
	m.Nodes(nodes)
	server, err := metrics.Serve(context.Background(), metrics.ServerOptions{Address: "127.0.0.1:0", Gatherer: registry})
	if err != nil {
		return nil, nil, err
	}
	return &node{Metrics: m, Nodes: nodes, address: server.Address()}, func() { _ = server.Close() }, nil
}

// program makes a runtime that the node's metrics look at.
func (n *node) program(o orwl.Options) (*orwl.Runtime, error) {
	o.Observers, o.Nodes, o.Log = []orwl.Observer{n.Metrics}, n.Nodes, quiet
	rt, err := orwl.New(o)
	if err == nil {
		n.Watch(rt)
	}
	return rt, err
}

// goes runs something until the test is over.
func goes(t *testing.T, run func(ctx context.Context)) {
	ctx, stop := context.WithCancel(context.Background())
	var all sync.WaitGroup
	t.Cleanup(func() { stop(); all.Wait() })
	all.Go(func() { run(ctx) })
}

// join makes a run's nodes find each other. Those that are left when the test is over
// do not wait for each other.
func join(t *testing.T, o orwl.JoinOptions) *orwl.Nodes {
	t.Helper()
	o.Log = quiet
	nodes, err := orwl.Join(t.Context(), o)
	if err != nil {
		t.Error(err)
		return nil
	}
	t.Cleanup(func() {
		ctx, stop := context.WithCancel(context.Background())
		stop()
		_ = nodes.Close(ctx)
	})
	return nodes
}
