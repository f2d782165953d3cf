package orwl

import (
	"context"
	"fmt"
	"sync"

	"github.com/orwl/go-orwl/internal/pack"
	"github.com/orwl/go-orwl/net/node"
	"github.com/orwl/go-orwl/orwl/internal/agreement"
)

// meeting is where the nodes agree on phases. It joins the step functions of package agreement to
// the network and to the goroutines that call Phase. A run of one
// node has a meeting of one.
type meeting struct {
	nodes *Nodes
	turn  chan struct{} // holds one of the calls of Phase, which decides with the others

	mu      sync.Mutex
	chair   *agreement.Chair // nil but on node 0
	member  agreement.Member
	pending *Phase            // its proposal is open
	met     map[uint64]*Phase // by number, until they end
	over    error             // why no more phases meet, or nil
	shut    chan struct{}     // closed then
	gone    error             // why nothing comes from node 0 any more, or nil
	alone   chan struct{}     // closed then
}

// The rounds of an agreement, after the proposals.
const (
	voteRound = iota + 1 // whether the phase joins
	endRound             // its tasks have ended
	rounds
)

func newMeeting(n *Nodes) *meeting {
	gaveUp := NodeError{Node: n.Number(), Text: "it gave up the phase before all nodes had called it"}
	g := &meeting{
		nodes: n, turn: make(chan struct{}, 1), met: make(map[uint64]*Phase), shut: make(chan struct{}), alone: make(chan struct{}),
		member: agreement.Member{Refusal: pack.Encode(&vote{Version: messageVersion, Failure: gaveUp.encode()})},
	}
	if n.Number() == 0 {
		g.chair = agreement.NewChair(n.Count())
	}
	return g
}

// open lets messages of other nodes come.
func (g *meeting) open() error {
	g.nodes.node.OnLoss(g.lost)
	return g.nodes.node.Receive(phaseChannel, node.Receiver{Take: func(from int, header, bulk []byte) error {
		m, err := agreement.Parse(header, bulk, g.nodes.Count())
		if err != nil {
			return fmt.Errorf("%w: %w", node.ErrProtocol, err)
		}
		g.mu.Lock()
		defer g.mu.Unlock()
		if err := g.take(from, m); err != nil {
			return fmt.Errorf("%w: %w", node.ErrProtocol, err)
		}
		return nil
	}})
}

// take takes a message.
func (g *meeting) take(from int, m agreement.Message) error {
	switch m.Kind {
	case agreement.Propose, agreement.Withdraw, agreement.Leave, agreement.Give:
		if g.chair == nil {
			return fmt.Errorf("%w: node %d takes this node for node 0", agreement.ErrMessage, from)
		}
		out, err := g.chair.Step(from, m)
		g.post(out)
		return err
	}
	answer, news, err := g.member.Step(from, m)
	switch {
	case err != nil:
		return err
	case news:
		return g.hear(m)
	}
	g.send(answer)
	return nil
}

// hear gives news to the phase that it concerns.
func (g *meeting) hear(m agreement.Message) error {
	p := g.met[m.Number]
	switch {
	case m.Kind == agreement.Left:
		g.close(fmt.Errorf("%w: the tasks of node %d have ended", ErrNotRunning, m.Number))
		return nil
	case m.Kind == agreement.All && m.Round == 0:
		p = g.pending
		g.pending, p.number, g.met[m.Number] = nil, m.Number, p
	case p == nil: // it has ended
		return nil
	case m.Kind == agreement.Tell:
		why, err := parseFailure(m.Blob, g.nodes.Count())
		if err == nil {
			p.run.lost(why)
		}
		return err
	}
	select {
	case p.all[m.Round] <- m.List:
		return nil
	default:
		return fmt.Errorf("%w: round %d of agreement %d, again", agreement.ErrMessage, m.Round, m.Number)
	}
}

// post sends the letters of the chair.
func (g *meeting) post(out []agreement.Letter) {
	for _, l := range out {
		if l.To == g.nodes.Number() {
			if err := g.take(l.To, l.Message); err != nil {
				panic(err) // this node is correct
			}
			continue
		}
		g.sendTo(l.To, l.Message)
	}
}

// send sends a message to the chair.
func (g *meeting) send(m agreement.Message) {
	if g.chair != nil {
		g.post([]agreement.Letter{{To: g.nodes.Number(), Message: m}})
		return
	}
	g.sendTo(0, m)
}

func (g *meeting) sendTo(node int, m agreement.Message) {
	header, bulk := m.Encode()
	// If it fails, that node is lost, and this one is about to learn it.
	_ = g.nodes.node.Send(node, phaseChannel, header, bulk, false)
}

// propose waits until all nodes have called the phase, and returns what they propose.
func (g *meeting) propose(ctx context.Context, p *Phase, blob []byte) ([][]byte, error) {
	g.mu.Lock()
	if g.over != nil {
		defer g.mu.Unlock()
		return nil, g.over
	}
	g.pending = p
	g.send(g.member.Propose(blob))
	g.mu.Unlock()
	why := error(nil)
	select {
	case all := <-p.all[0]:
		return all, nil
	case <-ctx.Done():
		why = context.Cause(ctx)
	case <-g.shut:
	case <-g.alone:
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.pending != p { // all have called it meanwhile
		return <-p.all[0], nil
	}
	g.pending = nil
	if g.member.Open() {
		g.send(g.member.Withdraw())
	}
	for _, other := range []error{g.gone, g.over} {
		if why == nil {
			why = other
		}
	}
	return nil, why
}

// give gives something in a round of the phase, and waits for what all give. It fails only
// with node 0.
func (g *meeting) give(p *Phase, round int, blob []byte) ([][]byte, error) {
	g.mu.Lock()
	g.send(agreement.Message{Kind: agreement.Give, Number: p.number, Round: uint64(round), Blob: blob})
	g.mu.Unlock()
	select {
	case all := <-p.all[round]:
		return all, nil
	case <-g.alone:
		return nil, g.gone
	}
}

// tell tells the other nodes that a phase has failed here.
func (g *meeting) tell(p *Phase, why error) {
	m := agreement.Message{Kind: agreement.Tell, Number: p.number, Blob: g.nodes.failureOf(why).encode()}
	for node := range g.nodes.Count() {
		if node != g.nodes.Number() {
			g.sendTo(node, m)
		}
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

// leave tells the other nodes that no phase of this node follows.
func (g *meeting) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.send(agreement.Message{Kind: agreement.Leave})
}

// lost takes the loss of a node.
func (g *meeting) lost(node int, why error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.chair != nil:
		g.post(g.chair.Lost(node))
	case node == 0 && g.gone == nil:
		g.gone = &NodeError{Node: node, Lost: true, Text: why.Error()}
		close(g.alone)
	}
}
