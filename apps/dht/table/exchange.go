package table

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/orwl/go-orwl/net/wire"
	"github.com/orwl/go-orwl/orwl"
)

// exchange is a table's connection with the same table on the other nodes: it asks them,
// and has the table serve what they ask. What comes is handled by the goroutine that
// brings it: nothing there waits for more than other accesses to a volume.
//
// mu guards who is asked and who is lost. It is held before none, and not while a call
// is told.
type exchange struct {
	port  *orwl.Port
	nodes int
	serve func(from int, h head, body *wire.Reader) error

	mu    sync.Mutex
	calls map[uint64]*call // that are not answered, by their numbers
	last  uint64
	lost  []error // by node, nil as long as it is there
	over  bool    // this table is closed
}

// call is a question to a node. Whoever asks waits; answers are taken, and the end is
// told, by other goroutines.
type call struct {
	node   int
	number uint64
	done   chan struct{} // closed at its end

	mu   sync.Mutex
	over bool
	err  error
	// take takes count elements of an answer, whose bytes are good until it returns.
	take func(count int, body *wire.Reader) error
}

// newExchange makes an exchange. It returns when all other nodes have made theirs, of tables of
// the same kind and with the same options.
func newExchange(ctx context.Context, o Options, kind string, serve func(from int, h head, body *wire.Reader) error) (*exchange, error) {
	l := &exchange{nodes: o.Nodes.Count(), serve: serve, calls: make(map[uint64]*call), lost: make([]error, o.Nodes.Count())}
	var err error
	if l.port, err = o.Nodes.Port(o.Port, orwl.PortOptions{
		Take: func(_ *orwl.Port, from int, header, bulk []byte) error { return l.deliver(from, header, bulk) },
		Lost: l.lose,
	}); err != nil {
		return nil, fmt.Errorf("table: %w", err)
	}
	mine := fmt.Appendf(nil, "%s of %d volumes, hash %x", kind, o.Volumes, o.Hash([]byte("table")))
	all, err := o.Nodes.Gather(ctx, fmt.Sprintf("table %d", o.Port), mine)
	if err != nil {
		return nil, fmt.Errorf("table: %w", err)
	}
	for node, other := range all {
		if other == nil {
			return nil, &NodeLostError{Node: node, Why: errors.New("it was lost before the table began")}
		}
		if !bytes.Equal(other, mine) {
			return nil, fmt.Errorf("table: node %d has made %s, node %d %s: give all the same options", node, other, o.Nodes.Number(), mine)
		}
	}
	return l, nil
}

// ask asks a node, and has the call take the answer. A failure is the call's.
func (l *exchange) ask(ctx context.Context, c *call, what message, count int, body []byte) {
	l.mu.Lock()
	l.last++
	c.number, c.done = l.last, make(chan struct{})
	err := l.lost[c.node]
	if l.over {
		err = ErrClosed
	}
	if err == nil {
		l.calls[c.number] = c
	}
	l.mu.Unlock()
	if err == nil {
		if err = l.port.Send(ctx, c.node, head{what, c.number, count}.encode(nil), body); err == nil {
			return
		}
		l.forget(c)
	}
	c.end(err)
}

// wait returns at the end of the call, or of ctx, with the reason if it has failed.
func (l *exchange) wait(ctx context.Context, c *call) error {
	select {
	case <-c.done:
	case <-ctx.Done():
		l.forget(c)
		c.end(context.Cause(ctx))
	}
	return c.err
}

func (l *exchange) forget(c *call) {
	l.mu.Lock()
	delete(l.calls, c.number)
	l.mu.Unlock()
}

// end ends the call, unless it has ended.
func (c *call) end(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.over {
		c.over, c.err = true, err
		close(c.done)
	}
}

// answered takes an answer, unless nobody waits for it any more.
func (c *call) answered(h head, body *wire.Reader) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		return nil
	}
	err := c.take(h.count, body)
	if err == nil {
		err = body.Done()
	}
	if err != nil || h.what == answer {
		c.over, c.err = true, err
		close(c.done)
	}
	return err
}

// deliver takes a message of another node.
func (l *exchange) deliver(from int, header, bulk []byte) error {
	h, err := parseHead(header, len(bulk))
	if err != nil {
		return err
	}
	body := wire.NewReader(bulk)
	switch h.what {
	case gone:
		l.lose(from, ErrClosed)
		return nil
	case part, answer:
		l.mu.Lock()
		c := l.calls[h.number]
		if c == nil || c.node != from {
			l.mu.Unlock()
			return nil // nobody waits for it any more
		}
		if h.what == answer {
			delete(l.calls, h.number)
		}
		l.mu.Unlock()
		return c.answered(h, &body)
	}
	l.mu.Lock()
	over := l.over
	l.mu.Unlock()
	if over {
		return nil // it was told, or is being told
	}
	return l.serve(from, h, &body)
}

// reply answers a question of another node, or begins to. Who is lost needs none.
func (l *exchange) reply(to int, what message, number uint64, count int, body []byte) {
	_ = l.port.Answer(to, head{what, number, count}.encode(nil), body)
}

// lose ends all calls to a node that is lost, and all later ones.
func (l *exchange) lose(node int, why error) {
	err := &NodeLostError{Node: node, Why: why}
	var ended []*call
	l.mu.Lock()
	if l.lost[node] == nil {
		l.lost[node] = err
	}
	for number, c := range l.calls {
		if c.node == node {
			ended = append(ended, c)
			delete(l.calls, number)
		}
	}
	l.mu.Unlock()
	for _, c := range ended {
		c.end(err)
	}
}

// close ends all calls, and tells the other nodes that there is nothing here any more.
func (l *exchange) close(self int) error {
	l.mu.Lock()
	again := l.over
	l.over = true
	var ended []*call
	for _, c := range l.calls {
		ended = append(ended, c)
	}
	clear(l.calls)
	l.mu.Unlock()
	if again {
		return ErrClosed
	}
	for _, c := range ended {
		c.end(ErrClosed)
	}
	for node := range l.nodes {
		if node != self {
			l.reply(node, gone, 0, 0, nil)
		}
	}
	return nil
}
