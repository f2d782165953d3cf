package guards

import (
	"context"
	"fmt"
	"slices"

	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/node"
	"github.com/orwl/go-orwl/net/rma"
	rmapart "github.com/orwl/go-orwl/net/rma/part"
	"github.com/orwl/go-orwl/net/topology"
	"github.com/orwl/go-orwl/net/wire"
	"github.com/orwl/go-orwl/orwl/internal/spread"
)

// Options say which guards there are, and how this node reaches the others.
type Options struct {
	Node    int
	Grounds spread.Grounds // of the nodes, with their trees
	Network Network
	Channel uint64 // on which the nodes talk about guards
	Lock    string // the name of a lock with readers, in the table of package locks
	Guards  int    // how many, at least one
}

// Network is a node of the run: see [node.Node].
type Network interface {
	Fabric(ctx context.Context, o node.FabricOptions) (rma.Fabric, error)
	Send(to int, channel uint64, header, bulk []byte, keep bool) error
}

// Guards are this node's part of the fabric. Guards have numbers, the same on every node.
type Guards struct {
	o      Options
	fabric rma.Fabric
	spec   locks.Spec
	tree   *topology.Tree // of one guard
	at     []int          // the place of each node in it
	words  int            // of one rank's memory
	base   rma.Disp       // of that memory
	ranks  int            // of a guard at a node
}

// The ranks of a guard at a node.
const (
	orderedRank = iota // the FIFO's, used at the home
	bytesRank          // reaches the bytes; has them at the home
	relaxedRank        // the first of those that goroutines share
)

// mostSeats is about how many ranks of a node relaxed access uses, for all guards together.
const mostSeats = 256

// New makes this node's part of the fabric. All nodes call it.
func New(ctx context.Context, o Options) (*Guards, error) {
	g := &Guards{o: o}
	var known bool
	if g.spec, known = locks.ByName(o.Lock); !known {
		return nil, fmt.Errorf("orwl: there is no lock %q", o.Lock)
	}
	seats := max(1, mostSeats/o.Guards)
	for _, on := range o.Grounds {
		seats = min(seats, on.Tree.Ranks())
	}
	g.ranks = relaxedRank + seats
	var err error
	if g.tree, g.at, err = o.Grounds.Tree(o.Node, g.ranks); err != nil {
		return nil, err
	}
	const line = 8 // words
	words := g.spec.WordsOn(g.tree)
	g.words = words.Home + words.Rank + 3*line
	g.fabric, err = o.Network.Fabric(ctx, node.FabricOptions{Topology: topology.Flat(o.Guards * g.tree.Ranks()), Words: g.words})
	if err != nil {
		return nil, err
	}
	g.base, err = g.fabric.Alloc(g.words)
	return g, err
}

// part is the fabric of one guard.
func (g *Guards) part(i int) (*rmapart.Fabric, error) {
	return rmapart.New(g.fabric, rmapart.Options{Topology: g.tree, Base: g.base, Words: g.words, Ranks: g.ranksOf(i)})
}

// ranksOf are the ranks of a guard in the fabric, in the order of the guard's tree.
func (g *Guards) ranksOf(i int) []rma.Rank {
	all := make([]rma.Rank, len(g.at)*g.ranks)
	for node := range g.at {
		for p := range g.ranks {
			all[g.rank(node, p)] = rma.Rank((node*g.o.Guards+i)*g.ranks + p)
		}
	}
	return all
}

// rank is one of a node's ranks in a guard.
func (g *Guards) rank(node, p int) rma.Rank { return rma.Rank(g.at[node]*g.ranks + p) }

// Guard makes this node's guard of a resource: the guard's number, and the home of the resource.
func (g *Guards) Guard(i, home int) (queue.Guard, error) {
	f, err := g.part(i)
	if err != nil {
		return queue.Guard{}, err
	}
	node := g.o.Node
	root, err := f.Alloc(1)
	if err != nil {
		return queue.Guard{}, err
	}
	o := locks.Options{Home: g.rank(home, orderedRank)}
	if slices.Contains(g.spec.Options, "TDC") {
		o.TDC = g.ranks
	}
	l, err := g.spec.New(f, o)
	if err != nil {
		return queue.Guard{}, err
	}
	reach := &queue.Reach{Home: g.rank(home, bytesRank), Root: root}
	if reach.Window, err = f.Window(g.rank(node, bytesRank)); err != nil {
		return queue.Guard{}, err
	}
	var ordered *rma.Rank
	if home == node {
		ordered = new(rma.Rank)
		*ordered = g.rank(node, orderedRank)
		reach.Aside = func(f func()) { go f() }
	} else {
		reach.Ask = func(waits bool) { g.ask(home, i, waits) }
	}
	var relaxed []rma.Rank
	for p := relaxedRank; p < g.ranks; p++ {
		relaxed = append(relaxed, g.rank(node, p))
	}
	return queue.NewGuardOn(l, f, ordered, relaxed, reach)
}

// ask tells a home that one relaxed access more, or less, of this node waits for a resource.
func (g *Guards) ask(home, number int, waits bool) {
	header := wire.AppendBool(wire.AppendUint(wire.AppendArray(nil, 2), uint64(number)), waits)
	_ = g.o.Network.Send(home, g.o.Channel, header, nil, false) // the loss of the home ends the wait
}

// Asked reads what another node says to a home: which of so many guards an access
// waits for, or waits for no more.
func Asked(header []byte, guards int) (number int, waits bool, err error) {
	r := wire.NewReader(header)
	fields := r.Array()
	at, waits := r.UintTo(uint64(guards-1)), r.Bool()
	if err := r.Done(); err != nil {
		return 0, false, fmt.Errorf("%w: %w", node.ErrProtocol, err)
	}
	if fields != 2 {
		return 0, false, fmt.Errorf("%w: a message of %d fields for a guard, want 2", node.ErrProtocol, fields)
	}
	return int(at), waits, nil
}
