package p2p

import (
	"context"
	"fmt"

	"github.com/orwl/go-orwl/net/p2p/internal/control"
	"github.com/orwl/go-orwl/net/p2p/internal/gathering"
	"github.com/orwl/go-orwl/net/wire"
)

// Gather gives every node what all nodes have given under the same name: by number, nil
// for nodes that are gone and have given nothing. It returns when all others have
// called it too, so it is a barrier. Names may be used again; a node calls it once at
// a time for one.
func (n *Node) Gather(ctx context.Context, name string, blob []byte) ([][]byte, error) {
	return n.gather(ctx, name, blob, func() (gathering.Key, []gathering.Letter) { return n.gatherer.Begin(name, blob) })
}

// GatherAmong gathers only from some lives, by number of the node: 0 where a node does not take part. All of them give to the same
// round, which is later than those before under that name. Each of them that is still a member gives to the later rounds
// of the name, too.
func (n *Node) GatherAmong(ctx context.Context, name string, round uint64, among []uint64, blob []byte) ([][]byte, error) {
	k := gathering.Key{Name: name, Round: round}
	return n.gather(ctx, name, blob, func() (gathering.Key, []gathering.Letter) { return k, n.gatherer.BeginAt(k, blob, among) })
}

// offered is what this node has given under a name, and where the list goes. Node.mu guards the key.
type offered struct {
	key   gathering.Key
	taken chan [][]byte // has room for one
}

func (n *Node) gather(ctx context.Context, name string, blob []byte, begin func() (gathering.Key, []gathering.Letter)) ([][]byte, error) {
	if most := n.mostBlob(); len(name) > wire.MaxText || len(blob) > most {
		return nil, fmt.Errorf("p2p: Gather of %d bytes under a name of %d, want at most %d and %d", len(blob), len(name), most, wire.MaxText)
	}
	n.mu.Lock()
	k, out := begin()
	o := &offered{k, make(chan [][]byte, 1)}
	n.gatherings[k] = o
	n.postGatherings(out)
	n.mu.Unlock()
	defer func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		delete(n.gatherings, o.key)
	}()
	select {
	case list := <-o.taken:
		return list, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("p2p: Gather %q: %w", name, context.Cause(ctx))
	case <-n.ctx.Done():
		return nil, fmt.Errorf("p2p: Gather %q: %w", name, ErrClosed)
	case <-n.parted:
		return nil, fmt.Errorf("p2p: Gather %q: %w", name, n.apart)
	}
}

// moved notes that what this node has given is for another round. n.mu is held.
func (n *Node) moved(was, is gathering.Key) {
	if o := n.gatherings[was]; o != nil {
		delete(n.gatherings, was)
		n.gatherings[is] = o
		o.key = is
	}
}

// mostBlob is how much one node may give, so that all of it is one parcel.
func (n *Node) mostBlob() int {
	return (n.options.MaxBulk - gathering.Overhead(n.options.Nodes)) / n.options.Nodes
}

// ForgetGathered forgets what was gathered under some names, also what is not complete. No node waits for
// that any more, or gives more under these names.
func (n *Node) ForgetGathered(over func(name string) bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.gatherer.Forget(over)
}

// postGatherings sends what is said about gatherings. n.mu is held.
func (n *Node) postGatherings(out []gathering.Letter) {
	lists := make(map[gathering.Key][]byte) // encoded once
	for _, l := range out {
		key := &control.Gathering{Name: l.Key.Name, Round: l.Key.Round}
		header, bulk := control.Message{Gathered: key}, lists[l.Key]
		switch {
		case l.Kind == gathering.Give:
			header, bulk = control.Message{Give: key}, l.Bytes()
		case bulk == nil:
			bulk = l.Bytes()
			lists[l.Key] = bulk
		}
		n.tells(l.To, header.Bytes(), bulk)
	}
}

// takeGathering takes what a node gives, or what all have given.
func (n *Node) takeGathering(from int, said control.Message, bulk []byte) error {
	kind, key := gathering.Give, said.Give
	if said.Gathered != nil {
		kind, key = gathering.All, said.Gathered
	}
	in, err := gathering.Parse(kind, gathering.Key{Name: key.Name, Round: key.Round}, bulk, n.options.Nodes)
	if err != nil {
		return fmt.Errorf("%w: node %d: %w", ErrProtocol, from, err)
	}
	if err := n.gathers(from, in); err != nil {
		return fmt.Errorf("%w: %w", ErrProtocol, err)
	}
	return nil
}

// gathers takes a message.
func (n *Node) gathers(from int, in gathering.Message) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.gatherer == nil {
		return fmt.Errorf("%w: node %d gives to %q, and the run has not begun", gathering.ErrMessage, from, in.Key.Name)
	}
	out, done, err := n.gatherer.Step(from, in)
	if err != nil {
		return err
	}
	n.postGatherings(out)
	o := n.gatherings[in.Key]
	if !done || o == nil {
		return nil
	}
	delete(n.gatherings, in.Key)
	if n.ready(in.Epoch) {
		o.taken <- in.List
	} else {
		n.later = append(n.later, later{in.Epoch, func() { o.taken <- in.List }})
	}
	return nil
}
