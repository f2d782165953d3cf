// Package quic has the nodes of a run talk over QUIC, which is UDP with TLS and streams of its
// own:
//
//	n, err := p2p.Join(ctx, p2p.Options{Carrier: quic.Carrier, ...})
//
// Addresses stay host:port, and the port is one of UDP.
//
// TCP, the default, moves large blocks several times as fast. The kernel also tells at once
// that the process at the other end of a TCP connection has died, while with QUIC the lease
// has to end first.
package quic
