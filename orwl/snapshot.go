package orwl

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/orwl/go-orwl/internal/inner"
	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/net/node"
	"github.com/orwl/go-orwl/orwl/internal/message"
	"github.com/orwl/go-orwl/resource"
)

// A run has its resources for itself. A snapshot looks in all the same: it copies the bytes between two rounds that
// write them. Other nodes ask the home:
//
//	Snapshot ──▶ question ──▶ home: Copy ──▶ answer, with the bytes

// errNoSnapshots is a snapshot of a resource for which none were declared.
var errNoSnapshots = errors.New("orwl: no snapshots of this resource are declared: declare them before its first run")

// Snapshots implements inner.Runtime.
func (rt innerRuntime) Snapshots(r *resource.Resource) {
	rt.declareOf(core(r), "snapshots", func(d *declared) error {
		d.snapshots = true
		return nil
	})
}

// Snapshot implements inner.Runtime.
func (rt innerRuntime) Snapshot(ctx context.Context, r *resource.Resource, dst []byte) (bytes []byte, version uint64, err error) {
	home, err := rt.copiedAt(core(r))
	if err != nil {
		return dst, 0, err
	}
	if home == rt.Node() {
		return core(r).Copy(ctx, dst)
	}
	return rt.o.Nodes.copies.ask(ctx, rt.o.Nodes, home, r.Name(), dst)
}

// copiedAt is the node that copies a resource.
func (rt *Runtime) copiedAt(r *queue.Resource) (home int, err error) {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	d := rt.mine(r)
	if d == nil {
		return 0, notMine(r, "a snapshot")
	}
	if !d.snapshots {
		return 0, fmt.Errorf("%w: %q", errNoSnapshots, r.Name())
	}
	if !rt.o.Nodes.many() {
		return 0, nil
	}
	if !d.settled {
		return 0, fmt.Errorf("%w: %q", inner.ErrEarly, r.Name())
	}
	return rt.homes[r.Name()], nil
}

// copies are what this node copies for others, and its questions for copies that others make.
type copies struct {
	mu    sync.Mutex
	kept  map[string]*queue.Resource
	last  uint64
	asked map[uint64]*question
}

// question is a call of Snapshot that waits.
type question struct {
	home   int
	answer chan copied // has room for one
}

// copied is an answer, or why there is none.
type copied struct {
	bytes   []byte
	version uint64
	err     error
}

// keep has the node copy a resource for others. From then on no lock of the runtime is needed: a node that begins its
// next run waits for the others, and one of them may wait for a copy.
func (c *copies) keep(r *queue.Resource) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept == nil {
		c.kept = make(map[string]*queue.Resource)
	}
	c.kept[r.Name()] = r
}

// ask asks a home for a copy.
func (c *copies) ask(ctx context.Context, n *Nodes, home int, name string, dst []byte) ([]byte, uint64, error) {
	q := &question{home, make(chan copied, 1)}
	c.mu.Lock()
	if c.asked == nil {
		c.asked = make(map[uint64]*question)
	}
	c.last++
	number := c.last
	c.asked[number] = q
	c.mu.Unlock()
	defer c.take(number)
	err := n.node.Send(home, copyChannel, message.Copy{Number: number, Resource: name}.Encode(), nil, false)
	if why := n.node.Lost(home); err != nil || why != nil {
		return dst, 0, &NodeError{Node: home, Text: errors.Join(err, why).Error(), Lost: true}
	}
	select {
	case a := <-q.answer:
		return append(dst, a.bytes...), a.version, a.err
	case <-ctx.Done():
		return dst, 0, fmt.Errorf("orwl: snapshot of %q: %w", name, queue.Reason(ctx))
	}
}

// take takes a question that is not answered yet, or nil.
func (c *copies) take(number uint64) *question {
	c.mu.Lock()
	defer c.mu.Unlock()
	q := c.asked[number]
	delete(c.asked, number)
	return q
}

// lost ends the questions to a node.
func (c *copies) lost(node int, why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for number, q := range c.asked {
		if q.home == node {
			q.answer <- copied{err: why}
			delete(c.asked, number)
		}
	}
}

// copied takes a question of another node, or the answer of one.
func (n *Nodes) copied(from int, header, bulk []byte) error {
	m, err := message.ParseCopy(header)
	if err != nil {
		return fmt.Errorf("%w: %w", node.ErrProtocol, err)
	}
	if m.Resource != "" {
		go n.answer(from, m) // it may wait for a body
		return nil
	}
	q := n.copies.take(m.Number)
	switch {
	case q == nil: // the caller waits no more
	case m.Failure != "":
		q.answer <- copied{err: &NodeError{Node: from, Text: m.Failure}}
	default:
		q.answer <- copied{bytes: bytes.Clone(bulk), version: m.Writes}
	}
	return nil
}

// answer answers the question of another node.
func (n *Nodes) answer(from int, m message.Copy) {
	b, version, err := n.copyHere(m.Resource)
	m.Resource, m.Writes = "", version
	if err != nil {
		m.Failure, b = err.Error(), nil
	}
	// If it fails, that node is lost.
	_ = n.node.Send(from, copyChannel, m.Encode(), b, false)
}

// copyHere copies a resource whose home is here.
func (n *Nodes) copyHere(name string) ([]byte, uint64, error) {
	n.copies.mu.Lock()
	r := n.copies.kept[name]
	n.copies.mu.Unlock()
	if r == nil {
		return nil, 0, fmt.Errorf("%w: %q", errNoSnapshots, name)
	}
	return r.Copy(context.Background(), nil)
}
