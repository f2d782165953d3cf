package orwl

import (
	"context"
	"fmt"
	"testing"

	"github.com/orwl/go-orwl/net/node"
	"github.com/orwl/go-orwl/orwl/internal/linked"
)

// worlds are how the nodes of a run in this process reach one another's memory.
var worlds = map[string]world{"shared memory": inMemory, "frames": byFrames, "two machines": divided}

type world func(node int, o *JoinOptions)

func inMemory(int, *JoinOptions)     {}
func byFrames(_ int, o *JoinOptions) { o.Remote = true }
func divided(node int, o *JoinOptions) {
	o.Network = onMachine{linked.Network, fmt.Sprintf("machine %d", node%2)}
}

// onMachine is a network whose node shares memory only with those that name the same machine.
type onMachine struct {
	node.Network
	name string
}

func (m onMachine) Join(ctx context.Context, o node.Options) (node.Node, error) {
	o.Machine = m.name
	return m.Network.Join(ctx, o)
}

// crewIn is a crew whose nodes reach memory as a world says.
func crewIn(t testing.TB, count int, in world) []*Nodes {
	t.Helper()
	return crewOf(t, count, in)
}
