// Package linked holds what a program may link beside package orwl: the network, which orwl/nodes sets when the program
// starts, the live page, which orwl/watch sets, and the flight recorder, which orwl/trace sets. Package orwl reads them, and imports neither. So a program links only what
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

// Flight makes a flight recorder: the observer keeps what the tasks did last, and write writes it to a file. It is nil if the program
// does not import package orwl/trace. The observer is an orwl.Observer.
var Flight func(f Flown) (observer any, write func(why string))

// Flown is a runtime as the flight recorder takes it.
type Flown struct {
	Dir string // ORWL_FLIGHT
	Log *slog.Logger
}
