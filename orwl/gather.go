package orwl

import (
	"context"

	"github.com/orwl/go-orwl/internal/queue"
)

// Gather returns what each node has said under a name, in their order, as soon as all have: a barrier, too. The program calls it
// on all nodes, between two runs. It is an error if a node is lost, or if the program has ended with an error on another node. The
// program returns that error: its life is over.
func (rt *Runtime) Gather(ctx context.Context, name string, blob []byte) ([][]byte, error) {
	n := rt.o.Nodes
	if !n.many() {
		return [][]byte{blob}, nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	n.fate.Begin(cancel, rt.o.atLoss == goOn) // a node that has ended its life gives nothing
	all, err := n.Gather(ctx, "program: "+name, blob)
	if why := n.fate.Why(); why != nil {
		return nil, why
	}
	for node, said := range all {
		if said == nil && rt.o.atLoss == endRun {
			return nil, &NodeError{Node: node, Lost: true, Text: "it was lost before it could say " + name}
		}
	}
	return all, err
}

// Counts returns what the nodes have counted: see [Nodes.Counts].
func (rt *Runtime) Counts() queue.SiteCounts { return rt.o.Nodes.Counts() }

// Processors is how many processors the nodes use together: GOMAXPROCS of each
// when it joined. Nodes of one machine do not have more than it has. All nodes get the same answer.
// It stays the same in all lives of the run, so a program may cut its work by it.
func (rt *Runtime) Processors() int { return rt.o.Nodes.used() }

// Life is the number of this life of the run, from 1: see [Run].
func (rt *Runtime) Life() int {
	if n := rt.o.Nodes; n != nil && n.survival != nil {
		return int(n.survival.life)
	}
	return 1
}

// cutsEnd says that no cut follows in this life. So SIGTERM ends the process at once, and the others begin the next life without it.
func (n *Nodes) cutsEnd() {
	if n != nil && n.survival != nil {
		n.survival.cuts.Store(false)
	}
}
