package p2p

import (
	"slices"
	"testing"
	"time"

	"github.com/orwl/go-orwl/net/p2p/quic"
)

// BenchmarkCarriers compares the ways to carry bytes between two nodes of this process: parcels
// of 32 bytes back and forth, blocks of 1 MiB, and the time that 99 of 100 round trips take at
// most while blocks travel.
func BenchmarkCarriers(b *testing.B) {
	for _, c := range []struct {
		name    string
		carrier Carrier
	}{{"TCP and TLS", Carrier{}}, {"QUIC", quic.Carrier}} {
		b.Run(c.name, func(b *testing.B) {
			nodes := run(b, 2, func(o *Options) { o.Carrier = c.carrier })
			ping, block := pings(b, nodes), blocks(b, nodes)
			b.Run("ping-pong", func(b *testing.B) {
				for b.Loop() {
					ping(b)
				}
			})
			b.Run("bulk", func(b *testing.B) {
				b.SetBytes(mebi)
				for b.Loop() {
					block(b)
				}
			})
			b.Run("p99", func(b *testing.B) {
				var idle, beside []float64
				for b.Loop() {
					idle = append(idle, p99(b, ping))
					stop, stopped := make(chan struct{}), make(chan struct{})
					go func() {
						defer close(stopped)
						for more := true; more; {
							select {
							case <-stop:
								more = false
							default:
								block(b)
							}
						}
					}()
					beside = append(beside, p99(b, ping))
					close(stop)
					<-stopped
				}
				b.ReportMetric(median(idle), "ns-idle")
				b.ReportMetric(median(beside), "ns-beside-bulk")
			})
		})
	}
}

const mebi = 1 << 20

// pings is what sends 32 bytes to node 1, and waits until they are back, by channel 1.
func pings(b *testing.B, nodes []*Node) func(b *testing.B) {
	back := make(chan struct{}, 1)
	for _, n := range nodes {
		receive(b, n, func(int, []byte, []byte) error {
			if n == nodes[0] {
				back <- struct{}{}
				return nil
			}
			return n.Send(0, 1, make([]byte, 32), nil, false)
		})
	}
	message := make([]byte, 32)
	return func(b *testing.B) {
		if err := nodes[0].Send(1, 1, message, nil, false); err != nil {
			b.Error(err)
		}
		<-back
	}
}

// blocks is what sends 1 MiB to node 1, and waits until it has come, by channel 2.
func blocks(b *testing.B, nodes []*Node) func(b *testing.B) {
	came := make(chan struct{}, 1)
	taker := Receiver{Take: func(int, []byte, []byte) error { came <- struct{}{}; return nil }}
	if err := nodes[1].Receive(2, taker); err != nil {
		b.Fatal(err)
	}
	block := make([]byte, mebi)
	return func(b *testing.B) {
		if err := nodes[0].Send(1, 2, nil, block, true); err != nil {
			b.Error(err)
		}
		<-came
	}
}

// p99 is how many nanoseconds 99 of 100 round trips take at most.
func p99(b *testing.B, ping func(b *testing.B)) float64 {
	took := make([]float64, 2000)
	for i := range took {
		began := time.Now()
		ping(b)
		took[i] = float64(time.Since(began).Nanoseconds())
	}
	slices.Sort(took)
	return took[len(took)*99/100]
}
