// Package linked holds what a program may link beside package orwl: the network, which orwl/nodes sets when the program
// starts, and the live page, which orwl/watch sets. Package orwl reads them, and imports neither. So a program links only what
// it uses.
package linked

import (
	"log/slog"

	"github.com/orwl/go-orwl/net/node"
)

// Network is the network of package orwl/nodes, or nil if the program does not import that package.
var Network node.Network

// Watch serves the live page of a runtime, and returns what ends it. It is nil if the program does not import package
// orwl/watch.
var Watch func(w Watched) (end func())

// Watched is a runtime as the live page takes it.
type Watched struct {
	Runtime any    // an *orwl.Runtime
	At      string // ORWL_WATCH
	Node    int
	Port    int  // the node adds this to the port
	Key     bool // others than this machine may look
	Log     *slog.Logger
}
