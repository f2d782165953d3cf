// Package linked holds the network that a program links. Package orwl/nodes sets it when the
// program starts, and package orwl reads it. Neither imports the other, so the tests of orwl
// can import orwl/nodes.
package linked

import "github.com/orwl/go-orwl/net/node"

// Network is that of package orwl/nodes, or nil if the program does not import that.
var Network node.Network
