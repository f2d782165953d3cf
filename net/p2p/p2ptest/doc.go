// Package p2ptest makes hosts for tests of nodes.
//
// Host is libp2p's own, with everything that libp2p.New gives it, as users make one
// (Options.Host of package p2p). Packages that may not import libp2p can have one, too. The
// caller closes it after the node:
//
//	h, err := p2ptest.Host(key, number, nodes, p2ptest.QUIC)
//	n, err := p2p.Join(ctx, p2p.Options{Number: number, Nodes: nodes, Key: key, Host: h, ...})
//
// World is a network in virtual time, for runs of many nodes in one bubble of testing/synctest. Process.Carrier puts its sockets
// below a node.
//
// Bare is the host of a node with nothing of a node above it. Benchmarks compare a node with it.
package p2ptest
