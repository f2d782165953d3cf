// Package p2ptest makes hosts for tests of nodes.
//
// Host is a libp2p host of the usual parts, as users make one (Options.Host of package p2p). Packages that may not
// import libp2p can have one, too. libp2p.New would link every transport, relays and NAT traversal into all tests: only
// the module net/p2p/hosts uses it. The caller closes a host after the node:
//
//	h, err := p2ptest.Host(key, number, nodes, p2ptest.QUIC)
//	n, err := p2p.Join(ctx, p2p.Options{Number: number, Nodes: nodes, Key: key, Host: h, ...})
//
// Carrier puts sockets of a test below a node.
//
// Bare is the host of a node with nothing of a node above it. Benchmarks compare a node with it.
package p2ptest
