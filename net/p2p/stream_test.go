package p2p

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/net/p2p/internal/lane"
	"github.com/orwl/go-orwl/net/p2p/internal/transport"
	"github.com/orwl/go-orwl/net/wire"
)

// Whatever becomes of the streams, each parcel comes once and in order.
func TestBrokenStreams(t *testing.T) {
	t.Parallel()
	const small, large = 200, 10
	rounds := rings.Of[uint64](10, 40, 40)
	counts := new(Counts)
	nodes := run(t, 2, func(o *Options) { o.Counts = counts })
	arrived := make(chan struct{}, 2*(small+large))
	for i, n := range nodes {
		var next [transport.Kinds]uint64
		receive(t, n, func(_ int, header, bulk []byte) error {
			kind, number := transport.Kind(header[0]), binary.LittleEndian.Uint64(header[1:])
			if want := next[kind]; number != want {
				t.Errorf("node %d, %v lane: parcel %d came, want %d", i, kind, number, want)
			}
			next[kind]++
			if !bytes.Equal(bulk, filling(number, len(bulk))) {
				t.Errorf("node %d, %v lane: parcel %d has other bytes", i, kind, number)
			}
			arrived <- struct{}{}
			return nil
		})
	}
	random := rand.New(rand.NewPCG(1, 2))
	for round := range rounds {
		var working sync.WaitGroup
		for _, n := range nodes {
			working.Go(func() { n.sendMany(t, transport.Control, round*small, small) })
			working.Go(func() { n.sendMany(t, transport.Data, round*large, large) })
		}
		kind := transport.Kind(random.IntN(2))
		working.Go(func() { snap(nodes[0], nodes[1], kind) })
		for range 2 * (small + large) {
			await(t, arrived, "a parcel")
		}
		working.Wait()
	}
	if counts.Resumes.Load() < rounds/2 {
		t.Errorf("%d streams were resumed, that is no test", counts.Resumes.Load())
	}
	if n := counts.Malformed.Load() + counts.Checksums.Load() + counts.Oversize.Load(); n > 0 {
		t.Errorf("%d frames of correct nodes were not taken", n)
	}
	t.Logf("%d streams, %d resumed, %d frames came again", counts.Streams.Load(), counts.Resumes.Load(), counts.Duplicates.Load())
}

// snap closes the connections of a lane between two nodes, as a network would. A host that dials
// a second connection does not keep it, and the host at the other end does.
func snap(a, b *Node, kind transport.Kind) {
	for _, ends := range [][2]*Node{{a, b}, {b, a}} {
		for _, c := range ends[0].host.Network().ConnsToPeer(ends[1].host.ID()) {
			for _, s := range c.GetStreams() {
				if s.Protocol() == protocol.ID(fmt.Sprintf("/orwl/%v/1", kind)) {
					c.Close()
				}
			}
		}
	}
}

// sendMany sends parcels to the other of two nodes by one lane.
func (n *Node) sendMany(t *testing.T, kind transport.Kind, from, parcels uint64) {
	for i := from; i < from+parcels; i++ {
		size := int(i % 300)
		if kind == transport.Data {
			size = lane.DataFrom + int(i%50)*5000
		}
		header := binary.LittleEndian.AppendUint64([]byte{byte(kind)}, i)
		if err := n.Send(1-n.number, 1, header, filling(i, size), i%2 == 0); err != nil {
			t.Error(err)
		}
	}
}

// filling is what a parcel's bulk is made of.
func filling(number uint64, size int) []byte {
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(int(number) + i*7)
	}
	return b
}

// Both begin at once, again and again: one stream is left, and nothing is lost.
func TestBothDial(t *testing.T) {
	t.Parallel()
	const rounds = 30
	nodes := run(t, 3, nil)
	got := make(chan int, 2)
	for i, n := range nodes[1:] {
		receive(t, n, func(int, []byte, []byte) error {
			got <- i
			return nil
		})
	}
	for range rounds {
		var both sync.WaitGroup
		for _, n := range nodes[1:] {
			both.Go(func() {
				if err := n.Send(3-n.number, 1, nil, nil, false); err != nil {
					t.Error(err)
				}
			})
		}
		both.Wait()
		if a, b := await(t, got, "a parcel"), await(t, got, "a parcel"); a == b {
			t.Fatalf("two parcels came to node %d", a+1)
		}
		snap(nodes[1], nodes[2], transport.Control)
	}
}

// A parcel that no correct node sends closes the stream, and nothing else.
func TestReceiverRefuses(t *testing.T) {
	counts := new(Counts)
	nodes := run(t, 2, func(o *Options) { o.Counts = counts })
	got := make(chan string, 10)
	receive(t, nodes[1], func(_ int, header, _ []byte) error {
		got <- string(header)
		if string(header) == "bad" {
			return protocolError("bad")
		}
		return nil
	})
	for _, header := range []string{"good", "bad", "better"} {
		if err := nodes[0].Send(1, 1, []byte(header), nil, false); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{"good", "bad", "better"} {
		if header := await(t, got, "a parcel"); header != want {
			t.Errorf("%q came, want %q", header, want)
		}
	}
	if n := counts.Malformed.Load(); n != 1 {
		t.Errorf("%d frames counted as malformed, want 1", n)
	}
	if err := nodes[0].Lost(1); err != nil {
		t.Errorf("one bad parcel, and %v", err)
	}
}

// A node that goes on with it is given up.
func TestReceiverRefusesAll(t *testing.T) {
	nodes := run(t, 2, nil)
	lost := make(chan error, 1)
	nodes[1].OnLoss(func(_ int, why error) { lost <- why })
	receive(t, nodes[1], func(int, []byte, []byte) error { return protocolError("bad") })
	for range mostFaults {
		if err := nodes[0].Send(1, 1, nil, nil, false); err != nil {
			t.Fatal(err)
		}
	}
	if err := await(t, lost, "the loss"); !errors.Is(err, ErrProtocol) || !errors.Is(err, ErrLost) {
		t.Errorf("lost by %v, want ErrProtocol", err)
	}
}

// Frames that the other end of a new stream has taken are no longer waited for, though it never
// was acknowledged on the old one.
func TestResumeSettles(t *testing.T) {
	m := newMallory(t, form{})
	l := &m.nodes[0].peer(2).lanes[transport.Control]
	if err := m.nodes[0].Send(2, 1, nil, nil, false); err != nil {
		t.Fatal(err)
	}
	settled, waits := make(chan error, 1), noticed{soon(t), make(chan struct{}, 1)}
	go func() { settled <- l.Settled(waits) }()
	await(t, waits.asked, "a goroutine that waits")
	in := wire.NewInput(m.first, wire.MaxBulk)
	last := l.Next() - 1
	for h := (wire.Head{}); h.Number < last; {
		var err error
		if h, _, err = in.Next(); err != nil {
			t.Fatal(err)
		}
	}
	m.open(transport.Control, last)
	if err := await(t, settled, "the end of waiting"); err != nil {
		t.Error(err)
	}
}

// noticed is a context that says when a goroutine begins to wait for its end.
type noticed struct {
	context.Context
	asked chan struct{}
}

// Done implements context.Context.
func (n noticed) Done() <-chan struct{} {
	select {
	case n.asked <- struct{}{}:
	default: // it was said before
	}
	return n.Context.Done()
}
