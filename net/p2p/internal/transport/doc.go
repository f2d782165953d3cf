// Package transport is the end of all connections of a node: a libp2p host, the identity
// of each node, and the gater that refuses everybody else. It knows no lane and no frame.
//
// The host is made here, of a swarm, a [Carrier] (TCP, TLS and yamux, unless another is
// given) and identify; or it is the
// user's (Options.User), with whatever transports it has. Lanes are streams of the
// protocols /orwl/control/1 and /orwl/data/1, each on a connection of its own.
//
// Each node's identity is made from the key of the run and the number of the node. So all
// nodes know all identities, and no other process has one. The gater closes a connection
// of a stranger before there is a stream.
//
//	h, err := transport.New(transport.Options{Number: 0, Nodes: 2, Key: key, ...})
//	address, err := h.Listen(ctx, "127.0.0.1:0")
//	conn, err := h.Dial(ctx, 1, address, transport.Control) // or h.Accept()
//	...
//	h.Deafen() // no more streams
//	h.Close()  // no more connections, if the host is not the user's
package transport
