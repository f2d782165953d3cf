package session

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/orwl/go-orwl/net/p2p"
)

// BenchmarkHandover passes one lock between sessions, all on one machine, over TCP with TLS. A
// hand-over needs a way to the server and a way back. Compare it with pingpong, which sends 32
// bytes there and back on the same streams without us.
func BenchmarkHandover(b *testing.B) {
	b.Run("pingpong", pingPong)
	for _, sessions := range []int{1, 2, 16} {
		b.Run(fmt.Sprintf("lock/sessions=%d", sessions), func(b *testing.B) { handOver(b, sessions) })
	}
}

func pingPong(b *testing.B) {
	node, err := p2p.Join(soon(b), p2p.Options{Nodes: 1, Key: testKey, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	defer node.Close(context.Background())
	node.Admit(func(s p2p.Stream) {
		defer s.Close()
		word := make([]byte, 32)
		for {
			if _, err := io.ReadFull(s, word); err != nil {
				return
			}
			if _, err := s.Write(word); err != nil {
				return
			}
		}
	})
	s, err := p2p.DialSession(soon(b), p2p.SessionOptions{Address: node.Address(), Key: testKey})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	word := make([]byte, 32)
	for b.Loop() {
		if _, err := s.Write(word); err != nil {
			b.Fatal(err)
		}
		if _, err := io.ReadFull(s, word); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "trips/s")
}

// handOver lets sessions lock and unlock, and counts how often the lock is held.
func handOver(b *testing.B, sessions int) {
	server := serve(b, func(o *ServerOptions) { o.Lease = time.Minute })
	turns := make(chan struct{}, 1<<10)
	over := make(chan error, sessions)
	for range sessions {
		s := dial(b, server.Address(), "bench")
		go func() {
			var err error
			for range turns {
				var l *Lock
				if l, err = s.Lock(context.Background(), "x"); err != nil {
					break
				}
				if err = l.Unlock(context.Background()); err != nil {
					break
				}
			}
			over <- err
		}()
	}
	b.ResetTimer()
	for range b.N {
		turns <- struct{}{}
	}
	close(turns)
	for range sessions {
		if err := <-over; err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "handovers/s")
}
