package node

import (
	"context"
	"log/slog"
	"time"
)

// Network joins a process to the others of its run.
type Network interface {
	// Join returns when all nodes are there.
	Join(ctx context.Context, o Options) (Node, error)
	// Meet gives a process that has no number yet its seat. It returns when all processes have
	// one.
	Meet(ctx context.Context, p Party) (Seat, error)
}

// Options say which node this is, where the others are, and how long to wait. A field that is
// zero has the default of p2p.Options.
type Options struct {
	Number, Nodes int
	Key           []byte
	Listen        string   // host:port
	Root          string   // where node 0 listens
	Peers         []string // where all nodes listen
	// Listening, if not nil, is told where this node listens.
	Listening func(address string)

	// Begin is how many nodes begin, and Late says that this one comes to a run that goes on.
	Begin int
	Late  bool
	// Hold has late nodes wait until Node.LetIn.
	Hold bool

	Lease, Skew, Beat time.Duration
	// Patience is how long Join waits for the other nodes.
	Patience time.Duration

	// Machine divides a machine into several, and Remote has the node share no memory.
	Machine string
	Remote  bool
	// Launched says that one launcher has started all nodes, on this machine.
	Launched bool

	Log *slog.Logger
}

// Party are processes that find each other by their key.
type Party struct {
	Nodes  int
	Key    []byte
	Listen string // host:port, while they meet
	Log    *slog.Logger
}

// Seat is what a process has after it has met the others.
type Seat struct {
	// Number is the number of its node.
	Number int
	// Root is where node 0 listens. It is empty for node 0, which calls Report instead.
	Root   string
	Report func(address string)
	// Close says that this process leaves the run.
	Close func()
}
