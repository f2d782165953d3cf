package quic

import (
	"context"
	"crypto/hkdf"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"

	"github.com/libp2p/go-libp2p/core/connmgr"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/network"
	libp2ptransport "github.com/libp2p/go-libp2p/core/transport"
	libp2pquic "github.com/libp2p/go-libp2p/p2p/transport/quic"
	"github.com/libp2p/go-libp2p/p2p/transport/quicreuse"
	quicgo "github.com/quic-go/quic-go"

	"github.com/orwl/go-orwl/net/p2p/internal/transport"
)

// Carrier is QUIC, for Options.Carrier of package p2p.
var Carrier = transport.Carrier{QUIC: newTransport}

func init() { transport.Linked["quic"] = Carrier }

func newTransport(private crypto.PrivKey, gater connmgr.ConnectionGater, manager network.ResourceManager) (libp2ptransport.Transport, io.Closer, error) {
	raw, err := private.Raw()
	if err != nil {
		return nil, nil, fmt.Errorf("the node's key: %w", err)
	}
	reset, err := derive(raw, "orwl quic reset")
	if err != nil {
		return nil, nil, err
	}
	token, err := derive(raw, "orwl quic token")
	if err != nil {
		return nil, nil, err
	}
	sockets, err := quicreuse.NewConnManager(reset, token,
		quicreuse.VerifySourceAddress(manager.VerifySourceAddress), quicreuse.ConnContext(counted(manager)))
	if err != nil {
		return nil, nil, err
	}
	t, err := libp2pquic.NewTransport(private, sockets, nil, gater, manager)
	if err != nil {
		return nil, nil, errors.Join(err, sockets.Close())
	}
	return t, sockets, nil
}

// derive makes a key for one purpose from the node's.
func derive(private []byte, purpose string) (key [32]byte, err error) {
	seed, err := hkdf.Key(sha256.New, private, nil, purpose, len(key))
	if err != nil {
		return key, fmt.Errorf("deriving %q: %w", purpose, err)
	}
	return [32]byte(seed), nil
}

// counted has the resource manager count a connection from its first packet on: there is no
// identity yet, so it is one of those that strangers may have together.
func counted(manager network.ResourceManager) func(context.Context, *quicgo.ClientInfo) (context.Context, error) {
	return func(ctx context.Context, from *quicgo.ClientInfo) (context.Context, error) {
		at, err := quicreuse.ToQuicMultiaddr(from.RemoteAddr, quicgo.Version1)
		if err != nil {
			return ctx, err
		}
		scope, err := manager.OpenConnection(network.DirInbound, false, at)
		if err != nil {
			return ctx, err
		}
		ctx = network.WithConnManagementScope(ctx, scope)
		context.AfterFunc(ctx, scope.Done)
		return ctx, nil
	}
}
