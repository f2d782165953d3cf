package p2p

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/orwl/go-orwl/net/p2p/internal/control"
	"github.com/orwl/go-orwl/net/p2p/internal/membership"
	"github.com/orwl/go-orwl/net/p2p/internal/transport"
	"github.com/orwl/go-orwl/net/wire"
)

// A node that comes late, or again, asks all nodes that it knows an address of, each by a stream of its own. So two lives
// that are both outside reach each other as well as members. See membership.Parked for what they say.
//
//	new life ──hello, Join, Ask or Offer──▶ node
//	         ◀──Enter, and hello or refuse── a member: its epoch, and whether it has this life
//	         ◀──────────Answer, and refuse── one that is outside, too

const (
	// parkedPass is how often a life outside looks at what it has heard. In between it has asked every node that it reaches.
	parkedPass = 3 * joinPause
	// parkedTries is how many passes it waits at least, before it asks for votes.
	parkedTries = 2
)

// errOut is a life that was let in and lost before it knew.
var errOut = errors.New("this life was in an epoch before it knew, and is not any more")

// rejoin asks all nodes whose address it knows, until this one is in an epoch. It learns addresses from those that it reaches.
func (n *Node) rejoin(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var asking sync.WaitGroup
	reasons, asked := make([]error, len(n.peers)), make([]bool, len(n.peers))
	var gone atomic.Int32 // nodes that this one asks no more
	pass := time.NewTicker(parkedPass)
	defer pass.Stop()
	for wait := parkedTries; ; wait-- {
		known := int32(0)
		for _, p := range n.all() {
			if p == nil || n.addressOf(p) == "" {
				continue
			}
			if known++; !asked[p.number] {
				asked[p.number] = true
				asking.Go(func() {
					reasons[p.number] = p.join(ctx)
					gone.Add(1)
				})
			}
		}
		switch known {
		case 0:
			return errors.New("p2p: Options.Late without an address of another node: give Root or Peers")
		case gone.Load():
			asking.Wait()
			return errors.Join(reasons...)
		}
		select {
		case <-n.joined:
			cancel()
			asking.Wait()
			return nil
		case <-ctx.Done():
			asking.Wait()
			return errors.Join(reasons...)
		case <-pass.C:
		}
		if n.turns(wait <= 0) {
			cancel()
			asking.Wait()
			return errOut
		}
		if wait <= 0 { // not all ask at the same time
			wait = parkedTries + rand.IntN(2*n.options.Nodes)
		}
	}
}

// addressOf is where another node may listen, "" if that is not known.
func (n *Node) addressOf(p *peer) string {
	if at := p.where(); at != "" {
		return at
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.parked.Epoch().Seats[p.number].Address
}

// turns does what follows from the answers of all, and reports whether this life never will be in an epoch. tries has it
// ask for votes.
func (n *Node) turns(tries bool) (out bool) {
	n.mu.Lock()
	n.parked.Turns()
	if tries {
		n.parked.Tries()
	}
	decided, out := n.parked.In(), n.parked.Out()
	n.mu.Unlock()
	if decided && n.comesIn() {
		n.mu.Lock()
		defer n.mu.Unlock()
		e := n.member.Epoch()
		said := membership.Message{Kind: membership.Enter, Number: e.Number, Seats: e.Seats}
		header, bulk := control.Message{Change: &control.Change{Epoch: e.Number}}.Bytes(), said.Bytes()
		for _, i := range e.Members() {
			if i != n.number {
				n.tells(i, header, bulk)
			}
		}
	}
	return out
}

// comesIn begins in the epoch that has this life, if one has, and reports whether it does so now.
func (n *Node) comesIn() bool {
	if n.parked == nil {
		return false
	}
	n.mu.Lock()
	in, e := n.parked.In(), n.parked.Epoch()
	n.mu.Unlock()
	if !in {
		return false
	}
	n.entry.Lock()
	defer n.entry.Unlock()
	if n.complete() {
		return false
	}
	// The life of this node is the one that is in.
	return n.takeMembers(membership.Message{Kind: membership.Enter, Number: e.Number, Seats: e.Seats}) == nil
}

// join asks one node until this one is in, and returns why it was not, so far. A node that was in touch with the life before has
// ended if nobody listens at its address for a lease.
func (p *peer) join(ctx context.Context) error {
	var last error // the error that says most: a node's own words
	o := p.node.options
	heard := time.Now()
	for {
		why := p.ask(ctx)
		switch {
		case !isAny(why, syscall.ECONNREFUSED, transport.ErrNobody):
			heard = time.Now()
		case o.past.Life != 0 && time.Since(heard) > o.Lease+o.Skew:
			return fmt.Errorf("p2p: node %d: %w: %w", p.number, ErrLeft, why)
		}
		if last == nil || errors.Is(why, ErrRefused) {
			last = why
		}
		timer := time.NewTimer(joinPause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return fmt.Errorf("p2p: node %d does not let node %d in: %w", p.number, p.node.number, last)
		}
	}
}

// ask asks one node once, and waits for what it says.
func (p *peer) ask(ctx context.Context) error {
	n := p.node
	at := n.addressOf(p)
	conn, err := n.host.DialJoin(ctx, p.number, at)
	if err != nil {
		return err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	if err := conn.SetDeadline(time.Now().Add(helloTimeout)); err != nil {
		return err
	}
	hello := p.hello(transport.Control, 0)
	n.mu.Lock()
	said := n.parked.Says()
	n.mu.Unlock()
	if _, err := conn.Write(appendWords(hello.Append(nil), said)); err != nil {
		return err
	}
	in := wire.NewInput(conn, n.options.MaxBulk)
	for {
		head, body, err := in.Next()
		if err != nil {
			return err
		}
		if head.Kind != wire.KindParcel {
			_, err = p.answered(head, body)
			return err
		}
		answer, err := n.words(in)
		if err != nil {
			return err
		}
		if answer.Self.Life != 0 {
			answer.Self.Address = at
		}
		n.mu.Lock()
		n.parked.Hears(p.number, answer)
		n.mu.Unlock()
		n.comesIn()
	}
}

// appendWords appends a message as a life outside sends it, and words reads the rest of it, which is behind its header.
func appendWords(b []byte, m membership.Message) []byte {
	bulk, frame := m.Bytes(), wire.Parcel{Channel: ownChannel}
	return wire.AppendBulk(frame.Append(b, wire.Head{Number: 1, Bulk: len(bulk)}), bulk)
}

func (n *Node) words(in *wire.Input) (membership.Message, error) {
	bulk, err := in.BulkGrowing(nil)
	if err != nil {
		return membership.Message{}, err
	}
	return membership.Parse(bulk, n.options.Nodes)
}

// takeJoin takes the stream of a life that is outside.
func (n *Node) takeJoin(conn *transport.Conn, number int) {
	defer conn.Close()
	p := n.peer(number)
	defer p.pending.Add(-1)
	if p.pending.Add(1) > mostPending || conn.SetDeadline(time.Now().Add(helloTimeout)) != nil {
		return
	}
	in := wire.NewInput(conn, n.options.MaxBulk)
	hello, err := heard(in.Next())
	var said membership.Message
	if err == nil {
		said, err = n.saidOutside(in)
	}
	var out []byte
	if err == nil && p.unlike(&hello) == "" {
		out, err = n.answersOutside(number, said)
	}
	if err != nil {
		p.misheard(err)
		return
	}
	reason := p.unlike(&hello)
	if reason == "" {
		if _, err := conn.Write(out); err != nil {
			return
		}
		n.comesIn()
		reason = n.admits(p, &hello, transport.SeenFrom(hello.Address, conn.Remote()))
	}
	if reason != "" {
		n.counts.Refused.Add(1)
		n.log.Debug("node is not let in", "peer", number, "why", reason)
		refuse(conn, reason)
		return
	}
	answer := p.hello(transport.Control, 0)
	out, _ = n.answersOutside(number, said) // a member answers whatever it is
	lasts(conn, answer.Append(out))
}

func (n *Node) saidOutside(in *wire.Input) (membership.Message, error) {
	head, _, err := in.Next()
	switch {
	case err != nil:
		return membership.Message{}, err
	case head.Kind != wire.KindParcel:
		return membership.Message{}, protocolError("%v instead of a question", head.Kind)
	}
	return n.words(in)
}

// answersOutside is the answer to a life that is outside: of a member its epoch. nil if the run has not begun.
func (n *Node) answersOutside(from int, said membership.Message) ([]byte, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case n.member != nil:
		e := n.member.Epoch()
		return appendWords(nil, membership.Message{Kind: membership.Enter, Number: e.Number, Seats: e.Seats}), nil
	case n.parked != nil:
		answer, err := n.parked.Answers(from, said)
		return appendWords(nil, answer), err
	}
	return nil, nil
}

// Again has this process go on as another life of the node. This life must be apart: OnApart has told. Again ends it
// without a goodbye, and waits until no other node can be sure of it by its lease. Then the process joins again, at the
// same address, with what this life knew. If other members go on, it comes late to their run. If none do, it forms the next
// epoch with the others that have come again. Set receivers and observers anew.
func (n *Node) Again(ctx context.Context) (*Node, error) {
	select {
	case <-n.parted:
	default:
		return nil, errors.New("p2p: Again of a node that is not apart from its run")
	}
	o := n.options
	o.Late, o.Listen, o.Listening, o.Peers, o.Root = true, n.address, nil, make([]string, o.Nodes), ""
	for i := range o.Peers {
		o.Peers[i] = n.Where(i)
	}
	o.Peers[n.number] = n.announced
	o.Incarnation++
	if n.closing.Swap(true) { // from now on no other life of a node comes here
		<-n.closed
		return nil, ErrClosed
	}
	err := n.letsGo(ctx)
	n.shut()
	if err != nil {
		return nil, err
	}
	o.past = n.member.Past()
	return Join(ctx, o)
}

// letsGo says nothing more to any other node, and waits until none can be sure of this one.
func (n *Node) letsGo(ctx context.Context) error {
	for _, p := range n.all() {
		if p != nil {
			p.lose(n.apart)
		}
	}
	terms := n.options.terms()
	for _, p := range n.all() {
		if p == nil {
			continue
		}
		timer := time.NewTimer(time.Duration(terms.GivesUp(p.contact.Heard()) - n.now()))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return fmt.Errorf("p2p: node %d waits for its lease: %w", n.number, context.Cause(ctx))
		}
	}
	return nil
}
