package p2p

import (
	"bytes"
	"encoding/binary"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/net/p2p/internal/control"
	"github.com/orwl/go-orwl/net/p2p/internal/loan"
	"github.com/orwl/go-orwl/net/p2p/internal/ring"
	"github.com/orwl/go-orwl/net/p2p/internal/transport"
	"github.com/orwl/go-orwl/net/wire"
)

// byRing waits until the frames of nodes that lend to each other come by rings.
func byRing(t testing.TB, nodes []*Node) {
	t.Helper()
	gatherAll(t, nodes) // what is sent from now on goes by rings
	for _, n := range nodes {
		if got := n.Traffic().In[wire.KindRing].Frames; got != uint64(len(nodes)-1) {
			t.Fatalf("the frames of %d others come to node %d by rings, want %d", got, n.number, len(nodes)-1)
		}
	}
}

// inOrder receives the parcels that sendMany sends by the control lane, and says when each has come.
func inOrder(t testing.TB, n *Node, arrived chan<- struct{}) {
	next := uint64(0)
	receive(t, n, func(_ int, header, bulk []byte) error {
		if number := binary.LittleEndian.Uint64(header[1:]); number != next || !bytes.Equal(bulk, filling(number, len(bulk))) {
			t.Errorf("node %d: parcel %d came, want %d, or it has other bytes", n.number, number, next)
		}
		next++
		arrived <- struct{}{}
		return nil
	})
}

// attends looks at the rings of a node again and again, as workers do, until stop is called.
func attends(n *Node) (stop func()) {
	var over atomic.Bool
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			for !over.Load() {
				n.Attend()
				for range 50 {
					n.Look()
				}
				n.Leave()
			}
		})
	}
	return func() {
		over.Store(true)
		all.Wait()
	}
}

// TestRings exchanges parcels between nodes whose connection carries nothing any more.
func TestRings(t *testing.T) {
	t.Parallel()
	const parcels = 3000
	for name, workers := range map[string]bool{"bells": false, "workers": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address, root, _ := start(t, 2, nil)
			between := newRelay(t, address)
			one, err := Join(soon(t), Options{Number: 1, Nodes: 2, Key: testKey, Lease: unhurried, Root: between.Addr().String()})
			if err != nil {
				t.Fatal(err)
			}
			nodes := []*Node{await(t, root, "node 0"), one}
			t.Cleanup(func() { closeAll(t, nodes...) })
			lendAll(t, nodes)
			byRing(t, nodes)
			between.stand(true)
			arrived := make(chan struct{}, 2*parcels)
			var sending sync.WaitGroup
			for _, n := range nodes {
				inOrder(t, n, arrived)
				if workers {
					defer attends(n)()
				}
			}
			for _, n := range nodes {
				sending.Go(func() { n.sendMany(t, transport.Control, 0, parcels) })
			}
			for range 2 * parcels {
				await(t, arrived, "a parcel")
			}
			sending.Wait()
			for _, n := range nodes {
				if got := n.Traffic().In[wire.KindRing].Frames; got != 1 {
					t.Errorf("node %d has had %d streams with rings, want 1", n.number, got)
				}
			}
			between.mend()
			snap(nodes[0], nodes[1], transport.Control)
			gatherAll(t, nodes)
			byRingAgain(t, nodes)
		})
	}
}

// byRingAgain checks that a second stream uses the rings, too.
func byRingAgain(t *testing.T, nodes []*Node) {
	t.Helper()
	gatherAll(t, nodes)
	for _, n := range nodes {
		if got := n.Traffic().In[wire.KindRing].Frames; got != 2 {
			t.Errorf("node %d has had %d streams with rings, want 2", n.number, got)
		}
	}
}

// TestRingsOfBrokenStreams breaks streams while much is in the rings. Each parcel comes once, in order.
func TestRingsOfBrokenStreams(t *testing.T) {
	t.Parallel()
	const parcels = 500
	rounds := rings.Of[uint64](10, 40, 40)
	counts := new(Counts)
	nodes := neighbours(t, 2, func(o *Options) { o.Counts = counts })
	byRing(t, nodes)
	arrived := make(chan struct{}, 2*parcels)
	for _, n := range nodes {
		inOrder(t, n, arrived)
	}
	defer attends(nodes[1])()
	for round := range rounds {
		var working sync.WaitGroup
		for _, n := range nodes {
			working.Go(func() { n.sendMany(t, transport.Control, round*parcels, parcels) })
		}
		working.Go(func() { snap(nodes[0], nodes[1], transport.Control) })
		for range 2 * parcels {
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

// TestFullRing sends more than a ring has room for, to a node that takes nothing meanwhile.
func TestFullRing(t *testing.T) {
	t.Parallel()
	const parcels = 15_000
	counts := [2]*Counts{new(Counts), new(Counts)}
	nodes := neighbours(t, 2, func(o *Options) { o.Counts = counts[o.Number] })
	byRing(t, nodes)
	arrived, goOn := make(chan struct{}, parcels), make(chan struct{})
	next := uint64(0)
	receive(t, nodes[1], func(_ int, header, bulk []byte) error {
		<-goOn
		if number := binary.LittleEndian.Uint64(header[1:]); number != next || !bytes.Equal(bulk, filling(number, len(bulk))) {
			t.Errorf("parcel %d came, want %d, or it has other bytes", number, next)
		}
		next++
		arrived <- struct{}{}
		return nil
	})
	before := counts[0].BytesOut.Load()
	nodes[0].sendMany(t, transport.Control, 0, parcels)
	for counts[0].BytesOut.Load()-before <= ring.Size { // more than that may have been read already, or not
		await(t, time.After(time.Millisecond), "time")
	}
	close(goOn)
	for range parcels {
		await(t, arrived, "a parcel")
	}
	for i, c := range counts {
		if n := c.Resumes.Load() + c.Malformed.Load(); n > 0 {
			t.Errorf("node %d: %d streams were resumed, or had faults", i, n)
		}
	}
}

// TestCloseByRing closes a node that has much in a ring still.
func TestCloseByRing(t *testing.T) {
	t.Parallel()
	const parcels = 5000
	nodes := neighbours(t, 2, nil)
	byRing(t, nodes)
	var came atomic.Int64
	goOn := make(chan struct{})
	receive(t, nodes[1], func(int, []byte, []byte) error {
		<-goOn
		came.Add(1)
		return nil
	})
	lost := make(chan error, 1)
	nodes[1].OnLoss(func(_ int, why error) {
		if n := came.Load(); n != parcels {
			t.Errorf("node 0 left after %d parcels, want %d", n, parcels)
		}
		lost <- why
	})
	nodes[0].sendMany(t, transport.Control, 0, parcels)
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		closeAll(t, nodes[0])
	}()
	for !nodes[0].closing.Load() {
		await(t, time.After(time.Millisecond), "time")
	}
	close(goOn)
	await(t, closed, "the end of node 0")
	if err := await(t, lost, "the loss"); !errors.Is(err, ErrLeft) {
		t.Errorf("node 0 is gone by %v, want ErrLeft", err)
	}
}

// ringer is mallory with a ring in memory that node 0 has mapped.
type ringer struct {
	*mallory
	raw    transport.Stream
	writer *ring.Writer
	offset uint64
	there  *loan.Mapping
}

// newRinger has mallory offer memory by a frame with number 1.
func newRinger(t *testing.T) *ringer {
	t.Helper()
	r := &ringer{mallory: newMallory(t, form{})}
	arena, err := loan.NewArena(3)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(arena.Close)
	if r.there, err = loan.Map(r.nodes[0].memory.Shared().Offer, 3, 2); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.there.Close)
	var offset int
	r.writer, offset = arena.Ring(r.there)
	r.offset = uint64(offset)
	r.raw = r.open(transport.Control, 0)
	r.write(r.raw, own(1, control.Message{Arena: &control.Arena{
		Machine: r.nodes[0].machine, PID: arena.Offer.PID, FD: arena.Offer.FD, Token: arena.Offer.Token,
	}}))
	for r.nodes[0].peer(2).mapping.Load() == nil {
		await(t, time.After(time.Millisecond), "time")
	}
	return r
}

// turn says that what follows comes by the ring.
func (r *ringer) turn() []byte { return (&wire.Ring{Offset: r.offset, At: r.writer.At()}).Append(nil) }

// puts writes to the ring, and wakes node 0.
func (r *ringer) puts(b []byte) {
	r.writer.Write(b)
	if r.writer.Rings() {
		r.there.Wake()
	}
}

// takes waits until node 0 has taken a parcel by the ring.
func (r *ringer) takes() {
	r.t.Helper()
	r.puts(parcel(2, nil))
	for r.took.Load() == 0 {
		await(r.t, time.After(time.Millisecond), "time")
	}
}

// TestRingBeforeItsFrame fills a ring, and rings, before node 0 knows of the ring. What is there is taken all the same.
func TestRingBeforeItsFrame(t *testing.T) {
	t.Parallel()
	r := newRinger(t)
	turn := r.turn()
	r.puts(parcel(2, nil))
	for attention := r.nodes[0].memory.Shared().Attention(); attention.Load() != 3; { // the bell is heard, and nobody looks again
		await(t, time.After(time.Millisecond), "time")
	}
	r.write(r.raw, turn)
	for r.took.Load() == 0 {
		await(t, time.After(time.Millisecond), "time")
	}
	r.undisturbed()
}

// TestHostileRings sends what no correct node sends. Each closes a stream, and is counted.
func TestHostileRings(t *testing.T) {
	t.Parallel()
	for name, attack := range map[string]func(r *ringer){
		"bytes behind, at once": func(r *ringer) { r.write(r.raw, append(r.turn(), 0)) },
		"bytes behind": func(r *ringer) {
			r.write(r.raw, r.turn())
			r.takes()
			r.write(r.raw, []byte{0})
		},
		"a second ring": func(r *ringer) {
			r.write(r.raw, r.turn())
			r.takes()
			r.puts(r.turn())
		},
		"outside": func(r *ringer) {
			r.offset = uint64(loan.Size)
			r.write(r.raw, r.turn())
		},
		"far outside": func(r *ringer) {
			r.offset = 1<<64 - 64
			r.write(r.raw, r.turn())
		},
		"before": func(r *ringer) {
			r.offset = 0
			r.write(r.raw, r.turn())
		},
		"by data": func(r *ringer) {
			r.raw = r.open(transport.Data, 0)
			r.write(r.raw, r.turn())
		},
		"noise": func(r *ringer) {
			r.write(r.raw, r.turn())
			r.puts(make([]byte, 100))
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRinger(t)
			attack(r)
			r.closed(r.raw)
			if n := r.counts.Malformed.Load(); n != 1 {
				t.Errorf("counted %d times, want once", n)
			}
			r.undisturbed()
		})
	}
}

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
