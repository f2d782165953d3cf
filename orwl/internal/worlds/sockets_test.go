package worlds

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"sync"
	"syscall"
	"time"
)

// internet is a network of simulated processes, for the nodes of a test in a bubble of testing/synctest: time passes only
// while all of them wait. An endpoint takes the place of the kernel's sockets, below everything else of a node.
//
// A connection delivers what is written in order, each write after a delay of its own. A write that falls into a cut is sent again,
// as TCP does: 0.2, 0.6, 1.4 and 3 seconds after it, and so on.
type internet struct {
	mu   sync.Mutex
	rng  *rand.Rand
	all  map[int]*endpoint // by number: the last one
	cuts map[[2]int]bool
}

// slowest is how long a write takes to arrive, at most.
const slowest = time.Millisecond

// newInternet is a network whose delays follow from a seed.
func newInternet(seed uint64) *internet {
	return &internet{rng: rand.New(rand.NewPCG(seed, 1)), all: make(map[int]*endpoint), cuts: make(map[[2]int]bool)}
}

// endpoint is the sockets of one process.
type endpoint struct {
	net     *internet
	number  int
	at      netip.Addr
	next    uint16 // port
	changed chan struct{}

	listeners map[string]*listener
	conns     map[*conn]bool
	stopped   bool
	dead      bool
}

// endpoint is the process with a number, from 0 to 200. One that was killed is replaced by another one with the same address.
func (w *internet) endpoint(number int) *endpoint {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := w.all[number]
	if p == nil || p.dead {
		next := uint16(1000)
		if p != nil {
			next = p.next
		}
		p = &endpoint{
			net: w, number: number, at: netip.AddrFrom4([4]byte{10, 0, 0, byte(number + 1)}), next: next, changed: make(chan struct{}),
			listeners: make(map[string]*listener), conns: make(map[*conn]bool),
		}
		w.all[number] = p
	}
	return p
}

// address is where the process may listen.
func (p *endpoint) address() string { return netip.AddrPortFrom(p.at, 0).String() }

// cut lets nothing pass between two processes, until heal.
func (w *internet) cut(a, b int) { w.link(a, b, true) }

// heal ends a cut.
func (w *internet) heal(a, b int) { w.link(a, b, false) }

func (w *internet) link(a, b int, cut bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cuts[[2]int{min(a, b), max(a, b)}] = cut
}

// isCut reports whether nothing passes. w.mu is held.
func (w *internet) isCut(a, b int) bool { return w.cuts[[2]int{min(a, b), max(a, b)}] }

// delay is how long a write takes. w.mu is held.
func (w *internet) delay() time.Duration {
	return 10*time.Microsecond + time.Duration(w.rng.Int64N(int64(slowest)))
}

// stop has the process read nothing, and hold back what it writes, until stop(false). The others write into its buffers. Its time
// goes on.
func (p *endpoint) stop(stopped bool) {
	p.net.mu.Lock()
	defer p.net.mu.Unlock()
	p.stopped = stopped
	p.wake()
}

// wake has everything that waits look again. The network's mu is held.
func (p *endpoint) wake() {
	close(p.changed)
	p.changed = make(chan struct{})
}

// kill ends the process: its connections are reset, and it gets no other ones.
func (p *endpoint) kill() {
	w := p.net
	w.mu.Lock()
	defer w.mu.Unlock()
	p.dead = true
	for c := range p.conns {
		c.in.fail(syscall.ECONNRESET)
		if peer := c.peer; !w.isCut(p.number, peer.process.number) {
			peer.in.fail(syscall.ECONNRESET)
		}
	}
	clear(p.listeners)
	p.wake()
}

// runs waits until the process is not stopped. It returns an error if it is dead. The network's mu is held.
func (p *endpoint) runs() error {
	for p.stopped && !p.dead {
		changed := p.changed
		p.net.mu.Unlock()
		<-changed
		p.net.mu.Lock()
	}
	if p.dead {
		return os.ErrProcessDone
	}
	return nil
}

// Listen takes connections at an address of the process.
func (p *endpoint) Listen(address string) (net.Listener, error) {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return nil, err
	}
	w := p.net
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := p.runs(); err != nil {
		return nil, err
	}
	if at.Port() == 0 {
		p.next++
		at = netip.AddrPortFrom(at.Addr(), p.next)
	}
	l := &listener{process: p, at: at, came: make(chan *conn, 128), over: make(chan struct{})}
	if p.listeners[at.String()] != nil || at.Addr() != p.at {
		return nil, syscall.EADDRNOTAVAIL
	}
	p.listeners[at.String()] = l
	return l, nil
}

// Dial connects to an address.
func (p *endpoint) Dial(ctx context.Context, address string) (net.Conn, error) {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return nil, err
	}
	w := p.net
	peer := int(to.Addr().As4()[3]) - 1
	for again := time.Second; ; again *= 2 { // a lost SYN is sent again after 1, 3 and 7 seconds
		w.mu.Lock()
		if err := p.runs(); err != nil {
			w.mu.Unlock()
			return nil, err
		}
		wait, cut := w.delay(), w.isCut(p.number, peer)
		w.mu.Unlock()
		if cut {
			wait = again
		}
		if err := sleep(ctx, wait); err != nil {
			return nil, fmt.Errorf("dial %s: %w", address, err)
		}
		if !cut {
			return p.connect(peer, to)
		}
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// connect makes a connection to a process that a SYN has reached.
func (p *endpoint) connect(peer int, to netip.AddrPort) (net.Conn, error) {
	w := p.net
	w.mu.Lock()
	defer w.mu.Unlock()
	q := w.all[peer]
	if q == nil || q.listeners[to.String()] == nil || p.dead {
		return nil, syscall.ECONNREFUSED
	}
	l := q.listeners[to.String()]
	p.next++
	here := netip.AddrPortFrom(p.at, p.next)
	a, b := &conn{process: p, local: here, remote: to}, &conn{process: q, local: to, remote: here}
	a.peer, b.peer = b, a
	a.in, b.in = newPipe(b, a), newPipe(a, b)
	select {
	case l.came <- b:
	default:
		return nil, syscall.ECONNREFUSED
	}
	p.conns[a], q.conns[b] = true, true
	return a, nil
}

type listener struct {
	process *endpoint
	at      netip.AddrPort
	came    chan *conn
	over    chan struct{}
	once    sync.Once
}

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.came:
		l.process.net.mu.Lock()
		err := l.process.runs()
		l.process.net.mu.Unlock()
		if err == nil {
			return c, nil
		}
	case <-l.over:
		return nil, net.ErrClosed
	}
	<-l.over // of a process that is dead
	return nil, net.ErrClosed
}

// Close implements net.Listener.
func (l *listener) Close() error {
	w := l.process.net
	w.mu.Lock()
	defer w.mu.Unlock()
	l.once.Do(func() {
		close(l.over)
		delete(l.process.listeners, l.at.String())
		for len(l.came) > 0 {
			c := <-l.came
			c.in.fail(syscall.ECONNRESET)
			c.peer.in.fail(syscall.ECONNRESET)
		}
	})
	return nil
}

// Addr implements net.Listener.
func (l *listener) Addr() net.Addr { return net.TCPAddrFromAddrPort(l.at) }

// conn is one end of a connection.
type conn struct {
	process       *endpoint
	peer          *conn
	local, remote netip.AddrPort
	in            *pipe
	closed        bool
}

// LocalAddr implements net.Conn.
func (c *conn) LocalAddr() net.Addr { return net.TCPAddrFromAddrPort(c.local) }

// RemoteAddr implements net.Conn.
func (c *conn) RemoteAddr() net.Addr { return net.TCPAddrFromAddrPort(c.remote) }

// SetDeadline implements net.Conn.
func (c *conn) SetDeadline(t time.Time) error { return c.SetReadDeadline(t) }

// SetWriteDeadline implements net.Conn. A write does not wait.
func (c *conn) SetWriteDeadline(time.Time) error { return nil }

// SetReadDeadline implements net.Conn.
func (c *conn) SetReadDeadline(t time.Time) error {
	w := c.process.net
	w.mu.Lock()
	defer w.mu.Unlock()
	c.in.deadline = t
	c.in.wake()
	return nil
}

// Write implements net.Conn.
func (c *conn) Write(b []byte) (int, error) {
	w := c.process.net
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case c.process.dead:
		return 0, os.ErrProcessDone
	case c.closed:
		return 0, net.ErrClosed
	case c.in.err != nil && !errors.Is(c.in.err, io.EOF):
		return 0, c.in.err
	}
	if len(b) > 0 {
		c.peer.in.put(b)
	}
	return len(b), nil
}

// Read implements net.Conn.
func (c *conn) Read(b []byte) (int, error) {
	w := c.process.net
	w.mu.Lock()
	defer w.mu.Unlock()
	return c.in.take(b)
}

// Close implements net.Conn. The other end reads what was written before.
func (c *conn) Close() error {
	w := c.process.net
	w.mu.Lock()
	defer w.mu.Unlock()
	if c.closed {
		return nil
	}
	c.closed = true
	delete(c.process.conns, c)
	c.in.fail(net.ErrClosed)
	c.peer.in.end()
	return nil
}

// pipe is one direction of a connection. The network's mu guards it.
type pipe struct {
	from, to *conn
	segments []segment
	deadline time.Time
	err      error // of the reader; io.EOF comes after the segments
	changed  chan struct{}
}

// segment is what was written at once. An end of the stream is one without bytes.
type segment struct {
	bytes []byte
	sent  time.Time
	at    time.Time // when it arrives, if nothing is cut then
	held  bool      // until its process continues
	tries int
}

func newPipe(from, to *conn) *pipe { return &pipe{from: from, to: to, changed: make(chan struct{})} }

func (p *pipe) wake() {
	close(p.changed)
	p.changed = make(chan struct{})
}

// fail has all reads fail from now on.
func (p *pipe) fail(err error) {
	if p.err == nil {
		p.err, p.segments = err, nil
		p.wake()
	}
}

// put sends bytes.
func (p *pipe) put(b []byte) {
	if p.err != nil {
		return
	}
	now := time.Now()
	s := segment{bytes: bytes.Clone(b), sent: now, at: now.Add(p.from.process.net.delay()), held: p.from.process.stopped}
	if n := len(p.segments); n > 0 && p.segments[n-1].at.After(s.at) {
		s.at = p.segments[n-1].at
	}
	p.segments = append(p.segments, s)
	p.wake()
}

// end says that nothing follows.
func (p *pipe) end() { p.put(nil) }

// take reads what has arrived, and waits for it.
func (p *pipe) take(b []byte) (int, error) {
	w := p.to.process.net
	for {
		now := time.Now()
		switch {
		case p.to.process.dead:
			return 0, os.ErrProcessDone
		case p.err != nil:
			return 0, p.err
		case !p.deadline.IsZero() && !now.Before(p.deadline):
			return 0, os.ErrDeadlineExceeded
		}
		wait := time.Duration(-1)
		if len(p.segments) > 0 && !p.to.process.stopped {
			s := &p.segments[0]
			if wait = s.at.Sub(now); wait <= 0 {
				if s.held && p.from.process.stopped {
					p.wait(-1)
					continue
				}
				if !w.isCut(p.from.process.number, p.to.process.number) {
					return p.read(b)
				}
				s.tries++
				s.at = s.sent.Add(200 * time.Millisecond * time.Duration(1<<s.tries-1))
				continue
			}
		}
		if !p.deadline.IsZero() && (wait < 0 || p.deadline.Sub(now) < wait) {
			wait = p.deadline.Sub(now)
		}
		p.wait(wait)
	}
}

// read takes bytes of the first segment.
func (p *pipe) read(b []byte) (int, error) {
	s := &p.segments[0]
	if len(s.bytes) == 0 {
		p.err = io.EOF
		return 0, p.err
	}
	n := copy(b, s.bytes)
	if s.bytes = s.bytes[n:]; len(s.bytes) == 0 {
		p.segments = p.segments[1:]
	}
	return n, nil
}

// wait waits for a time, or until something changes; for ever if it is negative.
func (p *pipe) wait(d time.Duration) {
	w, changed, here, there := p.to.process.net, p.changed, p.to.process.changed, p.from.process.changed
	w.mu.Unlock()
	defer w.mu.Lock()
	var over <-chan time.Time
	if d >= 0 {
		t := time.NewTimer(d)
		defer t.Stop()
		over = t.C
	}
	select {
	case <-changed:
	case <-here:
	case <-there:
	case <-over:
	}
}
