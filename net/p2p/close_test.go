package p2p

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/net/p2p/internal/lane"
	"github.com/orwl/go-orwl/net/p2p/internal/membership"
	"github.com/orwl/go-orwl/net/p2p/internal/transport"
	"github.com/orwl/go-orwl/net/p2p/quic"
	"github.com/orwl/go-orwl/net/wire"
)

// Parcels that were sent before Close are taken, on both lanes, and then the node has left.
func TestCloseTakesEverythingAlong(t *testing.T) {
	t.Parallel()
	const parcels = 20
	nodes := run(t, 2, nil)
	var small, large atomic.Int64
	receive(t, nodes[1], func(_ int, _, bulk []byte) error {
		if len(bulk) > 0 {
			large.Add(1)
		} else {
			small.Add(1)
		}
		return nil
	})
	lost := make(chan error, 1)
	nodes[1].OnLoss(func(_ int, why error) {
		if s, l := small.Load(), large.Load(); s != parcels || l != parcels {
			t.Errorf("node 0 left after %d and %d parcels, want %d of each", s, l, parcels)
		}
		lost <- why
	})
	for range parcels {
		for _, size := range []int{0, 1 << 20} {
			if err := nodes[0].Send(1, 1, nil, make([]byte, size), true); err != nil {
				t.Fatal(err)
			}
		}
	}
	closeAll(t, nodes[0])
	if err := await(t, lost, "the end"); !errors.Is(err, ErrLeft) {
		t.Errorf("node 0 is gone by %v, want ErrLeft", err)
	}
	if err := nodes[0].Send(1, 1, nil, nil, false); !errors.Is(err, ErrClosed) {
		t.Errorf("Send of a closed node: %v, want ErrClosed", err)
	}
	if _, err := nodes[0].Gather(soon(t), "end", nil); err == nil {
		t.Error("a closed node gathers")
	}
	if err := nodes[0].Close(soon(t)); err != nil {
		t.Errorf("closing again: %v", err)
	}
}

// A node that closes as soon as it hears that another leaves acknowledges the goodbye first, and not
// what comes after it: the other does not wait for it until it gives up. With QUIC nothing else
// tells that a node has gone, and giving up takes longer than closeAll waits. A beat that comes after
// the end of a direction must not break the stream: then the acknowledgement is lost now and then.
func TestCloseAtGoodbye(t *testing.T) {
	t.Parallel()
	for range 10 {
		nodes := run(t, 2, func(o *Options) { o.Carrier, o.Lease, o.JoinTimeout = quic.Carrier, 10*patience, 10*patience })
		receive(t, nodes[1], func(int, []byte, []byte) error { return nil })
		ended := make(chan error, 1)
		nodes[1].OnLoss(func(int, error) { go func() { ended <- nodes[1].Close(soon(t)) }() })
		l := &nodes[0].peer(1).lanes[transport.Control]
		l.Bye(true)
		if err := l.Send(&wire.Parcel{Channel: 1}, nil, false); err != nil {
			t.Fatal(err)
		}
		if err := l.Settled(soon(t)); err != nil && !errors.Is(err, ErrLeft) {
			t.Fatal(err)
		}
		closeAll(t, nodes[0])
		if err := await(t, ended, "the end of node 1"); err != nil {
			t.Fatal(err)
		}
	}
}

// The other lane's reader may be handing over a parcel, acknowledged already, while this
// one's hears that the node has left: observers hear of that afterwards.
func TestLeftIsToldLast(t *testing.T) {
	nodes := run(t, 2, nil)
	take, told := make(chan struct{}), make(chan struct{})
	var taken atomic.Bool
	receive(t, nodes[1], func(int, []byte, []byte) error {
		<-take
		taken.Store(true)
		return nil
	})
	nodes[1].OnLoss(func(int, error) {
		if !taken.Load() {
			t.Error("node 0 has left, and its parcel is not taken yet")
		}
		close(told)
	})
	if err := nodes[0].Send(1, 1, nil, make([]byte, lane.DataFrom), true); err != nil {
		t.Fatal(err)
	}
	closeAll(t, nodes[0]) // its goodbye was acknowledged, so node 1 knows
	for range 1000 {
		runtime.Gosched() // and might tell
	}
	close(take)
	await(t, told, "the end")
}

// TestCloseTogether closes all nodes at the same time, whatever is on its way.
func TestCloseTogether(t *testing.T) {
	t.Parallel()
	for range rings.Of(4, 10, 10) {
		nodes := run(t, 4, nil)
		for _, n := range nodes {
			receive(t, n, func(int, []byte, []byte) error { return nil })
		}
		for i, n := range nodes {
			for j := range nodes {
				if err := n.Send(j, 1, nil, make([]byte, (i+j)*5000), true); err != nil {
					t.Fatal(err)
				}
			}
		}
		closeAll(t, nodes...)
	}
}

// Close does not wait for ever for a node that takes nothing.
func TestCloseGivesUp(t *testing.T) {
	nodes := run(t, 2, nil)
	block, entered := make(chan struct{}), make(chan struct{})
	var once sync.Once
	receive(t, nodes[1], func(int, []byte, []byte) error {
		once.Do(func() { close(entered) })
		<-block
		return nil
	})
	for range 2 { // the second is not taken
		if err := nodes[0].Send(1, 1, nil, make([]byte, lane.DataFrom), true); err != nil {
			t.Fatal(err)
		}
	}
	await(t, entered, "the first parcel")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := nodes[0].Close(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Close with a context that is done: %v", err)
	}
	close(block)
}

// A process that ends may still read the hello of a connection that was on its way. It says nothing: a refusal would look
// like a node that goes on without the other one. The other nodes would then let its next life in only when a lease is over.
func TestEndsWithoutRefusing(t *testing.T) {
	t.Parallel()
	nodes := run(t, 2, nil)
	gone := make(chan error, 1)
	nodes[1].OnLoss(func(_ int, why error) { gone <- why })
	nodes[0].closing.Store(true) // shut does the same, and stops listening
	nodes[0].peer(1).end(&PeerError{Node: 1, Why: ErrClosed})
	root := nodes[1].peer(0)
	dialled := func() bool {
		root.mu.Lock()
		defer root.mu.Unlock()
		return root.failure != nil
	}
	for !dialled() {
		runtime.Gosched()
	}
	nodes[0].shut()
	var lost *PeerError
	if err := await(t, gone, "the loss"); !errors.As(err, &lost) || lost.state() != membership.Ended {
		t.Errorf("node 0 is gone by %v, want that it has ended", err)
	}
}
