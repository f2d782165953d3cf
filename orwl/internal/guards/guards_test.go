package guards

import (
	"context"
	"errors"
	"testing"

	"github.com/orwl/go-orwl/net/mem"
	"github.com/orwl/go-orwl/net/node"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
	"github.com/orwl/go-orwl/net/wire"
	"github.com/orwl/go-orwl/orwl/internal/spread"
)

// network makes a fabric in memory, and keeps what was sent.
type network struct{ sent []byte }

func (*network) Fabric(_ context.Context, o node.FabricOptions) (rma.Fabric, error) {
	return mem.New(mem.Options{Topology: o.Topology, Words: o.Words})
}

func (n *network) Send(_ int, _ uint64, header, _ []byte, _ bool) error {
	n.sent = header
	return nil
}

// Guards share no rank, each node has its own ranks of the fabric, and nodes on one machine are
// a group of each guard's tree, wherever they are in the order of nodes.
func TestRanksOfGuards(t *testing.T) {
	machines := []string{"a", "b", "a"}
	var grounds spread.Grounds
	for _, name := range machines {
		grounds = append(grounds, spread.Ground{Machine: name, Tree: topology.Flat(2)})
	}
	const count = 3
	g, err := New(t.Context(), Options{Node: 1, Grounds: grounds, Network: new(network), Lock: "RMA-RW", Guards: count})
	if err != nil {
		t.Fatal(err)
	}
	if g.ranks != relaxedRank+2 || g.fabric.Topology().Ranks() != count*len(machines)*g.ranks {
		t.Fatalf("%d ranks a node of %d", g.ranks, g.fabric.Topology().Ranks())
	}
	seen := make(map[rma.Rank]bool)
	for i := range count {
		group := make(map[string]int)
		for leaf, rank := range g.ranksOf(i) {
			on := int(rank) / (count * g.ranks)
			if seen[rank] || rank != g.ranksOf(i)[g.rank(on, int(rank)%g.ranks)] {
				t.Errorf("guard %d: rank %d of node %d", i, rank, on)
			}
			seen[rank] = true
			at := g.tree.Element(topology.Rank(leaf), 2)
			if known, is := group[machines[on]]; is && known != at {
				t.Errorf("guard %d: machine %s is in the groups %d and %d", i, machines[on], known, at)
			}
			group[machines[on]] = at
		}
		if len(group) != 2 || group["a"] == group["b"] {
			t.Errorf("guard %d: the groups of machines are %v", i, group)
		}
		if _, err := g.Guard(i, i); err != nil {
			t.Errorf("guard %d: %v", i, err)
		}
	}
}

// Asked reads what ask has sent, and refuses everything else.
func TestAsked(t *testing.T) {
	n := new(network)
	g := &Guards{o: Options{Network: n, Guards: 5}}
	for _, waits := range []bool{false, true} {
		g.ask(1, 4, waits)
		if number, is, err := Asked(n.sent, 5); err != nil || number != 4 || is != waits {
			t.Errorf("%d, %t, %v", number, is, err)
		}
		bad := [][]byte{append(n.sent, 0), wire.AppendUint(wire.AppendArray(nil, 1), 4), nil}
		for _, b := range bad {
			if _, _, err := Asked(b, 5); !errors.Is(err, node.ErrProtocol) {
				t.Errorf("%x is read: %v", b, err)
			}
		}
	}
	if _, _, err := Asked(n.sent, 4); err == nil {
		t.Error("a guard that is not there is read")
	}
	if _, err := New(t.Context(), Options{Lock: "none"}); err == nil {
		t.Error("a lock that is not there guards")
	}
}
