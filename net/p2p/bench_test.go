package p2p

import (
	"context"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orwl/go-orwl/net/p2p/internal/transport"
)

// bare is a libp2p stream of a lane's kind between two nodes' hosts, with nothing of
// ours above it: what a lane is measured against.
func bare(b *testing.B, nodes []*Node, kind transport.Kind) (here, there *transport.Conn) {
	h, err := transport.New(nodes[1].options.host(nodes[1].lanes.Talk))
	if err != nil {
		b.Fatal(err)
	}
	address, err := h.Listen(b.Context(), "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	accepted := make(chan *transport.Conn, 1)
	go func() {
		conn, _, err := h.Accept()
		if err != nil {
			b.Error(err)
		}
		accepted <- conn
	}()
	here, err = nodes[0].host.Dial(b.Context(), 1, address, kind)
	if err != nil {
		b.Fatal(err)
	}
	there = await(b, accepted, "the connection")
	b.Cleanup(func() {
		here.Close()
		there.Close()
		h.Deafen()
		h.Close()
	})
	return here, there
}

// BenchmarkPingPong is a round trip of 32 bytes, on a bare stream and as parcels.
func BenchmarkPingPong(b *testing.B) {
	nodes := run(b, 2, nil)
	var floor time.Duration
	b.Run("bare", func(b *testing.B) {
		here, there := bare(b, nodes, transport.Control)
		go echo(there, 32)
		message := make([]byte, 32)
		for b.Loop() {
			if _, err := here.Write(message); err != nil {
				b.Fatal(err)
			}
			if _, err := io.ReadFull(here, message); err != nil {
				b.Fatal(err)
			}
		}
		floor = b.Elapsed() / time.Duration(b.N)
	})
	b.Run("parcels", func(b *testing.B) {
		back := make(chan struct{}, 1)
		receiveAll(b, nodes, func(n *Node, _ int, header []byte) error {
			if n == nodes[0] {
				back <- struct{}{}
				return nil
			}
			return n.Send(0, 1, header, nil, false)
		})
		message := make([]byte, 32)
		b.ResetTimer()
		for b.Loop() {
			if err := nodes[0].Send(1, 1, message, nil, false); err != nil {
				b.Fatal(err)
			}
			<-back
		}
		ratio(b, floor)
	})
}

// ratio reports how many times as long as the floor it took.
func ratio(b *testing.B, floor time.Duration) {
	if floor > 0 {
		b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(floor), "x-bare")
	}
}

func echo(s transport.Stream, size int) {
	message := make([]byte, size)
	for {
		if _, err := io.ReadFull(s, message); err != nil {
			return
		}
		if _, err := s.Write(message); err != nil {
			return
		}
	}
}

// receiveAll replaces the receiver of channel 1.
func receiveAll(b *testing.B, nodes []*Node, f func(n *Node, from int, header []byte) error) {
	for _, n := range nodes {
		receivers := map[uint64]Receiver{
			ownChannel: {Take: n.takeOwn},
			1:          {Take: func(from int, header, _ []byte) error { return f(n, from, header) }},
		}
		n.receivers.Store(&receivers)
	}
}

// BenchmarkRequests is 64 goroutines, each with one request of 32 bytes on its way.
func BenchmarkRequests(b *testing.B) {
	const clients = 64
	nodes := run(b, 2, nil)
	var back [clients]chan struct{}
	for i := range back {
		back[i] = make(chan struct{}, 1)
	}
	receiveAll(b, nodes, func(n *Node, _ int, header []byte) error {
		if n == nodes[0] {
			back[header[0]] <- struct{}{}
			return nil
		}
		return n.Send(0, 1, header, nil, false)
	})
	var all sync.WaitGroup
	var left atomic.Int64
	left.Store(int64(b.N))
	b.ResetTimer()
	for i := range clients {
		all.Go(func() {
			message := make([]byte, 32)
			message[0] = byte(i)
			for left.Add(-1) >= 0 {
				if err := nodes[0].Send(1, 1, message, nil, false); err != nil {
					b.Error(err)
				}
				<-back[i]
			}
		})
	}
	all.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "requests/s")
}

// BenchmarkOneWay is parcels of 32 bytes, one after the other.
func BenchmarkOneWay(b *testing.B) {
	nodes := run(b, 2, nil)
	var arrived atomic.Int64
	done := make(chan struct{})
	receiveAll(b, nodes, func(*Node, int, []byte) error {
		if arrived.Add(1) == int64(b.N) {
			close(done)
		}
		return nil
	})
	message := make([]byte, 32)
	b.ResetTimer()
	for i := range b.N {
		if i%256 == 0 {
			if err := nodes[0].Pace(context.Background(), 1); err != nil {
				b.Fatal(err)
			}
		}
		if err := nodes[0].Send(1, 1, message, nil, false); err != nil {
			b.Fatal(err)
		}
	}
	<-done
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "parcels/s")
}

// BenchmarkBulk is large blocks, one after the other, on a bare stream and as parcels, in
// turns, as what the machine does meanwhile is not the same from one second to the next.
func BenchmarkBulk(b *testing.B) {
	for _, c := range []struct {
		name         string
		bytes, turns int
	}{{"1MiB", 1 << 20, 16}, {"64MiB", 64 << 20, 1}} {
		b.Run(c.name, func(b *testing.B) {
			nodes := run(b, 2, nil)
			bare, parcel := bulkBare(b, nodes, c.bytes), bulkParcel(b, nodes, c.bytes)
			var floor, ours, ratios []float64
			rate := func(move func()) float64 {
				began := time.Now()
				for range c.turns {
					move()
				}
				return float64(c.turns*c.bytes) / 1e6 / time.Since(began).Seconds()
			}
			for b.Loop() {
				floor, ours = append(floor, rate(bare)), append(ours, rate(parcel))
				ratios = append(ratios, ours[len(ours)-1]/floor[len(floor)-1])
			}
			b.ReportMetric(median(ours), "MB/s-parcels")
			b.ReportMetric(median(floor), "MB/s-bare")
			b.ReportMetric(median(ratios), "ratio")
			b.ReportMetric(0.9, "goal")
		})
	}
}

// bulkBare is what moves a block by a bare stream.
func bulkBare(b *testing.B, nodes []*Node, size int) func() {
	here, there := bare(b, nodes, transport.Data)
	back := make(chan struct{}, 1)
	go func() {
		block := make([]byte, size)
		for {
			if _, err := io.ReadFull(there, block); err != nil {
				return
			}
			back <- struct{}{}
		}
	}()
	block := make([]byte, size)
	return func() {
		if _, err := here.Write(block); err != nil {
			b.Fatal(err)
		}
		<-back
	}
}

// bulkParcel is what moves a block as a parcel.
func bulkParcel(b *testing.B, nodes []*Node, size int) func() {
	back := make(chan struct{}, 1)
	receivers := map[uint64]Receiver{ownChannel: {Take: nodes[1].takeOwn}, 1: {
		Take: func(int, []byte, []byte) error { back <- struct{}{}; return nil },
		Swap: func(_ int, _, bulk []byte) ([]byte, error) { back <- struct{}{}; return bulk, nil },
	}}
	nodes[1].receivers.Store(&receivers)
	block := make([]byte, size)
	return func() {
		if err := nodes[0].Send(1, 1, nil, block, true); err != nil {
			b.Fatal(err)
		}
		<-back
	}
}

func median(all []float64) float64 {
	slices.Sort(all)
	return all[len(all)/2]
}
