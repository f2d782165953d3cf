package p2p

import (
	"context"
	"fmt"

	"github.com/orwl/go-orwl/internal/pack"
	"github.com/orwl/go-orwl/net/p2p/internal/control"
	"github.com/orwl/go-orwl/net/wire"
)

// gathers are what is being gathered. Node.mu guards it.
type gathers struct {
	rounds  map[string]uint64            // how often this node has gathered under a name
	waiting map[gathering]chan [][]byte  // this node's
	given   map[gathering]map[int][]byte // what has been given, on node 0
	open    map[int]int                  // of them, how many each node has begun or joined
}

// gathering is one of several under one name.
type gathering struct {
	name  string
	round uint64
}

// mostOpen is how many gatherings one node may have begun that are not complete.
const mostOpen = 1 << 10

// Gather gives everybody what everybody has given under the same name: by number, nil
// for nodes that are gone and have given nothing. It returns when all others have
// called it too, so it is a barrier. Names may be used again; a node calls it once at
// a time for one.
func (n *Node) Gather(ctx context.Context, name string, blob []byte) ([][]byte, error) {
	if len(name) > wire.MaxText || len(blob) > n.options.MaxBulk/n.options.Nodes-mostLength {
		return nil, fmt.Errorf("p2p: Gather of %d bytes under a name of %d, want at most %d and %d",
			len(blob), len(name), n.options.MaxBulk/n.options.Nodes-mostLength, wire.MaxText)
	}
	g, done := n.beginGather(name)
	defer n.endGather(g)
	header := control.Message{Give: g.said()}.Bytes()
	if err := n.Send(0, ownChannel, header, blob, false); err != nil {
		return nil, fmt.Errorf("p2p: Gather %q: %w", name, err)
	}
	return n.awaitGather(ctx, name, done)
}

// awaitGather waits for what everybody has given.
func (n *Node) awaitGather(ctx context.Context, name string, done <-chan [][]byte) ([][]byte, error) {
	rootGone := context.Background().Done()
	if n.number != 0 {
		rootGone = n.peers[0].ctx.Done()
	}
	select {
	case blobs := <-done:
		return blobs, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("p2p: Gather %q: %w", name, context.Cause(ctx))
	case <-n.ctx.Done():
		return nil, fmt.Errorf("p2p: Gather %q: %w", name, ErrClosed)
	case <-rootGone:
		// It takes its leave behind what it has gathered: both may be here.
		select {
		case blobs := <-done:
			return blobs, nil
		default:
		}
		return nil, fmt.Errorf("p2p: Gather %q goes through node 0: %w", name, n.peers[0].fate())
	}
}

// mostLength is what the length of a blob takes.
const mostLength = 9

// said is what nodes say of it.
func (g gathering) said() *control.Gathering { return &control.Gathering{Name: g.name, Round: g.round} }

func (n *Node) beginGather(name string) (gathering, chan [][]byte) {
	n.mu.Lock()
	defer n.mu.Unlock()
	s := &n.gathers
	if s.rounds == nil {
		s.rounds, s.waiting = make(map[string]uint64), make(map[gathering]chan [][]byte)
	}
	s.rounds[name]++
	g := gathering{name, s.rounds[name]}
	done := make(chan [][]byte, 1)
	s.waiting[g] = done
	return g, done
}

func (n *Node) endGather(g gathering) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.gathers.waiting, g)
}

// takeGift takes what a node gives, on node 0.
func (n *Node) takeGift(from int, said *control.Gathering, blob []byte) error {
	g := gathering{said.Name, said.Round}
	n.mu.Lock()
	defer n.mu.Unlock()
	s := &n.gathers
	if s.given == nil {
		s.given, s.open = make(map[gathering]map[int][]byte), make(map[int]int)
	}
	if _, twice := s.given[g][from]; twice || s.open[from] >= mostOpen {
		return protocolError("node %d gives to %q again, or has %d unfinished", from, g.name, s.open[from])
	}
	if s.given[g] == nil {
		s.given[g] = make(map[int][]byte)
	}
	s.given[g][from] = append(make([]byte, 0, len(blob)), blob...) // not nil, if empty
	s.open[from]++
	n.finishGather(g)
	return nil
}

// regather looks whether something is complete now that a node is gone.
func (n *Node) regather() {
	if n.number != 0 {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for g := range n.gathers.given {
		n.finishGather(g)
	}
}

// finishGather tells everybody, if all have given that are there. n.mu is held.
func (n *Node) finishGather(g gathering) {
	given := n.gathers.given[g]
	for _, p := range n.peers {
		if p != nil && given[p.number] == nil && p.fate() == nil {
			return
		}
	}
	if given[n.number] == nil {
		return
	}
	all := make([][]byte, len(n.peers))
	for i := range all {
		if blob, ok := given[i]; ok {
			all[i] = blob
			n.gathers.open[i]--
		}
	}
	delete(n.gathers.given, g)
	header, list := control.Message{Gathered: g.said()}.Bytes(), pack.Encode(all)
	for i := range given {
		// If it fails, that node is gone.
		_ = n.Send(i, ownChannel, header, list, true)
	}
}

// takeGathered takes what everybody has given.
func (n *Node) takeGathered(said *control.Gathering, list []byte) error {
	g := gathering{said.Name, said.Round}
	blobs, err := pack.List[[]byte](list, n.options.Nodes)
	if err != nil {
		return protocolError("gathered under %q: %v", g.name, err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if done := n.gathers.waiting[g]; done != nil {
		select {
		case done <- blobs:
		default: // it came twice
		}
	}
	return nil
}
