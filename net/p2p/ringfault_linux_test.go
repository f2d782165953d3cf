package p2p

import (
	"bytes"
	"sync"
	"testing"
	"time"

	"github.com/orwl/go-orwl/net/p2p/internal/loan"
	"github.com/orwl/go-orwl/net/p2p/internal/transport"
	"github.com/orwl/go-orwl/net/wire"
)

// TestRingHalfAFrame writes a part of a frame. It is counted as what no correct node sends: a ring has whole frames.
func TestRingHalfAFrame(t *testing.T) {
	r := newRinger(t)
	turn, frame := r.turn(), parcel(2, nil)
	r.writer.Write(frame[:len(frame)-1])
	r.write(r.raw, turn)
	r.closed(r.raw)
	if n := r.counts.Malformed.Load(); n != 1 {
		t.Errorf("counted %d times, want once", n)
	}
}

// TestRingCountsTooMuch says that more is written than the ring has. It is counted as what no correct node sends.
func TestRingCountsTooMuch(t *testing.T) {
	r := newRinger(t)
	r.puts(make([]byte, 10))
	r.write(r.raw, (&wire.Ring{Offset: r.offset, At: r.writer.At() + 1}).Append(nil))
	r.closed(r.raw)
	if n := r.counts.Malformed.Load(); n != 1 {
		t.Errorf("counted %d times, want once", n)
	}
}

// TestRingOfLargeFrames breaks streams in the middle of frames that are larger than a ring.
func TestRingOfLargeFrames(t *testing.T) {
	const parcels, rounds = 4, 40
	nodes := neighbours(t, 2, nil)
	byRing(t, nodes)
	header := bytes.Repeat([]byte{1}, 900<<10)
	arrived := make(chan struct{}, 2*parcels)
	for _, n := range nodes {
		receive(t, n, func(_ int, got, _ []byte) error {
			if !bytes.Equal(header, got) {
				t.Error("other bytes came")
			}
			arrived <- struct{}{}
			return nil
		})
	}
	for range rounds {
		var working sync.WaitGroup
		for _, n := range nodes {
			working.Go(func() {
				for range parcels {
					if err := n.Pace(soon(t), 1-n.number); err != nil {
						t.Error(err)
					}
					if err := n.Send(1-n.number, 1, header, nil, false); err != nil {
						t.Error(err)
					}
				}
			})
		}
		working.Go(func() {
			for range 5 {
				snap(nodes[0], nodes[1], transport.Control)
				await(t, time.After(2*time.Millisecond), "time")
			}
		})
		for range 2 * parcels {
			await(t, arrived, "a parcel")
		}
		working.Wait()
	}
}

// TestRingOfALostPeer gives a peer up while its ring is being read by a stream that has broken before. The memory stays
// mapped until the reader of that stream has ended.
func TestRingOfALostPeer(t *testing.T) {
	nodes := neighbours(t, 2, nil)
	byRing(t, nodes)
	came, goOn := make(chan struct{}), make(chan struct{})
	first := true
	receive(t, nodes[1], func(int, []byte, []byte) error {
		if first {
			first = false
			close(came)
			<-goOn
		}
		return nil
	})
	nodes[0].sendMany(t, transport.Control, 0, 100)
	await(t, came, "a parcel")
	p := nodes[1].peer(0)
	snap(nodes[0], nodes[1], transport.Control)
	for p.lanes[transport.Control].Attached() != nil {
		await(t, time.After(time.Millisecond), "time")
	}
	p.lose(errSilent)
	for range 200 {
		if p.mapping.Load().Condition() == loan.Stopped {
			t.Error("the memory is unmapped, and its reader goes on")
			break
		}
		await(t, time.After(time.Millisecond), "time")
	}
	close(goOn)
}
