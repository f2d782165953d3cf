// Package noise has the nodes of a run encrypt TCP by noise, as libp2p does where it has no
// TLS:
//
//	n, err := p2p.Join(ctx, p2p.Options{Carrier: noise.Carrier, ...})
//
// TLS, the default, moves large blocks 1.2 to 1.6 times as fast. A program that imports this
// package is 0.2 MB larger.
package noise
