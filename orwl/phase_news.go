package orwl

import (
	"errors"
	"fmt"

	"github.com/orwl/go-orwl/internal/pack"
	"github.com/orwl/go-orwl/net/node"
)

// news is what a node tells all others, beside what they agree upon: that a phase has failed, or
// that a node has left the meeting.
type news struct {
	Version uint64 `msgpack:"version"`
	Number  uint64 `msgpack:"number"`  // of the phase
	Failure []byte `msgpack:"failure"` // empty: Node has left
	Node    int    `msgpack:"node"`
}

// parseNews reads news. why is the failure in it, or nil.
func parseNews(b []byte, nodes int) (m news, err error) {
	if err = pack.Decode(b, &m); err == nil {
		_, err = checkSaid(m.Version, m.Failure, nodes)
	}
	if err == nil && (m.Node < 0 || m.Node >= nodes) {
		err = fmt.Errorf("node %d, want 0 to %d", m.Node, nodes-1)
	}
	if err != nil {
		return news{}, fmt.Errorf("orwl: news of a phase: %w", err)
	}
	return m, nil
}

// spread tells all other nodes.
func (g *meeting) spread(m news) {
	if !g.nodes.many() {
		return
	}
	m.Version = messageVersion
	b := pack.Encode(&m)
	for peer := range g.nodes.Count() {
		if peer != g.nodes.Number() {
			// If it fails, that node is lost, and this one is about to learn it.
			_ = g.nodes.node.Send(peer, phaseChannel, b, nil, false)
		}
	}
}

// hear takes news.
func (g *meeting) hear(m news) {
	g.mu.Lock()
	defer g.mu.Unlock()
	p := g.met[m.Number]
	switch {
	case len(m.Failure) == 0:
		g.leaves(m.Node)
	case p != nil: // it has not ended
		if why, err := parseFailure(m.Failure, g.nodes.Count()); err == nil { // it was read before
			p.run.lost(why)
		}
	}
}

// tell tells the other nodes that a phase has failed here.
func (g *meeting) tell(p *Phase, why error) {
	g.spread(news{Number: p.number, Failure: g.nodes.failureOf(why).encode()})
}

// leave tells the other nodes that no phase of this node follows.
func (g *meeting) leave() {
	g.mu.Lock()
	g.leaves(g.nodes.Number())
	g.mu.Unlock()
	g.spread(news{Node: g.nodes.Number()})
}

// leaves notes that no phase meets any more, since a node has left.
func (g *meeting) leaves(node int) {
	if g.left < 0 {
		g.left = node
	}
	g.close(fmt.Errorf("%w: the tasks of node %d have ended", ErrNotRunning, node))
}

// lost takes the loss of a node. If it was the first that has left, some nodes may not have heard
// that.
func (g *meeting) lost(peer int, why error) {
	g.mu.Lock()
	tells := g.left == peer && !errors.Is(why, node.ErrLeft)
	g.mu.Unlock()
	if tells {
		g.spread(news{Node: peer})
	}
}

// parts notes that this node is apart.
func (g *meeting) parts(why error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.apart == nil {
		g.apart = &NodeError{Node: g.nodes.Number(), Lost: true, Text: why.Error()}
		close(g.parted)
	}
}

// forget forgets a phase that has ended, or has not joined.
func (g *meeting) forget(p *Phase) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.met, p.number)
}

// ended is why no more phases meet, or nil.
func (g *meeting) ended() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.over
}

// end lets no more phases meet.
func (g *meeting) end(why error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.close(why)
}

func (g *meeting) close(why error) {
	if g.over == nil {
		g.over = why
		close(g.shut)
	}
}
