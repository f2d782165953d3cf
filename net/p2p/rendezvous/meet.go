package rendezvous

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/discovery"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/orwl/go-orwl/net/p2p/internal/transport"
)

const (
	// pulse is how often the agreement is told the time.
	pulse = 50 * time.Millisecond
	// findAgain is the pause before the others are looked for again.
	findAgain = 500 * time.Millisecond
)

// Seat is this process's part in the run.
type Seat struct {
	// Number is the number of the node.
	Number int
	// Root is where node 0 listens, as host:port. It is empty for node 0.
	Root string

	s *search // node 0's, nil for other nodes
}

// Report tells the other processes where node 0 listens. It is node 0's to say. It fits
// p2p.Options.Listening.
func (s *Seat) Report(address string) {
	if s.s != nil {
		s.s.do(func(now time.Duration) []act { return s.s.meeting.listens(address) })
	}
}

// Close ends the search. Until node 0 calls it, processes that come too late are told so.
func (s *Seat) Close() {
	if s.s != nil {
		s.s.close()
	}
}

// Meet finds the other processes of the run, and agrees with them on numbers. It returns
// when all are there and, except on node 0, node 0 listens.
func Meet(ctx context.Context, o Options) (*Seat, error) {
	o = o.withDefaults()
	if err := o.validate(); err != nil {
		return nil, err
	}
	s, err := newSearch(ctx, o)
	if err != nil {
		return nil, err
	}
	timer := time.NewTimer(o.Patience)
	defer timer.Stop()
	select {
	case <-s.sealed:
		return &Seat{s: s}, nil
	case <-s.over:
	case <-timer.C:
		err = fmt.Errorf("%w: of %d processes with this key, %s in %v", ErrAlone, o.Nodes, s.seen(), o.Patience)
	case <-ctx.Done():
		err = fmt.Errorf("%w: of %d processes with this key, %s: %w", ErrAlone, o.Nodes, s.seen(), context.Cause(ctx))
	}
	s.close()
	if err == nil {
		err = s.meeting.err
	}
	if err != nil {
		return nil, err
	}
	return &Seat{Number: s.meeting.seat.Number, Root: s.root}, nil
}

// search is the agreement with its streams and its clock. One goroutine, run, owns
// everything but the channels.
type search struct {
	o       Options
	host    host.Host
	own     bool // it has made the host
	start   time.Time
	meeting *meeting
	asks    map[peer.ID]*line // this process asks, by the candidate that it asks
	asked   map[peer.ID]*line // others ask, by the candidate that asks
	root    string            // where node 0 listens, as seen from here

	steps  chan func(now time.Duration) []act
	sealed chan struct{}
	over   chan struct{}

	ctx    context.Context
	cancel context.CancelFunc
	group  sync.WaitGroup

	mu     sync.Mutex
	closed bool
}

func newSearch(ctx context.Context, o Options) (*search, error) {
	s := &search{
		o: o, host: o.Host, start: time.Now(), asks: make(map[peer.ID]*line), asked: make(map[peer.ID]*line),
		steps: make(chan func(time.Duration) []act), sealed: make(chan struct{}), over: make(chan struct{}),
	}
	if s.own = s.host == nil; s.own {
		var err error
		if s.host, err = transport.Candidate(ctx, o.Key, o.Nodes, o.Listen); err != nil {
			return nil, err
		}
	}
	finds := o.Discovery
	if finds == nil {
		finds = local{s.host}
	}
	s.meeting = newMeeting(s.host.ID(), o.Nodes)
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.host.SetStreamHandler(name, s.take)
	s.group.Go(s.run)
	s.group.Go(func() {
		advertise(s.ctx, finds, namespace(o.Key), func(err error) { s.complain("cannot advertise", err) })
	})
	s.group.Go(func() { s.find(finds) })
	return s, nil
}

// close ends everything that newSearch has begun.
func (s *search) close() {
	s.mu.Lock()
	closed := s.closed
	s.closed = true
	s.mu.Unlock()
	if closed {
		return
	}
	s.host.RemoveStreamHandler(name)
	s.cancel()
	s.group.Wait()
	if s.own {
		_ = s.host.Close() // nothing is lost with it
	}
}

// enter makes close wait for the goroutine that calls it, until it calls s.group.Done. It
// is false if the search is closed already.
func (s *search) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.group.Add(1)
	}
	return !s.closed
}

// do has the goroutine that owns the agreement take a step.
func (s *search) do(step func(now time.Duration) []act) {
	select {
	case s.steps <- step:
	case <-s.ctx.Done():
	}
}

// run takes the steps.
func (s *search) run() {
	ticks := time.NewTicker(pulse)
	defer ticks.Stop()
	defer s.hangUp()
	sealed := false
	for !s.meeting.over() {
		now := time.Since(s.start)
		if s.meeting.sealed && !sealed {
			sealed = true
			close(s.sealed)
		}
		select {
		case step := <-s.steps:
			s.say(step(now))
		case <-ticks.C:
			s.say(s.meeting.tick(now))
		case <-s.ctx.Done():
			return
		}
	}
	close(s.over)
}

// hangUp ends all streams.
func (s *search) hangUp() {
	for _, lines := range []map[peer.ID]*line{s.asks, s.asked} {
		for _, l := range lines {
			l.end()
		}
	}
}

// say does what the agreement says.
func (s *search) say(acts []act) {
	for _, a := range acts {
		switch a.say.Say {
		case ask:
			s.ask(a.to, a.say)
		case here:
			s.asks[a.to].write(a.say)
		case leave:
			s.asks[a.to].end()
			delete(s.asks, a.to)
		default:
			if a.say.Say == lead {
				a.say.Address = transport.List(s.host.Peerstore().Addrs(peer.ID(a.say.Leader)))
			}
			if l := s.asked[a.to]; l != nil {
				l.write(a.say)
			}
		}
	}
}

// seen tells how many processes have come.
func (s *search) seen() string {
	count := make(chan int, 1)
	s.do(func(time.Duration) []act { count <- len(s.meeting.guests()) + 1; return nil })
	select {
	case n := <-count:
		return fmt.Sprintf("%d came", n)
	case <-s.ctx.Done():
		return "1 came"
	}
}

// find looks for the others, again and again.
func (s *search) find(d discovery.Discovery) {
	for {
		found, err := d.FindPeers(s.ctx, namespace(s.o.Key))
		if err != nil {
			s.complain("cannot look for the others", err)
		} else {
			for info := range s.each(found) {
				s.learn(info)
			}
		}
		if !pause(s.ctx, findAgain) {
			return
		}
	}
}

// each yields the elements of a channel until it, or the search, is closed.
func (s *search) each(found <-chan peer.AddrInfo) func(yield func(peer.AddrInfo) bool) {
	return func(yield func(peer.AddrInfo) bool) {
		for {
			select {
			case info, ok := <-found:
				if !ok || !yield(info) {
					return
				}
			case <-s.ctx.Done():
				return
			}
		}
	}
}

// learn notes a candidate and its addresses.
func (s *search) learn(info peer.AddrInfo) {
	if info.ID == s.host.ID() || len(info.Addrs) == 0 {
		return
	}
	s.host.Peerstore().AddAddrs(info.ID, info.Addrs, s.o.Patience)
	s.do(func(now time.Duration) []act { return s.meeting.found(now, info.ID) })
}

func (s *search) complain(what string, err error) {
	if err != nil && !errors.Is(err, context.Canceled) {
		s.o.Log.Warn("rendezvous: "+what, "why", err)
	}
}

// Match errors by these.
var (
	// ErrFull is for a process that is one too many.
	ErrFull = errors.New("rendezvous: the run is full")
	// ErrRefused is for a process that does not fit into the run.
	ErrRefused = errors.New("rendezvous: refused")
	// ErrAlone is for a process that has not found enough others in time.
	ErrAlone = errors.New("rendezvous: not all processes came")
	// ErrNoKey is for a process without a key, which could not tell its run from another.
	ErrNoKey = errors.New("rendezvous: processes find each other by a key: give all the same, and keep it secret")
)

// Options say which processes to look for, and how.
type Options struct {
	// Nodes is how many processes there are, 1 and more. Required.
	Nodes int
	// Key is the run's secret. Required.
	Key []byte
	// Discovery finds the others, together with Host, on which it is: any of libp2p's
	// discoveries. If nil, they are found on the networks of this machine, by multicast DNS.
	Discovery discovery.Discovery
	// Host is where this process talks to the others before it is a node. It has any
	// identity. If nil, one is made, which no process without the key can talk to. It uses TCP.
	Host host.Host
	// Listen is where the host listens that is made if Host is nil, as host:port; all
	// interfaces and any port if empty.
	Listen string
	// Patience is how long Meet waits; 30 s if zero.
	Patience time.Duration
	// Log is told what goes wrong; nothing is logged if nil.
	Log *slog.Logger
}

func (o Options) withDefaults() Options {
	if o.Listen == "" {
		o.Listen = ":0"
	}
	if o.Patience == 0 {
		o.Patience = 30 * time.Second
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// mostNodes is the largest run whose processes find each other.
const mostNodes = 1 << 10

func (o Options) validate() error {
	bad := func(format string, args ...any) error { return fmt.Errorf("rendezvous: Options."+format, args...) }
	switch {
	case len(o.Key) == 0:
		return ErrNoKey
	case o.Nodes < 1 || o.Nodes > mostNodes:
		return bad("Nodes is %d, want 1 to %d", o.Nodes, mostNodes)
	case o.Patience < 0:
		return bad("Patience is %v, want more than 0", o.Patience)
	case o.Discovery != nil && o.Host == nil:
		return bad("Discovery is set without the Host on which it is")
	}
	return nil
}
