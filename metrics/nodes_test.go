package metrics

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/orwl/go-orwl/net/node"
	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/orwl/launch"
	"github.com/orwl/go-orwl/orwl/nodes"
)

// member is a node of a run whose nodes are all in this process, and its metrics.
type member struct {
	*Metrics
	registry *prometheus.Registry
	nodes    *orwl.Nodes
}

func crew(t *testing.T, count int) []*member {
	t.Helper()
	crew := make([]*member, count)
	errs := make([]error, count)
	address := make(chan string, 1)
	join := func(i int, p launch.Place) {
		p.Node, p.Nodes, p.Listen = i, count, "127.0.0.1:0"
		m := &member{registry: prometheus.NewRegistry()}
		crew[i] = m
		if m.Metrics, errs[i] = New(Options{Registerer: m.registry, Node: i, Sample: 1}); errs[i] != nil {
			return
		}
		m.nodes, errs[i] = orwl.Join(context.Background(), orwl.JoinOptions{
			Place: &p, Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Remote: true,
			Network: quick{nodes.Network{Registerer: m.registry}}, Lease: time.Minute, // a busy machine loses none
		})
	}
	var all sync.WaitGroup
	all.Go(func() { join(0, launch.Place{Report: func(a string) error { address <- a; return nil }}) })
	root := <-address
	for i := 1; i < count; i++ {
		all.Go(func() { join(i, launch.Place{Root: root}) })
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	for _, m := range crew {
		m.Nodes(m.nodes)
	}
	return crew
}

// Two nodes that hand a resource to and fro tell the same of it.
func TestTwoNodes(t *testing.T) {
	const rounds, size = 50, 4096
	crew := crew(t, 2)
	var all sync.WaitGroup
	for i, m := range crew {
		all.Go(func() {
			rt, err := orwl.New(orwl.Options{Nodes: m.nodes, Observers: []orwl.Observer{m}})
			if err != nil {
				t.Error(err)
				return
			}
			m.Watch(rt)
			r := rt.Resource("r", size)
			rt.Home(r, 0)
			for node, name := range []string{"here", "there"} {
				k := rt.Task(name)
				k.On(node)
				a := orwl.Writes[byte](k, r)
				k.Each(rounds, func(round int) error {
					for round == 0 && node == 0 && value(t, crew[1].registry, "orwl_tasks_remote") == 0 && t.Context().Err() == nil {
						runtime.Gosched() // the task of the other node waits for this one
					}
					a.Slice()[0]++
					return nil
				})
			}
			if err := rt.Run(context.Background()); err != nil {
				t.Errorf("node %d: %v", i, err)
			}
		})
	}
	all.Wait()
	home, mirror := crew[0].registry, crew[1].registry
	for value(t, mirror, "orwl_net_round_trip_seconds") == 0 { // heartbeats go on
		if t.Context().Err() != nil {
			t.Fatal("no heartbeat is echoed")
		}
	}
	for _, c := range []struct {
		of     prometheus.Gatherer
		want   float64
		name   string
		labels []string
	}{
		{home, 0, "orwl_tasks_remote", nil},
		{mirror, 0, "orwl_tasks_remote", nil},
		{home, rounds, "orwl_accesses_total", []string{"mode=write", "outcome=acquired"}},
		{mirror, rounds, "orwl_accesses_total", []string{"mode=write", "outcome=acquired"}},
		{home, 0, "orwl_remote_accesses_total", nil},
		{mirror, rounds, "orwl_remote_accesses_total", nil},
		{home, 2, "orwl_net_nodes", []string{"state=here"}},
		{mirror, 1, "orwl_info", []string{"nodes=2", "node=1"}},
	} {
		if got := value(t, c.of, c.name, c.labels...); got != c.want {
			t.Errorf("%s %v is %v, want %v", c.name, c.labels, got, c.want)
		}
	}
	// Whatever one has sent, the other has received.
	for _, name := range []string{"orwl_resource_messages_total", "orwl_resource_bytes_total"} {
		for _, way := range [][2]prometheus.Gatherer{{home, mirror}, {mirror, home}} {
			out, in := value(t, way[0], name, "direction=out"), value(t, way[1], name, "direction=in")
			if out != in || out == 0 {
				t.Errorf("%s: %v out and %v in", name, out, in)
			}
		}
	}
	for _, name := range []string{"orwl_net_frames_total", "orwl_net_bytes_total"} {
		// First what has come, since more may go out.
		in := value(t, mirror, name, "direction=in", "kind=parcel")
		if out := value(t, home, name, "direction=out", "kind=parcel"); in == 0 || in > out {
			t.Errorf("%s of parcels: %v out and %v in", name, out, in)
		}
	}
	bytes := value(t, mirror, "orwl_prefetch_bytes_total")
	if in := value(t, mirror, "orwl_resource_bytes_total", "direction=in"); bytes != in {
		t.Errorf("%v bytes came for accesses, %v in all", bytes, in)
	}
	waits, hits := value(t, mirror, "orwl_waits_total", "mode=write", "access=ordered"), value(t, mirror, "orwl_prefetch_hits_total")
	if hits+waits != rounds || value(t, mirror, "orwl_handover_seconds", "scope=remote") != waits {
		t.Errorf("%v waits and %v hits in %d rounds", waits, hits, rounds)
	}
	for _, name := range []string{"libp2p_swarm_connections_opened_total", "libp2p_swarm_handshake_latency_seconds", "libp2p_rcmgr_connections"} {
		if got := value(t, home, name); got == 0 {
			t.Errorf("there is no %s", name)
		}
	}
	problems, err := testutil.GatherAndLint(mirror)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		if strings.HasPrefix(p.Metric, "orwl_") {
			t.Errorf("%s: %s", p.Metric, p.Text)
		}
	}
	for _, m := range crew {
		all.Go(func() {
			if err := m.nodes.Close(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// quick is a network whose nodes speak often.
type quick struct{ nodes.Network }

func (q quick) Join(ctx context.Context, o node.Options) (node.Node, error) {
	o.Beat = 10 * time.Millisecond
	return q.Network.Join(ctx, o)
}
