package resp

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/orwl/go-orwl/apps/dht/budget"
	"github.com/orwl/go-orwl/apps/dht/table"
)

// ErrServerClosed is what Serve returns after Shutdown or Close.
var ErrServerClosed = errors.New("resp: server is closed")

// Server answers redis clients. It is made by New and must not be copied.
type Server struct {
	options  Options
	table    map[string]*command
	inOrder  []*command
	password [sha256.Size]byte
	started  int64
	guesses  guesses

	// running is the context of everything that the store does.
	running context.Context
	stop    context.CancelFunc

	draining atomic.Bool
	commands atomic.Uint64 // of all connections, up to their last pipeline
	accepted atomic.Uint64
	refused  atomic.Uint64
	unknown  atomic.Uint64

	mu        sync.Mutex
	listeners map[net.Listener]struct{}
	conns     map[*conn]struct{}
	lastID    int64
	serving   sync.WaitGroup

	batches sync.Pool // of *batch
}

// New returns a server of o.Store. It does nothing before Serve.
func New(o Options) (*Server, error) {
	o = o.withDefaults()
	if err := o.validate(); err != nil {
		return nil, err
	}
	o.Log = newSeldom(o.Log, o.Now)
	s := &Server{
		options: o, started: o.Now(), password: sha256.Sum256([]byte(o.Password)),
		listeners: make(map[net.Listener]struct{}), conns: make(map[*conn]struct{}),
	}
	s.batches.New = func() any { return new(batch) }
	s.running, s.stop = context.WithCancel(context.Background())
	s.inOrder = commands()
	s.table = make(map[string]*command, len(s.inOrder))
	for _, c := range s.inOrder {
		s.table[c.name] = c
	}
	return s, nil
}

// Serve answers each client that connects to l, and closes l in the end. It returns why
// l accepts no more: ErrServerClosed after Shutdown or Close.
func (s *Server) Serve(l net.Listener) error {
	defer l.Close()
	s.mu.Lock()
	if s.draining.Load() {
		s.mu.Unlock()
		return ErrServerClosed
	}
	s.listeners[l] = struct{}{}
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.listeners, l)
		s.mu.Unlock()
	}()
	for wait := time.Duration(0); ; {
		link, err := l.Accept()
		if err == nil {
			wait = 0
			s.admit(link)
			continue
		}
		if s.draining.Load() {
			return ErrServerClosed
		}
		// A process that is out of file descriptors gets some back.
		var passing interface{ Temporary() bool }
		if !errors.As(err, &passing) || !passing.Temporary() {
			return err
		}
		wait = min(max(2*wait, 5*time.Millisecond), time.Second)
		s.options.Log.Error("no client can connect", "error", err, "again", wait)
		select {
		case <-time.After(wait):
		case <-s.running.Done():
		}
	}
}

// admit starts a connection, or says that there are too many.
func (s *Server) admit(link net.Conn) {
	s.mu.Lock()
	full, late := len(s.conns) >= s.options.Clients, s.draining.Load()
	if full || late {
		s.mu.Unlock()
		if full {
			s.turnAway(link, textClients)
		} else {
			link.Close()
		}
		return
	}
	if !s.options.Memory.Hold(connBytes) {
		s.mu.Unlock()
		s.turnAway(link, textNoClient)
		return
	}
	s.accepted.Add(1)
	s.lastID++
	c := s.newConn(link, s.lastID)
	s.conns[c] = struct{}{}
	s.serving.Add(1)
	s.mu.Unlock()
	go func() {
		defer s.serving.Done()
		defer s.forget(c)
		c.serve()
	}()
}

// turnAway tells a client why it is refused, and closes its connection.
func (s *Server) turnAway(link net.Conn, why string) {
	s.refused.Add(1)
	s.options.Log.Warn("client refused", "client", link.RemoteAddr().String(), "why", why, "limit", s.options.Clients)
	// A line fits an empty send buffer: this does not wait.
	link.SetWriteDeadline(time.Now().Add(lingering))
	link.Write([]byte("-" + why + "\r\n"))
	link.Close()
}

func (s *Server) forget(c *conn) {
	s.mu.Lock()
	delete(s.conns, c)
	s.mu.Unlock()
}

// Shutdown lets every connection answer what it has read and closes it. When ctx is
// done it closes what is left as Close does, and returns ctx's error.
func (s *Server) Shutdown(ctx context.Context) error {
	s.end(func(c *conn) { c.link.SetReadDeadline(time.Unix(1, 0)) })
	all := make(chan struct{})
	go func() {
		s.serving.Wait()
		close(all)
	}()
	select {
	case <-all:
		s.stop()
		return nil
	case <-ctx.Done():
		s.stop()
		s.end(func(c *conn) { c.link.Close() })
		<-all
		return ctx.Err()
	}
}

// Close closes all connections at once, and returns when the store is not used any
// more.
func (s *Server) Close() error {
	s.stop()
	s.end(func(c *conn) { c.link.Close() })
	s.serving.Wait()
	return nil
}

// end accepts no more connections, and calls each for all that are open.
func (s *Server) end(each func(*conn)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.draining.Store(true)
	for l := range s.listeners {
		l.Close()
	}
	for c := range s.conns {
		each(c)
	}
}

// admits reports whether the password is right, in a time that does not depend on
// it.
func (s *Server) admits(user, password []byte) bool {
	given := sha256.Sum256(password)
	right := subtle.ConstantTimeCompare(given[:], s.password[:])
	return right&subtle.ConstantTimeCompare(user, []byte("default")) == 1
}

// Options say what a server serves, to which clients, and how much of it.
type Options struct {
	// Store is what it serves.
	Store Store
	// Password is what clients must give before anything else, if it is not empty.
	Password string
	// Clients is how many connections there are at a time, at most: 1 to 65536,
	// 10000 if zero.
	Clients int
	// Memory is what clients' requests and replies take, the store's if that has one. A request for which it
	// has no room is answered by OOM, and a client for which it has none is refused. Nil is no limit.
	Memory *budget.Budget
	// Patience is how long a client may take to give the password, and for a request that has
	// begun, beside what its size takes at 16 KiB/s: 30 s if zero.
	Patience time.Duration
	// Idle is for how long a connection may neither send nor take a byte: 0 for
	// ever, or at least a millisecond.
	Idle time.Duration
	// Bulk is the longest string of a request, in bytes: 64 to 512 MiB, 1 MiB if zero.
	Bulk int
	// Request is the longest request, and Reply the longest reply, in bytes: Bulk and
	// 1024 to 1 GiB, 64 MiB if zero.
	Request, Reply int
	// Now is the time in Unix milliseconds: the machine's clock if nil.
	Now func() int64
	// Timed, if not nil, is told how long each pipeline took, from when it was read to
	// when its replies were written, by the name of its last command. Several
	// connections call it at a time.
	Timed func(command string, took time.Duration)
	// Log gets what goes wrong with connections. If it is nil, nothing is logged.
	Log *slog.Logger
}

// Store is what the server serves: a *table.Strings. Connections use it at the same
// time.
type Store interface {
	// Do executes ops, each atomically, and says in results[i] what came of ops[i];
	// ops on one key in their order. A value is appended to what Result.Value was.
	Do(ctx context.Context, ops []table.Op, results []table.Result)
	// Scan goes on from a cursor, 0 to begin, and calls each with about count keys,
	// valid during the call. It returns the next cursor, 0 at the end. A key that is
	// there all the time is seen at least once.
	Scan(ctx context.Context, cursor uint64, count int, each func(key []byte)) (next uint64, err error)
	// Len is how many keys there are.
	Len(ctx context.Context) (int64, error)
	// Clear removes all keys.
	Clear(ctx context.Context) error
}

// The defaults and limits of Options.
const (
	DefaultClients  = 10000
	MostClients     = 1 << 16
	DefaultPatience = 30 * time.Second
	DefaultBulk     = 1 << 20
	LeastBulk       = 64
	MostBulk        = 512 << 20
	DefaultRequest  = 64 << 20
	MostRequest     = 1 << 30
	overhead        = 1024 // of a request, at least, around its longest string
)

func (o Options) withDefaults() Options {
	if o.Clients == 0 {
		o.Clients = DefaultClients
	}
	if o.Patience == 0 {
		o.Patience = DefaultPatience
	}
	if o.Bulk == 0 {
		o.Bulk = DefaultBulk
	}
	if o.Request == 0 {
		o.Request = max(DefaultRequest, o.Bulk+overhead)
	}
	if o.Reply == 0 {
		o.Reply = max(DefaultRequest, o.Bulk+overhead)
	}
	if o.Now == nil {
		o.Now = func() int64 { return time.Now().UnixMilli() }
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

func (o Options) validate() error {
	switch {
	case o.Store == nil:
		return errors.New("resp: Options.Store is nil, want the table to serve")
	case o.Clients < 1 || o.Clients > MostClients:
		return fmt.Errorf("resp: Options.Clients is %d, want 1 to %d", o.Clients, MostClients)
	case o.Idle != 0 && o.Idle < time.Millisecond:
		return fmt.Errorf("resp: Options.Idle is %v, want 0 or at least 1ms", o.Idle)
	case o.Patience < time.Millisecond:
		return fmt.Errorf("resp: Options.Patience is %v, want at least 1ms, or 0 for %v", o.Patience, DefaultPatience)
	case o.Bulk < LeastBulk || o.Bulk > MostBulk:
		return fmt.Errorf("resp: Options.Bulk is %d, want %d to %d", o.Bulk, LeastBulk, MostBulk)
	case o.Request < o.Bulk+overhead || o.Request > MostRequest:
		return fmt.Errorf("resp: Options.Request is %d, want %d to %d", o.Request, o.Bulk+overhead, MostRequest)
	case o.Reply < o.Bulk+overhead || o.Reply > MostRequest:
		return fmt.Errorf("resp: Options.Reply is %d, want %d to %d", o.Reply, o.Bulk+overhead, MostRequest)
	}
	return nil
}

// slowest is how many bytes of a request or a reply must move in a second.
const slowest = 16 << 10

// bounds are how long the server waits for a client. One that sends, or takes, a byte now and
// then is not idle, and would keep its place for ever. So a request that has begun has an end,
// and so has a reply, and the time without the password.
type bounds struct {
	began   time.Time // of the connection
	partly  time.Time // since when a request is incomplete, or zero
	limited bool      // a deadline of reading is set
	takes   time.Time // the deadline of writing
}

// sends sets until when the client must have sent more, if there is such a time.
func (c *conn) sends() error {
	o := &c.server.options
	begun := c.reader.begun()
	if o.Idle == 0 && !c.reader.limits.stranger && begun == 0 {
		if !c.limited {
			return nil
		}
		c.limited = false
		return c.link.SetReadDeadline(time.Time{})
	}
	c.limited = true
	return c.link.SetReadDeadline(c.until(time.Now(), begun))
}

// until is the first of all ends. begun is how much of a request is here.
func (c *conn) until(now time.Time, begun int) (end time.Time) {
	o := &c.server.options
	bound := func(t time.Time) {
		if end.IsZero() || t.Before(end) {
			end = t
		}
	}
	if o.Idle != 0 {
		bound(now.Add(o.Idle))
	}
	if c.reader.limits.stranger {
		bound(c.began.Add(o.Patience))
	}
	if begun > 0 {
		if c.partly.IsZero() {
			c.partly = now
		}
		bound(c.partly.Add(o.timeFor(begun)))
	}
	return end
}

// timeFor is how long so many bytes may take.
func (o *Options) timeFor(bytes int) time.Duration {
	return o.Patience + time.Duration(bytes)*(time.Second/slowest)
}

// flush writes the replies, and gives back what they took.
func (c *conn) flush() {
	if c.size() > 0 && c.failed == nil {
		c.write()
	}
	c.cut(0, c.server.options.Memory)
	c.rest()
}

// write writes the replies. If there is no room for the replies, the client must take them at once.
func (c *conn) write() {
	o := &c.server.options
	now, need := time.Now(), o.timeFor(c.size())
	switch {
	case !c.cover(cap(c.out)):
		c.takes = now.Add(min(need, hurried))
		c.failed = c.link.SetWriteDeadline(c.takes)
	case o.Idle != 0:
		c.takes = now.Add(o.Idle)
		c.failed = c.link.SetWriteDeadline(c.takes)
	case c.takes.Sub(now) < need: // a deadline serves many replies
		c.takes = now.Add(2 * need)
		c.failed = c.link.SetWriteDeadline(c.takes)
	}
	switch {
	case c.failed != nil:
	case len(c.values) == 0:
		_, c.failed = c.link.Write(c.out)
	default:
		pieces := c.pieces()
		_, c.failed = pieces.WriteTo(c.link)
	}
}

// hurried is for how long the server waits for a client whose replies there is no room for.
const hurried = time.Second

// cover tells the budget of n bytes of replies in Go's heap, beyond what a connection has at rest, and
// reports whether there is room for them.
func (c *conn) cover(n int) bool {
	if n -= smallReply; n <= c.covered {
		return true
	}
	if !c.server.options.Memory.Hold(n - c.covered) {
		return false
	}
	c.covered = n
	return true
}

// smallReply is how much of a reply's memory a connection keeps in any case.
const smallReply = 4 << 10

// rest gives the memory of replies back, unless it is little, or there is much.
func (c *conn) rest() {
	if cap(c.out) <= smallReply && c.covered == 0 && cap(c.values) <= leastWidth {
		return
	}
	keep := cap(c.out) <= 2*keptReply && c.server.options.Memory.Calm() && c.cover(cap(c.out))
	if !keep && cap(c.out) > smallReply {
		c.out = nil
	}
	if cap(c.values) > leastWidth {
		c.values = nil
	}
	if left := max(0, cap(c.out)-smallReply); left < c.covered {
		c.server.options.Memory.Drop(c.covered - left)
		c.covered = left
	}
}
