package meeting

import (
	"errors"
	"math"

	"github.com/orwl/go-orwl/net/node"
	"github.com/orwl/go-orwl/orwl/internal/message"
)

// Hear takes news of another node. The error says that they are none.
func (m *Meeting) Hear(news []byte) error {
	n, failure, err := message.ParseNews(news, m.o.Nodes)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	w := m.table.hear(n)
	if w.fails != nil {
		w.fails.fails(failure)
	}
	m.close()
	return nil
}

// Fails tells the other nodes that a phase has failed here.
func (m *Meeting) Fails(c *Call, why *message.Failure) {
	m.tell(&message.News{Number: c.Number, Failure: why.Encode()})
}

func (m *Meeting) tell(n *message.News) {
	if n != nil && m.o.Nodes > 1 {
		m.o.Tell(n.Encode())
	}
}

// Leave tells the other nodes that no phase of this node follows.
func (m *Meeting) Leave() {
	m.mu.Lock()
	w := m.table.leave()
	m.close()
	m.mu.Unlock()
	m.tell(w.tell)
}

// Lost takes the loss of a node.
func (m *Meeting) Lost(peer int, why error) {
	m.mu.Lock()
	w := m.table.lost(peer, errors.Is(why, node.ErrLeft))
	m.mu.Unlock()
	m.tell(w.tell)
}

// Part notes why nothing is agreed with this node any more: it is apart from too many others.
func (m *Meeting) Part(why error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.apart == nil {
		m.apart = why
		close(m.parted)
	}
}

// End lets no more phases meet.
func (m *Meeting) End(why error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.end(why)
}

// close lets no more phases meet if a node has left. The caller holds mu.
func (m *Meeting) close() {
	if node := m.table.left; node >= 0 {
		m.end(m.o.Left(node))
	}
}

func (m *Meeting) end(why error) {
	if m.over == nil {
		m.over = why
		close(m.shut)
	}
}

// ended is why no more phases meet, or nil.
func (m *Meeting) ended() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.over
}

// Return says that this node has come back to the run, and knows no agreement of before.
func (m *Meeting) Return() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.table.knows = math.MaxUint64
}

// Knows is the number of the first agreement that this node may know.
func (m *Meeting) Knows() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.table.knows
}
