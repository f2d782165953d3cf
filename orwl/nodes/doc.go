// Package nodes gives a program several nodes. Import it for that effect:
//
//	import (
//		"github.com/orwl/go-orwl/orwl"
//		_ "github.com/orwl/go-orwl/orwl/nodes"
//	)
//
// Then [orwl.Run] and [orwl.Join] meet the other processes of the run, by libp2p. A program of one
// process does without, and links no network. Started as one of several nodes, it ends with
// an error.
//
// A program that wants more than the defaults says so:
//
//	orwl.JoinOptions{Network: nodes.Network{Carrier: quic.Carrier}}
//
// [orwl.Run]: https://pkg.go.dev/github.com/orwl/go-orwl/orwl#Run
// [orwl.Join]: https://pkg.go.dev/github.com/orwl/go-orwl/orwl#Join
package nodes
