package table

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/orwl/go-orwl/apps/dht/budget"
	"github.com/orwl/go-orwl/net/wire"
	"github.com/orwl/go-orwl/orwl"
)

// exchange is a table's connection with the same table on the other nodes: it asks them, and
// has the table serve what they ask. The goroutine that brings a message handles it, and waits
// for nothing there but other accesses to a volume.
//
// mu guards the asked and the lost nodes. No other lock is taken while it is held, and it is
// not held while a call ends.
type exchange struct {
	port      *orwl.Port
	run       *orwl.Nodes
	nodes     int
	transfers []*transfer // by node
	memory    *budget.Budget
	serve     func(from int, h head, body *wire.Reader) error

	mu    sync.Mutex
	calls map[uint64]*call // the calls that are not answered, by their numbers
	last  uint64
	lost  []error // by node, nil as long as it is there
	over  bool    // this table is closed
}

// call is a question to a node. Answers are taken, and the end is told, by other
// goroutines than the one that asks.
type call struct {
	node   int
	number uint64
	// take takes count elements of an answer, whose bytes are good until it returns:
	// one answer after the other, in their order.
	take func(count int, body *wire.Reader) error
	// ended gets the end, once, after the last answer. It must not wait. It is nil if the
	// caller waits for done.
	ended func(err error)
	done  chan struct{} // closed at the end

	mu    sync.Mutex
	over  bool
	err   error
	first int     // element of the next answer
	early []early // answers that have overtaken it, as small ones may
}

// early is an answer that is kept.
type early struct {
	head
	body []byte
}

// newExchange makes an exchange. It returns when all other nodes have made theirs, with the
// same options.
func newExchange(ctx context.Context, o Options, serve func(from int, h head, body *wire.Reader) error) (*exchange, error) {
	l := &exchange{run: o.Nodes, memory: o.Memory, nodes: o.Nodes.Count(), serve: serve, calls: make(map[uint64]*call), lost: make([]error, o.Nodes.Count())}
	for node := range l.nodes {
		l.transfers = append(l.transfers, &transfer{exchange: l, node: node})
	}
	var err error
	if l.port, err = o.Nodes.Port(o.Port, orwl.PortOptions{
		Take: func(_ *orwl.Port, from int, header, bulk []byte) error { return l.deliver(from, header, bulk) },
		Lost: l.lose,
	}); err != nil {
		return nil, fmt.Errorf("table: %w", err)
	}
	mine := fmt.Appendf(nil, "%d volumes, hash %x", o.Volumes, o.Hash([]byte("table")))
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
func (l *exchange) ask(c *call, what message, count int, body []byte) {
	if c.ended == nil {
		c.done = make(chan struct{})
	}
	l.mu.Lock()
	l.last++
	c.number = l.last
	err := l.lost[c.node]
	if l.over {
		err = ErrClosed
	}
	if err == nil {
		l.calls[c.number] = c
	}
	l.mu.Unlock()
	if err == nil {
		if err = l.send(c.node, head{what, c.number, 0, count}, body); err == nil {
			return
		}
		l.forget(c)
		if why := l.run.Network().Lost(c.node); why != nil { // which lose is about to be told
			err = &NodeLostError{Node: c.node, Why: why}
		}
	}
	c.end(err)
}

func (l *exchange) send(to int, h head, body []byte) error {
	var header [longestHead]byte
	return l.port.Send(to, h.encode(header[:0]), body)
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
	again := c.over
	if !again {
		c.over, c.err = true, err
	}
	c.mu.Unlock()
	switch {
	case again:
	case c.ended != nil:
		c.ended(err)
	default:
		close(c.done)
	}
}

// answered takes an answer, in its turn, with those that have overtaken it, and reports
// whether they were the last. It is an error if no correct node answers so.
func (c *call) answered(h head, body []byte) (last bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		return false, nil // the caller waits no more
	}
	if h.first != c.first {
		if len(c.early) == mostOps { // each has one element at least
			return true, fmt.Errorf("%w: answer from element %d on, and %d is to come", errMalformed, h.first, c.first)
		}
		c.early = append(c.early, early{h, bytes.Clone(body)})
		return false, nil
	}
	for {
		r := wire.NewReader(body)
		if err = c.take(h.count, &r); err == nil {
			err = r.Done()
		}
		if err != nil || h.what == answer {
			return true, err
		}
		c.first += h.count
		i := slices.IndexFunc(c.early, func(e early) bool { return e.first == c.first })
		if i < 0 {
			return false, nil
		}
		h, body = c.early[i].head, c.early[i].body
		c.early = slices.Delete(c.early, i, i+1)
	}
}

// deliver takes a message of another node.
func (l *exchange) deliver(from int, header, bulk []byte) error {
	h, err := parseHead(header, len(bulk))
	if err != nil {
		return err
	}
	switch h.what {
	case gone:
		l.lose(from, ErrClosed)
		return nil
	case part, answer:
		l.mu.Lock()
		c := l.calls[h.number]
		if c == nil || c.node != from {
			l.mu.Unlock()
			return nil // the caller waits no more
		}
		l.mu.Unlock()
		last, err := c.answered(h, bulk)
		if last {
			l.forget(c)
			c.end(err)
		}
		return err
	}
	l.mu.Lock()
	over := l.over
	l.mu.Unlock()
	if over {
		return nil // it was told, or is being told
	}
	// The message is here already, and its answer is about to be.
	size := len(bulk) + mostValues
	l.memory.Owe(size)
	defer l.memory.Drop(size)
	body := wire.NewReader(bulk)
	return l.serve(from, h, &body)
}

// reply answers a question of another node, or begins to. A lost node gets no answer.
func (l *exchange) reply(to int, h head, body []byte) { _ = l.send(to, h, body) }

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
			l.reply(node, head{what: gone}, nil)
		}
	}
	return nil
}

// batch sorts the ops of one Do into groups: ops of one local volume, or of one other node, are
// done together. It is used again.
type batch struct {
	hashes    []uint64
	next      []int32 // op of the same group, -1 after the last
	groups    []group
	touched   []int32 // groups that have ops
	questions []*question
	answered  []*question // the questions that can be used again
	read      uint64      // the sum of the words that were touched, so that the compiler keeps the reads
	values    int         // bytes of values in results so far
}

// later puts off an op and the ops of its group behind it, so that they keep their order.
func (b *batch) later(op int32, results []Result) {
	for i := op; i >= 0; i = b.next[i] {
		results[i] = Result{Value: results[i].Value, Err: ErrLater}
	}
}

// group is a list of ops, in their order.
type group struct {
	head, last int32 // -1 if there is none
	writes     bool  // one of them does
}

func newBatch(groups int) *batch {
	b := &batch{groups: make([]group, groups)}
	for i := range b.groups {
		b.groups[i] = group{head: -1, last: -1}
	}
	return b
}

// skip counts an op that is of no group.
func (b *batch) skip() {
	b.hashes = append(b.hashes, 0)
	b.next = append(b.next, -1)
}

// add appends an op to a group.
func (b *batch) add(op, to int, hash uint64, writes bool) {
	b.hashes = append(b.hashes, hash)
	b.next = append(b.next, -1)
	g := &b.groups[to]
	if g.last < 0 {
		g.head = int32(op)
		b.touched = append(b.touched, int32(to))
	} else {
		b.next[g.last] = int32(op)
	}
	g.last = int32(op)
	g.writes = g.writes || writes
}

// question adds an empty question.
func (b *batch) question() *question {
	var q *question
	if n := len(b.answered); n > 0 {
		q = b.answered[n-1]
		b.answered = b.answered[:n-1]
		q.err, q.later = nil, false
	} else {
		q = &question{b: b, done: make(chan struct{}, 1)}
	}
	b.questions = append(b.questions, q)
	return q
}

// each are the ops of a group.
func (b *batch) each(of int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := b.groups[of].head; i >= 0; i = b.next[i] {
			if !yield(int(i)) {
				return
			}
		}
	}
}

// mostKeptOps is how many ops a batch that is kept has memory for.
const mostKeptOps = 1 << 12

// clear makes the batch an empty one.
func (b *batch) clear() {
	for _, g := range b.touched {
		b.groups[g] = group{head: -1, last: -1}
	}
	b.hashes, b.next, b.touched, b.values = b.hashes[:0], b.next[:0], b.touched[:0], 0
	for _, q := range b.questions {
		if !q.over { // otherwise the answer may still come
			q.all = byteOps{}
			b.answered = append(b.answered, q)
		}
	}
	clear(b.questions)
	b.questions = b.questions[:0]
	if cap(b.hashes) > mostKeptOps {
		b.hashes, b.next = nil, nil
	}
}
