package p2p

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/orwl/go-orwl/net/p2p/internal/membership"
	"github.com/orwl/go-orwl/net/wire"
)

// A node that was lost, or has left, or is apart, comes back as another life. One whose number was free comes as its
// first. The process asks members until an epoch has it (parked.go). Each member then knows it as another peer:
//
//	new life ──hello──▶ member        by a stream for that, /orwl/join/1
//	                    the members decide on an epoch with it
//	         ◀─hello──  the member has its peer
//	         ◀─Enter──  from each member, on the control lane
//
// While a member has not lost the life before, it refuses the new one, which asks again. The
// observers of a member know that one life is gone before they hear of the next one.

// joinPause is how long a new life waits before it asks again, and joinHold how long a member lets
// it wait for the epoch.
const (
	joinPause = 20 * time.Millisecond
	joinHold  = time.Second
)

// errBefore is why the life before is given up where nothing else has told.
var errBefore = errors.New("another life of the node is there")

// peer is the other node of a number, in the life that this node knows last.
func (n *Node) peer(number int) *peer { return n.peers[number].Load() }

// all are the peers, by number: nil for the node itself.
func (n *Node) all() iter.Seq2[int, *peer] {
	return func(yield func(int, *peer) bool) {
		for i := range n.peers {
			if !yield(i, n.peer(i)) {
				return
			}
		}
	}
}

// OnLate has f called for each node that comes late, after the loss of its life before, and before
// anything of the new life comes. since is the epoch that has let it in: each later life of a node
// has more.
func (n *Node) OnLate(f func(peer int, since uint64)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lateSeen = append(n.lateSeen, f)
}

// LetIn lets late nodes in that ask this one: see Options.Hold.
func (n *Node) LetIn() { n.holds.Store(false) }

// Since is the epoch in which this life of the node came in: 1 for the nodes of the beginning.
func (n *Node) Since() uint64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.member.Epoch().Seats[n.number].Since
}

// admits waits until a new life is in, and returns why it is not, yet.
func (n *Node) admits(p *peer, hello *wire.Hello, address string) (reason string) {
	switch {
	case !n.complete() || n.holds.Load():
		return "the run has not begun"
	case hello.Incarnation < p.life():
		return "a later life of it was there"
	case hello.Incarnation > p.life() && p.loss() == nil && !p.outlived(address):
		return fmt.Sprintf("node %d, at %s, is still there", p.number, p.where())
	case hello.Incarnation > p.life():
		p.lose(fmt.Errorf("%w: %w", errEnded, errBefore)) // if it is not lost yet
		// A request to join is always taken.
		_ = n.change(func(m *membership.Member) ([]membership.Letter, error) {
			return m.Join(p.number, hello.Incarnation, address), nil
		})
	}
	if !n.awaitLife(p.number, hello.Incarnation, joinHold) {
		return "the members have not agreed on it yet: all must hear it, and the leases of lost nodes must be over"
	}
	return ""
}

// outlived reports whether a later life has asked to join from this one's address for the time of a lease. So this one has ended, though nothing has told: a goodbye
// would have come by now.
func (p *peer) outlived(address string) bool {
	if address != p.where() {
		return false
	}
	now := p.node.now()
	p.asked.CompareAndSwap(0, now)
	return now-p.asked.Load() > int64(p.node.options.Lease)
}

// awaitLife waits for some time until a life of another node is in.
func (n *Node) awaitLife(number int, life uint64, most time.Duration) bool {
	timer := time.NewTimer(most)
	defer timer.Stop()
	for {
		n.mu.Lock()
		changed := n.lives
		n.mu.Unlock()
		if n.peer(number).life() == life {
			return true
		}
		select {
		case <-changed:
		case <-timer.C:
			return false
		case <-n.ctx.Done():
			return false
		}
	}
}

// returns makes the peers of lives that are new in an epoch, once the observers know that those
// before are gone.
func (n *Node) returns(e membership.Epoch) {
	for i, p := range n.all() {
		s := e.Seats[i]
		if p == nil || s.Life == p.life() || s.State != membership.In {
			continue
		}
		p.lose(fmt.Errorf("%w: %w", errEnded, errBefore))
		n.group.Go(func() {
			select {
			case <-p.announced:
				n.notices.put(func() { n.comes(p, s) })
			case <-n.ctx.Done():
			}
		})
	}
}

// comes has the observers know of a new life, and then makes its peer.
func (n *Node) comes(before *peer, s membership.Seat) {
	i := before.number
	n.mu.Lock()
	n.announces = slices.DeleteFunc(n.announces, func(e *PeerError) bool { return e.Node == i })
	observers := slices.Clone(n.lateSeen)
	n.mu.Unlock()
	for _, f := range observers {
		f(i, s.Since)
	}
	p := newPeer(n, i)
	p.address, p.incarnation = s.Address, s.Life
	p.lending.Store(uint32(unwilling)) // this node's arena has given up the number
	e, is := n.install(p, before)
	if now := e.Seats[i]; is && now.Life == s.Life && now.State != membership.In { // it is gone again
		p.excluded(e.Number, now.State)
	}
}

// install puts a peer in the place of the one before, and returns the epoch. It does not if
// the epoch has a later life, or this node is about to close.
func (n *Node) install(p, before *peer) (e membership.Epoch, is bool) {
	i := p.number
	n.mu.Lock()
	defer n.mu.Unlock()
	e = n.member.Epoch()
	if n.closing.Load() || e.Seats[i].Life != p.life() {
		p.cancel()
		return e, false
	}
	n.past = append(n.past, before)
	n.peers[i].Store(p)
	news := "node is back"
	if before.life() == 0 {
		news = "node has come"
	}
	n.log.Info(news, "peer", i, "address", p.address, "epoch", e.Number)
	waiting := n.waiting[i]
	delete(n.waiting, i)
	for _, w := range waiting {
		_ = n.Send(i, ownChannel, w[0], w[1], true) // if it fails, the node is gone
	}
	close(n.lives)
	n.lives = make(chan struct{})
	n.settles()
	n.entered()
	return e, true
}

// tells sends what nodes say about membership and gatherings. It waits for the peer of a life that is
// new in the epoch. n.mu is held.
func (n *Node) tells(to int, header, bulk []byte) {
	if n.behind(to) {
		n.waiting[to] = append(n.waiting[to], [2][]byte{header, bulk})
		return
	}
	_ = n.Send(to, ownChannel, header, bulk, true) // if it fails, that node is gone
}

// behind reports whether the epoch has a life whose peer is not there yet. n.mu is held.
func (n *Node) behind(number int) bool {
	s := n.member.Epoch().Seats[number]
	return number != n.number && s.State == membership.In && s.Life != n.peer(number).life()
}

// settles does what waits for an epoch whose peers are all there. n.mu is held.
func (n *Node) settles() {
	n.later = slices.DeleteFunc(n.later, func(l later) bool {
		is := n.ready(l.epoch)
		if is {
			n.notices.put(l.job)
		}
		return is
	})
}

// later is a job for when an epoch has come, and all its peers are there.
type later struct {
	epoch uint64
	job   func()
}

// ready reports whether an epoch has come, and all its peers are there. n.mu is held.
func (n *Node) ready(epoch uint64) bool {
	if n.member.Epoch().Number < epoch {
		return false
	}
	for i := range n.peers {
		if n.behind(i) {
			return false
		}
	}
	return true
}
