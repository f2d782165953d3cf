package p2p

import (
	"context"
	"fmt"

	"github.com/orwl/go-orwl/internal/pack"
	"github.com/orwl/go-orwl/net/p2p/internal/control"
	"github.com/orwl/go-orwl/net/p2p/internal/gathering"
	"github.com/orwl/go-orwl/net/wire"
)

// Gather gives everybody what everybody has given under the same name: by number, nil
// for nodes that are gone and have given nothing. It returns when all others have
// called it too, so it is a barrier. Names may be used again; a node calls it once at
// a time for one.
func (n *Node) Gather(ctx context.Context, name string, blob []byte) ([][]byte, error) {
	if len(name) > wire.MaxText || len(blob) > n.options.MaxBulk/n.options.Nodes-mostLength {
		return nil, fmt.Errorf("p2p: Gather of %d bytes under a name of %d, want at most %d and %d",
			len(blob), len(name), n.options.MaxBulk/n.options.Nodes-mostLength, wire.MaxText)
	}
	done := make(chan [][]byte, 1)
	n.mu.Lock()
	k, out := n.gatherer.Begin(name, blob)
	n.gatherings[k] = done
	n.postGatherings(out)
	n.mu.Unlock()
	defer func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		delete(n.gatherings, k)
	}()
	select {
	case blobs := <-done:
		return blobs, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("p2p: Gather %q: %w", name, context.Cause(ctx))
	case <-n.ctx.Done():
		return nil, fmt.Errorf("p2p: Gather %q: %w", name, ErrClosed)
	case <-n.parted:
		return nil, fmt.Errorf("p2p: Gather %q: %w", name, n.apart)
	}
}

// mostLength is what the length of a blob takes.
const mostLength = 9

// postGatherings sends what is said about gatherings. n.mu is held.
func (n *Node) postGatherings(out []gathering.Letter) {
	lists := make(map[gathering.Key][]byte) // encoded once
	for _, l := range out {
		key := &control.Gathering{Name: l.Key.Name, Round: l.Key.Round}
		header, bulk := control.Message{Give: key}, l.Blob
		if l.Kind == gathering.All {
			if lists[l.Key] == nil {
				lists[l.Key] = pack.Encode(l.List)
			}
			header, bulk = control.Message{Gathered: key}, lists[l.Key]
		}
		// If it fails, that node is gone.
		_ = n.Send(l.To, ownChannel, header.Bytes(), bulk, true)
	}
}

// takeGathering takes what a node gives, or what all have given.
func (n *Node) takeGathering(from int, said control.Message, bulk []byte) error {
	in := gathering.Message{Kind: gathering.Give, Blob: bulk}
	key := said.Give
	if said.Gathered != nil {
		list, err := pack.List[[]byte](bulk, n.options.Nodes)
		if err != nil {
			return protocolError("gathered under %q: %v", said.Gathered.Name, err)
		}
		in, key = gathering.Message{Kind: gathering.All, List: list}, said.Gathered
	}
	in.Key = gathering.Key{Name: key.Name, Round: key.Round}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.gatherer == nil {
		return protocolError("node %d gives to %q, and the run has not begun", from, key.Name)
	}
	out, done, err := n.gatherer.Step(from, in)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrProtocol, err)
	}
	n.postGatherings(out)
	if wait := n.gatherings[in.Key]; done && wait != nil {
		wait <- in.List // once
	}
	return nil
}
