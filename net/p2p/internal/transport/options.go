package transport

import (
	"errors"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/prometheus/client_golang/prometheus"
)

// Options are what a host has to know.
type Options struct {
	Number, Nodes int
	Key           []byte
	Carrier       Carrier               // of a host of our own
	Private       bool                  // a network that is secret before a word is said
	Hello         time.Duration         // how long a connection may take to be secured
	Registerer    prometheus.Registerer // of libp2p's metrics, or nil
	Stranger      func(address string)  // is told of each connection from outside the run, which is closed
	Talk          func() uint64         // is how many frames have come by control lanes
	User          host.Host             // the user's own host, or nil
}

// Match the errors of a host by these.
var (
	// ErrNoHello is a connection that was closed before anything was said.
	ErrNoHello = errors.New("p2p: connection closed without a word")
	// ErrNobody is a host on which no node takes streams.
	ErrNobody = errors.New("p2p: no node is on the host")
	// ErrDeaf is the error of Accept after Deafen.
	ErrDeaf = errors.New("p2p: the host takes no more streams")
	// ErrIdentity is a host of the user that has another identity than the node.
	ErrIdentity = errors.New("p2p: the host has another identity")
)
