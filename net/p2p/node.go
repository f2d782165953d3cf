package p2p

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/orwl/go-orwl/net/node"
	"github.com/orwl/go-orwl/net/p2p/internal/gathering"
	"github.com/orwl/go-orwl/net/p2p/internal/lane"
	"github.com/orwl/go-orwl/net/p2p/internal/loan"
	"github.com/orwl/go-orwl/net/p2p/internal/membership"
	"github.com/orwl/go-orwl/net/p2p/internal/transport"
	"github.com/orwl/go-orwl/net/p2p/internal/window"
	"github.com/orwl/go-orwl/net/wire"
)

// Node is this process, as one of a run. Its methods may be called by any goroutine.
type Node struct {
	options   Options
	number    int
	announced string // the address that others are told
	address   string // the address that it listens at
	start     time.Time
	machine   string // see Machine
	host      *transport.Host
	peers     []atomic.Pointer[peer] // by number; nil for the node itself
	heart     *heart
	notices   *mailbox // calls of observers
	own       *mailbox // parcels to itself
	log       *slog.Logger
	counts    *Counts
	memory    *loan.Memory
	lanes     lane.Node // the part that all lanes share

	ctx        context.Context // done when it is closed
	cancel     context.CancelFunc
	group      sync.WaitGroup // its goroutines
	closing    atomic.Bool
	closed     chan struct{}
	receivers  atomic.Pointer[map[uint64]Receiver]
	operations atomic.Pointer[window.Operations]
	trip       atomic.Pointer[func(nanoseconds int64)]

	joined chan struct{} // closed when all nodes are there
	failed chan error    // gets the reason why they never will be
	parted chan struct{} // closed when this node is apart

	mu         sync.Mutex
	present    int // nodes that are there
	held       map[uint64][]heldParcel
	heldBytes  []int // by node
	lossSeen   []func(peer int, why error)
	suspectors []func(peer int)
	apartSeen  []func(why error)
	epochSeen  []func(Epoch)
	epochTold  uint64             // the epoch that epochSeen were told of last
	announces  []*PeerError       // the losses that observers were told of
	member     *membership.Member // nil until all nodes are there
	early      []earlyChange
	apart      error
	gatherer   *gathering.Member
	gatherings map[gathering.Key]*offered // the gatherings that this node waits for

	// For late nodes.
	holds    atomic.Bool        // LetIn was not called yet
	parked   *membership.Parked // until this node is in an epoch; nil on nodes that begin
	entry    sync.Mutex         // held from the first epoch's message until it has begun
	lateSeen []func(peer int, since uint64)
	past     []*peer             // peers of former lives
	waiting  map[int][][2][]byte // messages to a life whose peer is not there yet
	later    []later
	lives    chan struct{} // closed when a peer has come
}

// Join makes this process a node of a run. It listens, and returns when all nodes are
// there, or with the reason why they never will be. ctx bounds only that.
func Join(ctx context.Context, options Options) (*Node, error) {
	o := options.withDefaults()
	if err := o.validate(); err != nil {
		return nil, err
	}
	for {
		n, err := join(ctx, o)
		if !errors.Is(err, errOut) {
			return n, err
		}
		o.Incarnation++
	}
}

// join joins as one life.
func join(ctx context.Context, o Options) (*Node, error) {
	n, err := newNode(ctx, o)
	if err != nil {
		return nil, err
	}
	if o.Listening != nil {
		o.Listening(n.address)
	}
	n.group.Go(n.accept)
	n.group.Go(n.heart.run)
	if err := n.join(ctx); err != nil {
		n.abandon(err)
		return nil, err
	}
	return n, nil
}

// newNode makes a node that listens, but takes no connection yet.
func newNode(ctx context.Context, o Options) (*Node, error) {
	n := &Node{
		options: o, number: o.Number, machine: o.machine(), start: time.Now(), notices: newMailbox(), own: newMailbox(), log: o.Log, counts: o.Counts,
		closed: make(chan struct{}), joined: make(chan struct{}), failed: make(chan error, 1), parted: make(chan struct{}),
		held: make(map[uint64][]heldParcel), heldBytes: make([]int, o.Nodes), gatherings: make(map[gathering.Key]*offered), present: 1,
		waiting: make(map[int][][2][]byte), lives: make(chan struct{}),
	}
	var err error
	if n.host, err = transport.New(o.host(n.lanes.Talk)); err != nil {
		return nil, err
	}
	if o.Host != nil && o.Key == nil && !n.host.Loopback() {
		return nil, fmt.Errorf("%w: Options.Host can be reached from other machines: give all nodes the same Key", ErrNoKey)
	}
	if n.address, err = n.host.Listen(ctx, o.Listen); err != nil {
		return nil, errors.Join(err, n.host.Close())
	}
	n.announced = n.address
	n.holds.Store(o.Hold)
	n.ctx, n.cancel = context.WithCancel(context.Background())
	n.heart = newHeart(n)
	n.memory = loan.NewMemory(n.openArena)
	n.lanes = lane.Node{
		Number: o.Number, MaxBulk: o.MaxBulk, Backlog: o.Backlog, Memory: n.memory, Hoard: loan.NewHoard(n.memory),
		Counts: o.Counts, Log: o.Log, Go: n.group.Go, Parcels: inbox{n},
	}
	n.peers = make([]atomic.Pointer[peer], o.Nodes)
	for i := range n.peers {
		if i == n.number {
			continue
		}
		n.peers[i].Store(newPeer(n, i))
		if o.Peers != nil {
			n.peer(i).address = o.Peers[i]
		}
	}
	if o.Peers != nil && o.Peers[n.number] != "" {
		n.announced = o.Peers[n.number]
	}
	if n.number > 0 {
		n.peer(0).address = o.Root
	}
	if o.Late {
		n.parked = membership.NewParked(n.number, o.Nodes, membership.Seat{Life: o.Incarnation, Address: n.announced}, o.past)
	}
	receivers := map[uint64]Receiver{ownChannel: {Take: n.takeOwn}}
	n.receivers.Store(&receivers)
	n.group.Go(n.notices.run)
	n.group.Go(n.own.run)
	if !o.Late { // a late node does not know yet which numbers are free
		for i := o.Begin; i < o.Nodes; i++ {
			n.peer(i).excluded(1, membership.Absent)
		}
	}
	return n, nil
}

// Number is this node's.
func (n *Node) Number() int { return n.number }

// Nodes is how many there are, gone ones included.
func (n *Node) Nodes() int { return n.options.Nodes }

// Incarnation is which life of the node this is.
func (n *Node) Incarnation() uint64 { return n.options.Incarnation }

// Host is its libp2p host: Options.Host, or the one that it has made.
func (n *Node) Host() Host { return n.host.Host }

// Address is where it listens, as host:port.
func (n *Node) Address() string { return n.address }

// Where is the address at which a node listens, as this one reaches it.
func (n *Node) Where(number int) string {
	if number == n.number {
		return n.address
	}
	return n.peer(number).where()
}

// now is the time on this node's own clock, which never jumps, and is never 0.
func (n *Node) now() int64 { return int64(time.Since(n.start)) + 1 }

// sleep waits until a time by the node's own clock, or its end.
func (n *Node) sleep(until int64) {
	timer := time.NewTimer(time.Duration(until - n.now()))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-n.ctx.Done():
	}
}

// Send sends a parcel to the receiver of the channel on another node, or on this
// one. It does not wait, and the parcel is taken exactly once, unless either node is
// lost before. Parcels of a channel are taken in order among those whose bulk is at
// most 8 KiB. Larger ones may overtake each other once, and be overtaken: when it is
// found that both nodes are on one machine, they go as loans.
//
// Header is copied. So is bulk, unless keep is set: then it must not be changed until
// the other node has taken it, which only its answer can tell.
func (n *Node) Send(to int, channel uint64, header, bulk []byte, keep bool) error {
	return n.send(to, channel, header, bulk, keep, false)
}

// Post is Send of a parcel whose answer is not waited for. It travels with what is sent
// next, if that is soon: within the time that another goroutine takes to run.
func (n *Node) Post(to int, channel uint64, header, bulk []byte, keep bool) error {
	return n.send(to, channel, header, bulk, keep, true)
}

func (n *Node) send(to int, channel uint64, header, bulk []byte, keep, soon bool) error {
	switch {
	case to < 0 || to >= len(n.peers):
		return fmt.Errorf("p2p: Send to node %d, want 0 to %d", to, len(n.peers)-1)
	case len(header) > MaxParcelHeader || len(bulk) > wire.MaxBulk:
		return fmt.Errorf("p2p: Send of a header of %d bytes and %d bytes of bulk, want at most %d and %d",
			len(header), len(bulk), MaxParcelHeader, wire.MaxBulk)
	case n.closing.Load() && channel != ownChannel:
		return ErrClosed
	}
	if to != n.number && len(bulk) >= lane.DataFrom && channel != ownChannel {
		if lent, err := n.lends(to, channel, header, bulk, keep); lent {
			return err
		}
	}
	if !keep && (len(bulk) >= lane.DataFrom || to == n.number) {
		bulk = bytes.Clone(bulk)
	}
	if to == n.number {
		n.sendSelf(channel, bytes.Clone(header), bulk)
		return nil
	}
	l := n.lane(to, len(bulk) >= lane.DataFrom)
	return l.Send(&wire.Parcel{Channel: channel, Header: header}, bulk, soon)
}

// MaxParcelHeader is the size of the largest header that Send takes.
const MaxParcelHeader = wire.MaxHeader - lane.MostParcelHead

// Pace waits until not more than a few megabytes are on their way to a node on either
// lane. Call it before each of many parcels, but never from a receiver.
func (n *Node) Pace(ctx context.Context, to int) error {
	if to < 0 || to >= len(n.peers) {
		return fmt.Errorf("p2p: Pace for node %d, want 0 to %d", to, len(n.peers)-1)
	}
	if to == n.number {
		return nil
	}
	for kind := range transport.Kinds {
		if err := n.peer(to).lanes[kind].Wait(ctx); err != nil {
			return err
		}
	}
	return nil
}

// lane is the one to another node, for bulk or for everything else.
func (n *Node) lane(to int, bulk bool) *lane.Lane {
	if bulk {
		return &n.peer(to).lanes[transport.Data]
	}
	return &n.peer(to).lanes[transport.Control]
}

// Memory hands out memory of a node that the other nodes of its machine can read where
// it is: what is sent from there, by [Node.Send] with keep set, is not even copied on
// its way. There is no need for it: bytes that lie elsewhere are copied once.
type Memory = loan.Memory

// Memory is the memory of the node.
func (n *Node) Memory() *Memory { return n.memory }

// openArena makes the arena of the node, unless it shares nothing.
func (n *Node) openArena() *loan.Arena {
	if n.machine == "" {
		return nil
	}
	a, err := loan.NewArena(n.options.Nodes)
	if err != nil {
		n.log.Debug("no memory to share with nodes of this machine", "why", err)
		return nil
	}
	if n.ctx.Err() != nil { // it is closed, so no node may map it
		a.Close()
	}
	if a.Bell != nil {
		n.lanes.Attention(a.Attention())
		context.AfterFunc(n.ctx, a.Bell.Close)
		n.group.Go(func() { n.listen(a.Bell) })
	}
	return a
}

// listen looks at the rings of other nodes of the machine whenever the bell has rung.
func (n *Node) listen(b *loan.Bell) {
	for b.Hear() == nil {
		n.lanes.Heard()
	}
}

// Attend says that the caller calls Look again and again, until it calls Leave: other nodes of the machine then
// need not wake this one. Look takes what has come from them, and reports whether something has. It calls
// receivers.
func (n *Node) Attend() { n.lanes.Attend() }

// Look is a look: see Attend.
func (n *Node) Look() bool { return n.lanes.Look() }

// Leave ends Attend.
func (n *Node) Leave() { n.lanes.Leave() }

// Traffic is what went over a node's lanes, by kind of frame.
type Traffic = node.Traffic

// Flow is how much of one kind went one way.
type Flow = node.Flow

// Counts are what has happened to a node's streams. They may be read at any time.
type Counts = node.Counts

// Counts are the node's, or the ones that its Options gave it.
func (n *Node) Counts() *Counts { return n.counts }

// Traffic adds up what went over all lanes of the node so far.
func (n *Node) Traffic() (t Traffic) {
	for _, p := range n.all() {
		if p == nil {
			continue
		}
		for kind := range p.lanes {
			p.lanes[kind].AddTo(&t)
		}
	}
	return t
}

// OnTrip has f called for each heartbeat of this node that another one echoes, with
// how long it was on its way there and back; the time for which the other has kept
// it does not count. f must not wait.
func (n *Node) OnTrip(f func(nanoseconds int64)) { n.trip.Store(&f) }

// mailbox does things one after the other, on a goroutine of its own, so that its
// caller need not wait.
type mailbox struct {
	mu     sync.Mutex
	more   sync.Cond
	jobs   []func()
	closed bool
}

func newMailbox() *mailbox {
	m := new(mailbox)
	m.more.L = &m.mu
	return m
}

// put appends a job, unless the mailbox is closed.
func (m *mailbox) put(job func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.closed {
		m.jobs = append(m.jobs, job)
		m.more.Signal()
	}
}

// close lets run return when it has done everything.
func (m *mailbox) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	m.more.Broadcast()
}

// run does the jobs until the mailbox is closed and empty.
func (m *mailbox) run() {
	for {
		m.mu.Lock()
		for len(m.jobs) == 0 && !m.closed {
			m.more.Wait()
		}
		jobs := m.jobs
		m.jobs = nil
		m.mu.Unlock()
		if len(jobs) == 0 {
			return
		}
		for _, job := range jobs {
			job()
		}
	}
}
