package orwl

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/orwl/go-orwl/internal/pack"
	"github.com/orwl/go-orwl/net/node"
)

// meeting is where the nodes agree on phases. They do so by gatherings of the network, which go on
// whichever node is lost:
//
//	"phase"        what each node proposes; the round is the number of the agreement
//	"votes"        whether the phase joins, from those that have proposed
//	"phase 7 ends" its tasks have ended on a node
//
// A node whose call is taken back says so in the place of its proposal. If that comes in time, the
// agreement is void, and the others propose once more. If it comes too late, the node refuses in
// the vote. A run of one node has a meeting of one.
type meeting struct {
	nodes *Nodes
	turn  chan struct{} // holds one of the calls of Phase, which decides with the others

	mu      sync.Mutex
	knows   uint64            // the number of the first agreement that this node may know
	call    uint64            // counts what this node has proposed, or taken back
	back    error             // why this node took its last call back
	open    node.Gathering    // of proposals, until all nodes have proposed; else nil
	pending *Phase            // its proposal is open
	alone   uint64            // counts the agreements of a run of one node
	met     map[uint64]*Phase // by number, until they end
	over    error             // why no more phases meet, or nil
	left    int               // the node that has left the meeting first, or -1
	shut    chan struct{}     // closed when no more phases meet
	apart   error             // why nothing is agreed with this node any more, or nil
	parted  chan struct{}     // closed then
}

// The names of gatherings.
const (
	proposals = "phase"
	votes     = "votes"
)

// endsOf is the name under which nodes say that a phase has ended.
func endsOf(number uint64) string { return fmt.Sprintf("phase %d ends", number) }

// numberOf is the number of the phase in a name of endsOf, or 0.
func numberOf(name string) uint64 {
	text, _ := strings.CutSuffix(strings.TrimPrefix(name, "phase "), " ends")
	number, err := strconv.ParseUint(text, 10, 64)
	if err != nil || endsOf(number) != name {
		return 0
	}
	return number
}

// errAgain is the end of an agreement in which a node has taken its call back.
var errAgain = errors.New("orwl: a node has taken its call of a phase back")

func newMeeting(n *Nodes) *meeting {
	return &meeting{
		nodes: n, turn: make(chan struct{}, 1), met: make(map[uint64]*Phase), left: -1,
		shut: make(chan struct{}), parted: make(chan struct{}),
	}
}

// begin lets messages of other nodes come.
func (g *meeting) begin() error {
	g.nodes.node.OnLoss(g.lost)
	g.nodes.node.OnApart(g.parts)
	return g.nodes.node.Receive(phaseChannel, node.Receiver{Take: func(from int, header, _ []byte) error {
		m, err := parseNews(header, g.nodes.Count())
		if err != nil {
			return fmt.Errorf("%w: %w", node.ErrProtocol, err)
		}
		g.hear(m)
		return nil
	}})
}

// propose waits until all nodes have called the phase, and returns what they propose.
func (g *meeting) propose(ctx context.Context, p *Phase, offer []byte) ([][]byte, error) {
	for {
		if err := g.offer(p, offer); err != nil {
			return nil, err
		}
		why := error(nil)
		select {
		case a := <-p.agreed:
			if a.err != errAgain {
				return a.list, a.err
			}
			continue
		case <-ctx.Done():
			why = context.Cause(ctx)
		case <-g.shut:
		case <-g.parted:
		}
		why = g.why(why)
		if a, agreed := g.takeBack(p, why); agreed { // all have called it meanwhile
			if a.err != errAgain {
				return a.list, a.err
			}
		}
		return nil, why
	}
}

// offer proposes a phase, in the place of what is open.
func (g *meeting) offer(p *Phase, offer []byte) (err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.over != nil {
		return g.over
	}
	g.call++
	g.pending = p
	said := pack.Encode(&proposal{messageVersion, g.call, g.nodes.life(), false, offer})
	switch {
	case !g.nodes.many():
		g.alone++
		g.agree(g.alone, [][]byte{said})
	case g.open != nil:
		err = g.open.Change(said)
	default:
		g.open, err = g.nodes.node.Offer(proposals, said, g.gathered)
	}
	if err != nil {
		g.pending = nil
	}
	return err
}

// takeBack takes the call of a phase back, unless it is agreed upon, or void.
func (g *meeting) takeBack(p *Phase, why error) (a agreed, is bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.pending != p {
		return <-p.agreed, true
	}
	g.pending = nil
	g.call++
	g.back = why
	// It is short.
	_ = g.open.Change(pack.Encode(&proposal{messageVersion, g.call, g.nodes.life(), true, nil}))
	return a, false
}

// why is why a call of Phase ends: the given reason, if there is one.
func (g *meeting) why(first error) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, other := range []error{g.apart, g.over} {
		if first == nil {
			first = other
		}
	}
	return first
}

// gathered takes what all nodes have proposed.
func (g *meeting) gathered(list [][]byte) {
	g.mu.Lock()
	defer g.mu.Unlock()
	number := g.open.Round()
	g.open = nil
	g.agree(number, list)
}

// agree is the beginning of an agreement. All nodes have the same list.
func (g *meeting) agree(number uint64, list [][]byte) {
	g.knows = min(g.knows, number)
	offers, lives, mine, void, err := parseProposals(list, g.nodes.Number())
	p := g.pending
	g.pending = nil
	answer := agreed{offers, err}
	switch {
	case err != nil:
	case void:
		answer = agreed{err: errAgain}
	case mine != g.call:
		g.refuse(number, lives)
		answer = agreed{err: errAgain}
	case p != nil:
		p.number, p.among, g.met[number] = number, lives, p
	}
	if p != nil {
		p.agreed <- answer
	}
}

// refuse votes against an agreement on what this node has taken back. If it did so because a node
// is lost, it says which one: the others may not know it yet.
func (g *meeting) refuse(number uint64, among []uint64) {
	why := (*NodeError)(nil)
	if !errors.As(g.back, &why) || !why.Lost {
		why = &NodeError{Node: g.nodes.Number(), Text: "it gave up the phase before all nodes had called it"}
	}
	v := vote{Version: messageVersion, Failure: why.encode()}
	// It is short.
	_, _ = g.nodes.node.OfferAmong(votes, number, among, pack.Encode(&v), func([][]byte) {})
}

// vote votes on the phase, and waits for the votes of all.
func (g *meeting) vote(p *Phase, blob []byte) ([][]byte, error) {
	return g.give(p, votes, p.number, blob)
}

// ends says that the tasks of the phase have ended here, and waits until all nodes have said so.
func (g *meeting) ends(p *Phase, blob []byte) ([][]byte, error) {
	return g.give(p, endsOf(p.number), 1, blob)
}

// give gathers among the nodes that have proposed the phase. It fails if this node is apart.
func (g *meeting) give(p *Phase, name string, round uint64, blob []byte) ([][]byte, error) {
	if !g.nodes.many() {
		return [][]byte{append([]byte{}, blob...)}, nil // not nil, which is a node that is lost
	}
	done := make(chan [][]byte, 1)
	open, err := g.nodes.node.OfferAmong(name, round, p.among, blob, func(list [][]byte) { done <- list })
	if err != nil {
		return nil, err
	}
	defer open.Drop()
	select {
	case list := <-done:
		return list, nil
	case <-g.parted:
		return nil, g.why(nil)
	}
}

// settle lets the network forget the ends of phases that have ended on all nodes: no proposal of a
// later one names them.
func (g *meeting) settle(p *Phase, offers []*offer) {
	if !g.nodes.many() {
		return
	}
	run := make(map[uint64]bool)
	for _, o := range offers {
		if o == nil {
			continue
		}
		for _, r := range o.Runs {
			run[r.Number] = true
		}
	}
	g.nodes.node.ForgetGathered(func(name string) bool {
		number := numberOf(name)
		return number > 0 && number < p.number && !run[number]
	})
}

// from is the number of the first agreement that this node may know.
func (g *meeting) from() uint64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.knows
}
