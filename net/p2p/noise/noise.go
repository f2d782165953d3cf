package noise

import (
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/sec"
	"github.com/libp2p/go-libp2p/p2p/net/upgrader"
	"github.com/libp2p/go-libp2p/p2p/security/noise"

	"github.com/orwl/go-orwl/net/p2p/internal/transport"
)

// Carrier is TCP, noise and yamux, for Options.Carrier of package p2p.
var Carrier = transport.Carrier{Secure: func(private crypto.PrivKey, muxers []upgrader.StreamMuxer) (sec.SecureTransport, error) {
	return noise.New(noise.ID, private, muxers)
}}
