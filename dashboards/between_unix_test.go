//go:build unix

package dashboards

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/freeport"
	"github.com/orwl/go-orwl/internal/pack"
	"github.com/orwl/go-orwl/internal/promserver"
	"github.com/orwl/go-orwl/net/p2p"
	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/orwl/launch"
)

// patient is a lease by which no node is lost because the machine has too much to do.
const patient = time.Minute

// hostile is a node with two bad callers, a stranger and one that may not join. Another node of
// its run sends it nonsense.
func hostile(t *testing.T) *scene {
	key := launch.NewKey()
	root := make(chan string, 1)
	joined := make(chan *orwl.Nodes, 1)
	go func() {
		joined <- join(t, orwl.JoinOptions{
			Place: &launch.Place{Nodes: 2, Listen: "127.0.0.1:0", Key: key, Report: func(a string) error { root <- a; return nil }},
			Lease: patient,
		})
	}()
	address := <-root
	bad, err := p2p.Join(t.Context(), p2p.Options{Number: 1, Nodes: 2, Key: key, Root: address, Remote: true, Lease: patient})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, stop := context.WithCancel(context.Background())
		stop()
		_ = bad.Close(ctx)
	})
	// It joins as any other: by what it stands on, in the first life.
	ground := pack.Encode(&struct {
		Processors int `msgpack:"processors"`
	}{1})
	if _, err := bad.Gather(t.Context(), "life 1: ground", ground); err != nil {
		t.Fatal(err)
	}
	nodes := <-joined
	if nodes == nil {
		t.FailNow()
	}
	n := show(t, nodes)
	// A run of two nodes knows no node 2 of 3. Join returns when the caller is turned away, however
	// long that takes.
	calls := func(number, of int) {
		if in, err := p2p.Join(t.Context(), p2p.Options{Number: number, Nodes: of, Key: key, Root: address, JoinTimeout: patient, Lease: patient}); err == nil {
			t.Error("somebody was let in")
			_ = in.Close(t.Context())
		}
	}
	const resources = 1 // the channel of messages about resources
	return &scene{
		job: promserver.Job{Name: "orwl-hostile", Targets: []string{n.address}},
		fault: func() {
			calls(2, 3)
			calls(1, 3)
			if err := bad.Send(0, resources, []byte("nonsense"), nil, false); err != nil {
				t.Error(err)
			}
		},
		alerts: []string{"OrwlStrangers", "OrwlNodesRefused", "OrwlBadFrames"},
	}
}

// slow is a run of two nodes between which connections break, and then take their time.
func slow(t *testing.T, s *promserver.Server) *scene {
	var between [2]*middle
	var listen, peers []string
	for i := range between {
		listen = append(listen, freeport.Address(t))
		between[i] = newMiddle(t, listen[i])
		peers = append(peers, between[i].address)
	}
	key := launch.NewKey()
	joined := make(chan *orwl.Nodes, 1)
	go func() {
		joined <- join(t, orwl.JoinOptions{Place: &launch.Place{Node: 1, Nodes: 2, Listen: listen[1], Root: peers[0], Peers: peers, Key: key}, Remote: true, Lease: patient})
	}()
	nodes := join(t, orwl.JoinOptions{Place: &launch.Place{Nodes: 2, Listen: listen[0], Peers: peers, Key: key}, Remote: true, Lease: patient})
	other := <-joined
	if nodes == nil || other == nil {
		t.FailNow()
	}
	const job = "orwl-slow"
	return &scene{
		job: promserver.Job{Name: job, Targets: []string{show(t, nodes).address, show(t, other).address}},
		fault: func() {
			for k := range 5 {
				for _, m := range between {
					m.cut()
				}
				s.Until(fmt.Sprintf("orwl_net_resumes_total{job=%q}", job), func(v float64) bool { return v > float64(k) })
			}
			for _, m := range between {
				m.delay.Store(int64(200 * time.Millisecond))
			}
		},
		alerts: []string{"OrwlStreamsBreak", "OrwlSlowRoundTrips"},
	}
}
