package dashboards

import (
	"context"
	"errors"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/orwl/go-orwl/metrics"
	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/orwl/launch"
	"github.com/orwl/go-orwl/orwl/nodes"
)

var quiet = slog.New(slog.DiscardHandler)

// described is a Registerer that remembers the names of what is registered, whether
// it has a value yet or not.
type described struct {
	*prometheus.Registry
	names map[string]bool
}

var fullName = regexp.MustCompile(`fqName: "([^"]+)"`)

func (d described) Register(c prometheus.Collector) error {
	all := make(chan *prometheus.Desc)
	go func() { defer close(all); c.Describe(all) }()
	for desc := range all {
		d.names[fullName.FindStringSubmatch(desc.String())[1]] = true
	}
	return d.Registry.Register(c)
}

func (d described) MustRegister(all ...prometheus.Collector) {
	for _, c := range all {
		if err := d.Register(c); err != nil {
			panic(err)
		}
	}
}

// exported are the names of all that a process of a run exports: the library's, Go's, the
// process's and libp2p's, which are told when a node joins others.
func exported(t *testing.T) map[string]bool {
	t.Helper()
	d := described{prometheus.NewRegistry(), make(map[string]bool)}
	if _, err := metrics.New(metrics.Options{Registerer: d}); err != nil {
		t.Fatal(err)
	}
	alone, cancel := context.WithCancel(t.Context())
	_, err := orwl.Join(alone, orwl.JoinOptions{
		Place: &launch.Place{Nodes: 2, Listen: "127.0.0.1:0", Report: func(string) error { cancel(); return nil }}, Log: quiet, Network: nodes.Network{Registerer: d},
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("a node that is told to stop waiting for another: %v", err)
	}
	// Go's metrics are described by their names in package runtime/metrics, too.
	all, err := d.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range all {
		d.names[family.GetName()] = true
	}
	for _, name := range metrics.Names() {
		d.names[name] = true
	}
	return d.names
}

// Those of Prometheus itself, and of the applications, whose own tests look for them.
var (
	ofPrometheus = []string{"up", "ALERTS"}
	ofPrograms   = regexp.MustCompile(`^(llk23|dht)_`)
)

// missing are the metrics that are not there.
func missing(named map[string]string, there map[string]bool) (all []string) {
	for name := range named {
		whole := name
		for _, suffix := range []string{"_bucket", "_count", "_sum"} {
			whole = strings.TrimSuffix(whole, suffix)
		}
		if !there[name] && !there[whole] && !slices.Contains(ofPrometheus, name) && !ofPrograms.MatchString(name) {
			all = append(all, name)
		}
	}
	return all
}

// TestNames compares the metrics that panels and rules name with those that there are.
func TestNames(t *testing.T) {
	there := exported(t)
	recorded, _ := rules(t)
	named, err := Named()
	if err != nil {
		t.Fatal(err)
	}
	for where, expr := range recorded {
		for _, name := range Metrics(expr) {
			named[name] = where
		}
	}
	if len(named) < 50 {
		t.Errorf("only %d metrics are named", len(named))
	}
	for name := range recorded {
		there[name] = true
	}
	for _, name := range missing(named, there) {
		t.Errorf("%s names %s, which nobody exports", named[name], name)
	}
	if found := missing(map[string]string{"orwl_nosuch_total": "", "orwl_hold_seconds_bucket": "", "up": ""}, there); !slices.Equal(found, []string{"orwl_nosuch_total"}) {
		t.Errorf("a metric that nobody exports is not found: %v", found)
	}
	for name := range there {
		if _, is := named[name]; !is && strings.HasPrefix(name, "orwl_") && named[name+"_bucket"] == "" && named[name+"_count"] == "" {
			t.Logf("no panel and no rule names %s", name)
		}
	}
}
