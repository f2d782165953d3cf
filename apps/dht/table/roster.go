package table

import (
	"context"
	"fmt"
	"sync"

	"github.com/orwl/go-orwl/net/wire"
	"github.com/orwl/go-orwl/resource"
)

// roster is what tables of both kinds have in common: which node keeps which volume, the
// volumes that are kept here, and how the other nodes are asked.
type roster struct {
	o       Options
	node    int
	homes   []int                // of the volumes
	volumes []*resource.Resource // the volumes that this node keeps; nil for the others
	batches sync.Pool            // of *batch
	others  *exchange            // nil if there is no other node
}

// newRoster makes a roster, and the volumes that this node keeps.
func newRoster(o Options, newHome func(number int) (*resource.Resource, error)) (*roster, error) {
	nodes := o.Nodes.Count()
	t := &roster{o: o, node: o.Nodes.Number(), homes: homesOf(o.Volumes, nodes), volumes: make([]*resource.Resource, o.Volumes)}
	for i, home := range t.homes {
		if home != t.node {
			continue
		}
		var err error
		if t.volumes[i], err = newHome(i); err != nil {
			return nil, fmt.Errorf("table: %w", err)
		}
	}
	t.batches.New = func() any { return newBatch(o.Volumes + nodes) }
	return t, nil
}

// meet meets the same table of the other nodes.
func (t *roster) meet(ctx context.Context, kind string, serve func(from int, h head, body *wire.Reader) error) (err error) {
	if t.o.Nodes.Count() > 1 {
		t.others, err = newExchange(ctx, t.o, kind, serve)
	}
	return err
}

// Close leaves the table. The other nodes lose the keys that are kept here.
func (t *roster) Close() error {
	if t.others == nil {
		return nil
	}
	return t.others.close(t.node)
}

// group is where an op on a key of a hash belongs in a batch: with the ops of its volume, or of
// its node.
func (t *roster) group(hash uint64) int {
	v := volumeOf(hash, len(t.homes))
	if t.volumes[v] == nil {
		return len(t.homes) + t.homes[v]
	}
	return v
}

// Volumes are the numbers of the volumes that this node keeps.
func (t *roster) Volumes() (kept []int) {
	for i, r := range t.volumes {
		if r != nil {
			kept = append(kept, i)
		}
	}
	return kept
}

// Snapshot appends a volume that this node keeps to dst, as it is between two writes.
func (t *roster) Snapshot(ctx context.Context, volume int, dst []byte) ([]byte, error) {
	if volume < 0 || volume >= len(t.volumes) || t.volumes[volume] == nil {
		return dst, fmt.Errorf("table: node %d does not keep volume %d: it does those that Volumes tells", t.node, volume)
	}
	b, _, err := t.volumes[volume].Snapshot(ctx, dst)
	return b, err
}

// operations are the ops of one Do, and their results, by their index.
type operations interface {
	// length is about how long the op is in a message, and not less.
	length(i int32) int
	encode(i int32, b []byte) []byte
	// parse reads a result, which must not be put off if it says so. Fail makes it an error.
	parse(i int32, from *wire.Reader, must bool) error
	fail(i int32, err error)
	// skip reads a result that has no reader any more.
	skip(from *wire.Reader) error
	// later reports whether the op was put off.
	later(i int32) bool
}

// everywhere has all nodes do the same, and adds up what they answer.
func (t *roster) everywhere(ctx context.Context, what message, here func(context.Context) (int64, error)) (sum int64, err error) {
	var calls []*call
	var answers []Result
	if t.others != nil {
		answers = make([]Result, t.others.nodes)
		for node := range answers {
			if node == t.node {
				continue
			}
			c := &call{node: node, take: func(count int, from *wire.Reader) error {
				if count != 1 {
					return fmt.Errorf("%w: %d answers", errMalformed, count)
				}
				return answers[node].parse(from, new(Options), false)
			}}
			t.others.ask(c, what, 0, nil)
			calls = append(calls, c)
		}
	}
	sum, err = here(ctx)
	for _, c := range calls {
		if lost := t.others.wait(ctx, c); lost != nil && err == nil {
			err = lost
		}
	}
	for _, a := range answers {
		if sum += a.Number; err == nil {
			err = a.Err
		}
	}
	return sum, err
}

// serveAll answers what everywhere asks.
func (t *roster) serveAll(from int, h head, body *wire.Reader, length, clear func(context.Context) (int64, error)) error {
	if err := body.Done(); err != nil {
		return fmt.Errorf("%w: %w", errMalformed, err)
	}
	var r Result
	if h.what == askLength {
		r.Number, r.Err = length(context.Background())
	} else {
		r.Number, r.Err = clear(context.Background())
	}
	t.others.reply(from, head{answer, h.number, 0, 1}, r.encode(nil))
	return nil
}
