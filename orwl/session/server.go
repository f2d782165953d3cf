package session

import (
	"bufio"
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/orwl/go-orwl/net/node"
	"github.com/orwl/go-orwl/net/p2p"
	"github.com/orwl/go-orwl/orwl/session/internal/protocol"
)

// Server keeps locks for sessions. It does what a
// protocol.Home says: messages, times and grants go in, and messages come out.
type Server struct {
	log    *slog.Logger
	lease  protocol.Lease
	start  time.Time
	places *places
	node   *p2p.Node
	hide   func() // ends its announcement, so that no more sessions find it
	group  sync.WaitGroup
	open   chan struct{} // closed when it takes sessions

	mu     sync.Mutex
	home   *protocol.Home
	conns  map[uint64]*line
	count  uint64 // of connections
	timer  *time.Timer
	armed  bool
	closed bool
}

// helloTimeout is how long a connection may take to say hello.
const helloTimeout = 5 * time.Second

// Listen makes a server that listens at an address of its own.
func Listen(ctx context.Context, o ServerOptions) (*Server, error) {
	o = o.withDefaults()
	if err := o.validate(); err != nil {
		return nil, err
	}
	at := p2p.Options{Nodes: 1, Key: o.Key, Listen: o.Listen, Log: o.Log}
	if o.Find != nil {
		if err := alone(ctx, o); err != nil {
			return nil, err
		}
		at.Host = o.Find.Host
	}
	node, err := p2p.Join(ctx, at)
	if err != nil {
		return nil, err
	}
	s := newServer(o)
	s.node = node
	node.Admit(s.take)
	s.announce(o)
	return s, nil
}

func newServer(o ServerOptions) *Server {
	s := &Server{
		log: o.Log, lease: o.lease(), start: time.Now(), conns: make(map[uint64]*line), open: make(chan struct{}), hide: func() {},
	}
	s.places = newPlaces(s.granted)
	s.home = protocol.NewHome(s.lease, s.places)
	s.mu.Lock() // begin may come at once
	defer s.mu.Unlock()
	s.timer = time.AfterFunc(o.quarantine(), s.begin)
	return s
}

// Address is where the server listens, as host:port.
func (s *Server) Address() string { return s.node.Address() }

// Ready is closed when the server takes sessions. Another server may have been at its address,
// and sessions of that one keep what they hold until their leases are over: until then new ones
// wait. A server whose address has a port of the system's choice is ready at once.
func (s *Server) Ready() <-chan struct{} { return s.open }

// Counts are what its sessions have done. Metrics.Sessions of package metrics shows them.
func (s *Server) Counts() node.SessionCounts {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.home.Counts()
	return node.SessionCounts{
		Sessions: c.Sessions, Held: c.Held, Waiting: c.Waiting,
		Opened: c.Opened, Expired: c.Expired, Granted: c.Granted, Lost: c.Lost, Forced: c.Forced,
	}
}

// now is the time on the server's own clock, which never jumps and is never 0.
func (s *Server) now() int64 { return int64(time.Since(s.start)) + 1 }

// begin takes sessions from now on.
func (s *Server) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.timer = time.AfterFunc(time.Hour, s.tick)
		s.timer.Stop()
		close(s.open)
	}
}

// take reads what comes on a stream, until it ends.
func (s *Server) take(stream p2p.Stream) {
	conn, l := s.connect(stream)
	if l == nil {
		stream.Close()
		return
	}
	defer s.group.Done()
	s.group.Go(l.run)
	defer l.close()
	defer s.left(conn)
	in := bufio.NewReader(stream)
	stream.SetDeadline(time.Now().Add(helloTimeout))
	for first := true; ; first = false {
		m, err := protocol.Next(in)
		if err != nil {
			s.log.Debug("session's connection ended", "why", err)
			stream.Close()
			return
		}
		if first {
			stream.SetDeadline(time.Time{})
			<-s.open
		}
		s.hear(conn, m)
	}
}

// connect gives a stream its number. It returns nothing if the server is closed.
func (s *Server) connect(stream p2p.Stream) (uint64, *line) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return 0, nil
	}
	s.group.Add(1)
	s.count++
	l := newLine(stream)
	s.conns[s.count] = l
	return s.count, l
}

// hear gives a message to the home.
func (s *Server) hear(conn uint64, m protocol.Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.conns[conn] == nil {
		return
	}
	s.home.Take(s.now(), conn, m)
	s.send()
	s.arm()
}

// left tells the home that a connection has ended.
func (s *Server) left(conn uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.home.Left(conn)
	delete(s.conns, conn)
}

// granted gives a grant to the home.
func (s *Server) granted(p *place) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.places.holds(p) { // otherwise it was withdrawn meanwhile
		s.home.Granted(s.now(), p.id, p.grant())
		s.send()
	}
}

// tick ends what is over by the clock.
func (s *Server) tick() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.armed = false
	if !s.closed {
		s.arm()
	}
}

// arm sets the timer, unless it is set. The home needs no earlier time then.
func (s *Server) arm() {
	if s.armed {
		return
	}
	next := s.home.Tick(s.now())
	s.send()
	if next != 0 {
		s.armed = true
		s.timer.Reset(time.Duration(next - s.now()))
	}
}

// send puts on the lines what the home says. The caller holds mu.
func (s *Server) send() {
	for _, p := range s.home.Out() {
		l := s.conns[p.Conn]
		if l == nil {
			continue
		}
		if p.Message.Bye != nil {
			s.log.Debug("session is over", "connection", p.Conn, "why", p.Message.Bye.Why)
		}
		if p.Message.Number > 0 || !p.Last || p.Message.Bye != nil {
			l.put(p.Message)
		}
		if p.Last {
			l.close()
			delete(s.conns, p.Conn)
		}
	}
}

// Close ends all connections, and abandons what sessions hold.
func (s *Server) Close(ctx context.Context) error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	s.timer.Stop()
	select {
	case <-s.open:
	default:
		close(s.open)
	}
	for _, l := range s.conns {
		l.close()
	}
	s.places.close()
	s.mu.Unlock()
	s.hide()
	s.group.Wait()
	s.places.group.Wait()
	if s.node == nil {
		return nil
	}
	return s.node.Close(ctx)
}
