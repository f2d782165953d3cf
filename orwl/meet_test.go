package orwl

import (
	"context"
	"errors"
	"net"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/orwl/go-orwl/net/p2p/quic"
	"github.com/orwl/go-orwl/orwl/launch"
	"github.com/orwl/go-orwl/orwl/nodes"
)

// TestMeetThenQUIC has nodes find each other by their key. They talk by TCP until they have
// numbers, and then carry everything by QUIC.
func TestMeetThenQUIC(t *testing.T) {
	all, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(all, func(i net.Interface) bool { return i.Flags&net.FlagUp != 0 && i.Flags&net.FlagMulticast != 0 }) {
		if os.Getenv("CI") != "" {
			t.Fatal("no network interface takes multicast")
		}
		t.Skip("no network interface takes multicast")
	}
	const count = 2
	key := launch.NewKey()
	var crew [count]*Nodes
	var errs [count]error
	var joining sync.WaitGroup
	for i := range crew {
		joining.Go(func() {
			crew[i], errs[i] = Join(context.Background(), JoinOptions{
				Place:   &launch.Place{Nodes: count, Unmet: true, Key: key, Listen: "0.0.0.0:0", How: launch.Rendezvous},
				Network: nodes.Network{Carrier: quic.Carrier}, Lease: time.Minute, Log: silent,
			})
		})
	}
	joining.Wait()
	if err := errors.Join(errs[:]...); err != nil {
		t.Fatal(err)
	}
	defer disband(t, crew[:])
	each(crew[:], func(_ int, n *Nodes) {
		said, err := n.Gather(t.Context(), "number", []byte{byte(n.Number())})
		if err != nil || len(said) != count || said[0][0] != 0 || said[1][0] != 1 {
			t.Errorf("node %d hears %v, %v", n.Number(), said, err)
		}
	})
}
