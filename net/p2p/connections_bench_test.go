package p2p

import (
	"io"
	"testing"

	"github.com/libp2p/go-libp2p/core/network"
	corepeer "github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/core/transport"
	"github.com/multiformats/go-multiaddr"
	"github.com/multiformats/go-multistream"

	"github.com/orwl/go-orwl/net/p2p/p2ptest"
)

// BenchmarkConnections is a round trip of 32 bytes between two hosts: alone, beside bulk
// on the same connection, and beside bulk on a second one. It says why a lane has a
// connection of its own.
func BenchmarkConnections(b *testing.B) {
	const echoes, drains protocol.ID = "/echo", "/drain"
	here, there := userHost(b, 0, 2, p2ptest.TCP), userHost(b, 1, 2, p2ptest.TCP)
	there.SetStreamHandler(echoes, func(s network.Stream) { echo(s, 32) })
	there.SetStreamHandler(drains, func(s network.Stream) { _, _ = io.Copy(io.Discard, s) }) // until it is reset
	if err := here.Connect(b.Context(), corepeer.AddrInfo{ID: there.ID(), Addrs: there.Addrs()}); err != nil {
		b.Fatal(err)
	}
	same := func() io.Writer {
		s, err := here.NewStream(b.Context(), there.ID(), drains)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { s.Reset() })
		return s
	}
	second := func() io.Writer {
		at := there.Addrs()[0]
		t := here.Network().(interface {
			TransportForDialing(multiaddr.Multiaddr) transport.Transport
		}).TransportForDialing(at)
		conn, err := t.Dial(b.Context(), at, there.ID())
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { conn.Close() })
		s, err := conn.OpenStream(b.Context())
		if err == nil {
			_, err = multistream.SelectOneOf([]protocol.ID{drains}, s)
		}
		if err != nil {
			b.Fatal(err)
		}
		return s
	}
	for _, c := range []struct {
		name string
		bulk func() io.Writer
	}{{"alone", nil}, {"bulk on the same", same}, {"bulk on a second", second}} {
		b.Run(c.name, func(b *testing.B) {
			s, err := here.NewStream(b.Context(), there.ID(), echoes)
			if err != nil {
				b.Fatal(err)
			}
			defer s.Reset()
			stop := make(chan struct{})
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				if c.bulk == nil {
					return
				}
				w, block := c.bulk(), make([]byte, 256<<10)
				for {
					select {
					case <-stop:
						return
					default:
					}
					if _, err := w.Write(block); err != nil {
						b.Error(err)
						return
					}
				}
			}()
			message := make([]byte, 32)
			for b.Loop() {
				if _, err := s.Write(message); err != nil {
					b.Fatal(err)
				}
				if _, err := io.ReadFull(s, message); err != nil {
					b.Fatal(err)
				}
			}
			close(stop)
			<-ended
		})
	}
}
