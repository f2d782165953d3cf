// Package p2ptest makes libp2p hosts as users make them, for tests of nodes on such hosts
// (Options.Host of package p2p). Packages that may not import libp2p can have one, too:
//
//	h, err := p2ptest.Host(key, number, nodes, p2ptest.QUIC)
//	n, err := p2p.Join(ctx, p2p.Options{Number: number, Nodes: nodes, Key: key, Host: h, ...})
//
// The host is libp2p's own, with everything that libp2p.New gives it. The caller closes it
// after the node.
package p2ptest
