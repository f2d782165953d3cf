package session

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/orwl/go-orwl/net/p2p"
	"github.com/orwl/go-orwl/orwl/session/internal/protocol"
)

// Session is this process's right to hold locks of a server: a lease, and the locks. Any goroutine may use it.
type Session struct {
	key     []byte
	address string // of the server
	start   time.Time
	ctx     context.Context // done when the session is over; the cause is why
	end     context.CancelCauseFunc
	group   sync.WaitGroup
	known   chan struct{} // closed when it is admitted for the first time

	mu      sync.Mutex
	client  *protocol.Client
	line    *line // nil: no connection
	timer   *time.Timer
	locks   map[uint64]*Lock // by request, those that wait included
	calls   map[uint64]chan protocol.Answer
	closing bool
	failure error // of the last connection
}

// Dial connects to a server and returns when it has admitted the session. ctx bounds only that.
// If no server listens at any address, Dial fails at once.
func Dial(ctx context.Context, o Options) (*Session, error) {
	o = o.withDefaults()
	address, stream, err := find(ctx, o)
	if err != nil {
		return nil, err
	}
	return newSession(ctx, o, address, stream)
}

// newSession begins a session on a stream, and returns when the server has admitted it. ctx bounds only
// that.
func newSession(ctx context.Context, o Options, address string, stream p2p.Stream) (*Session, error) {
	id := make([]byte, 16)
	rand.Read(id) // never fails
	s := &Session{
		key: o.Key, address: address, start: time.Now(), known: make(chan struct{}), client: protocol.NewClient(id, o.Who),
		locks: make(map[uint64]*Lock), calls: make(map[uint64]chan protocol.Answer),
	}
	s.ctx, s.end = context.WithCancelCause(context.Background())
	s.timer = time.AfterFunc(time.Hour, s.tick)
	s.timer.Stop()
	s.group.Go(func() { s.run(stream) })
	select {
	case <-s.known:
		return s, nil
	case <-s.ctx.Done():
		s.group.Wait()
		return nil, context.Cause(s.ctx)
	case <-ctx.Done():
		s.finish(ErrOver)
		s.group.Wait()
		return nil, fmt.Errorf("session: the server at %s is there and does not admit this session: %w", s.address, context.Cause(ctx))
	}
}

// now is the time on the session's own clock.
func (s *Session) now() int64 { return int64(time.Since(s.start)) + 1 }

// run talks with the server, over one connection after the other, until the session is over.
func (s *Session) run(stream p2p.Stream) {
	const firstPause, lastPause = 5 * time.Millisecond, 100 * time.Millisecond
	pause := firstPause
	for {
		if stream != nil {
			if err := s.talk(stream); s.ctx.Err() == nil {
				s.failed(err)
			}
			pause = firstPause
		}
		select {
		case <-s.ctx.Done():
			return
		case <-time.After(pause):
		}
		pause = min(2*pause, lastPause)
		ctx, cancel := context.WithTimeout(s.ctx, s.patience())
		var err error
		if stream, err = dialAt(ctx, s.address, s.key); err != nil {
			stream = nil
			s.failed(err)
		}
		cancel()
	}
}

// firstPatience is how long a server may take to admit a session after it was found.
const firstPatience = 10 * time.Second

// patience is how long one try to connect may take. There are several in a lease. Before the first
// admitted no lease runs, and a try that fails ends the session.
func (s *Session) patience() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.client.Known() {
		return firstPatience
	}
	return max(s.client.Lease().Lease/3, 100*time.Millisecond)
}

// failed notes why there is no connection. A session that was never admitted ends.
func (s *Session) failed(why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failure = why
	if !s.client.Known() && !errors.Is(why, protocol.ErrLate) || s.closing {
		s.over(fmt.Errorf("%w: %w", ErrOver, why))
	}
}

// talk says hello on a stream and reads until it ends.
func (s *Session) talk(stream p2p.Stream) error {
	l := newLine(stream)
	s.group.Go(l.run)
	defer l.close()
	s.connected(l)
	stop := context.AfterFunc(s.ctx, l.close)
	defer stop()
	in := bufio.NewReader(stream)
	for {
		m, err := protocol.Next(in)
		if err == nil {
			err = s.hear(l, m)
		}
		if err != nil {
			stream.Close()
			s.disconnected(l)
			return err
		}
	}
}

func (s *Session) connected(l *line) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.line = l
	s.client.Connect(s.now())
	s.step()
}

func (s *Session) disconnected(l *line) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.line == l {
		s.line = nil
	}
}

// hear gives a message to the client.
func (s *Session) hear(l *line, m protocol.Message) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.line != l {
		return errSilent
	}
	if err := s.client.Take(s.now(), m); err != nil {
		return err
	}
	if m.Admission != nil && s.client.Known() {
		select {
		case <-s.known:
		default:
			close(s.known)
		}
	}
	s.step()
	return nil
}

// errSilent is a connection that was given up because nothing came.
var errSilent = errors.New("session: the server was silent for a third of the lease")

// tick does what is due by the clock.
func (s *Session) tick() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() == nil {
		s.step()
	}
}

// step does what the client says: it hands on what was heard, and sends. The caller holds mu.
func (s *Session) step() {
	now := s.now()
	next := s.client.Tick(now)
	for _, m := range s.client.Heard() {
		s.heard(m)
	}
	out := s.client.Out()
	if s.line != nil && s.client.Silent(now) {
		s.line.close() // run connects again
		s.line.stream.SetDeadline(time.Unix(1, 0))
		s.line = nil
	}
	if s.line != nil {
		for _, m := range out {
			s.line.put(m)
		}
	}
	if why := s.client.Over(); why != nil {
		s.over(errors.Join(fmt.Errorf("%w: %w", ErrOver, why), s.failure))
	} else if next != 0 {
		s.timer.Reset(time.Duration(next - now))
	}
}

// heard hands on what the home has said. The caller holds mu.
func (s *Session) heard(m protocol.Message) {
	switch {
	case m.Granted != nil:
		if l := s.locks[m.Granted.Request]; l != nil {
			l.grant = m.Granted.Grant
			close(l.ready)
		} else { // its caller has given up
			s.client.Say(protocol.Message{Release: &protocol.Grip{Request: m.Granted.Request, Fence: m.Granted.Grant.Fence}})
		}
	case m.Revoked != nil:
		if l := s.locks[m.Revoked.Request]; l != nil {
			l.cancel(fmt.Errorf("%w: %q: %s", ErrRevoked, l.name, m.Revoked.Why))
		}
	case m.Lost != nil:
		if l := s.locks[m.Lost.Request]; l != nil {
			delete(s.locks, m.Lost.Request)
			l.cancel(fmt.Errorf("%w: %q: %s", ErrLost, l.name, m.Lost.Why))
		}
	case m.Answer != nil:
		if l := s.locks[m.Answer.Call]; l != nil {
			delete(s.locks, m.Answer.Call)
			l.failure = failure("lock", l.name, *m.Answer)
			close(l.ready)
		} else if call := s.calls[m.Answer.Call]; call != nil {
			delete(s.calls, m.Answer.Call)
			call <- *m.Answer
		}
	}
}

// over ends the session: every lock's context ends. The caller holds mu.
func (s *Session) over(why error) {
	if s.ctx.Err() != nil {
		return
	}
	s.timer.Stop()
	s.end(why)
	for number, l := range s.locks {
		delete(s.locks, number)
		l.cancel(fmt.Errorf("%w: %q: %w", ErrLost, l.name, why))
	}
}

// finish is over for a caller that does not hold mu.
func (s *Session) finish(why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over(why)
}

// call says something and waits for its answer. The message is on its way even if ctx ends.
func (s *Session) call(ctx context.Context, m protocol.Message) (protocol.Answer, error) {
	answer := make(chan protocol.Answer, 1)
	s.mu.Lock()
	if err := s.ctx.Err(); err != nil {
		s.mu.Unlock()
		return protocol.Answer{}, context.Cause(s.ctx)
	}
	s.calls[s.client.Say(m)] = answer
	s.step()
	s.mu.Unlock()
	select {
	case a := <-answer:
		return a, nil
	case <-s.ctx.Done():
		return protocol.Answer{}, context.Cause(s.ctx)
	case <-ctx.Done():
		return protocol.Answer{}, context.Cause(ctx)
	}
}

// Done is closed when the session is over. Err then says why.
func (s *Session) Done() <-chan struct{} { return s.ctx.Done() }

// Err is why the session is over, or nil. It matches ErrOver.
func (s *Session) Err() error { return context.Cause(s.ctx) }

// Close leaves. It gives back all that it holds, and what was written and not unlocked is dropped.
func (s *Session) Close() error {
	s.mu.Lock()
	s.closing = true
	s.client.Leave()
	left := s.line != nil && s.ctx.Err() == nil
	if left {
		s.step()
	}
	s.mu.Unlock()
	if left {
		select {
		case <-s.ctx.Done(): // the home has said goodbye
		case <-time.After(time.Second):
		}
	}
	s.finish(fmt.Errorf("%w: it was closed", ErrOver))
	s.group.Wait()
	return nil
}

// Match errors by these.
var (
	// ErrLost ends the context of a lock that the session has lost: its lease is over, or the
	// home has taken the lock. Calls of that lock match it, too.
	ErrLost = errors.New("session: the lock is lost: lock it again, and look what was done")
	// ErrRevoked ends the context of a lock that an operator has released by force. Unlock it.
	ErrRevoked = errors.New("session: the lock was released by force: unlock it")
	// ErrOver: the session has ended, with all its locks.
	ErrOver = errors.New("session: the session is over: dial again")
	// ErrBusy: another session holds the lock, or waits for it.
	ErrBusy = errors.New("session: the lock is not free")
	// ErrRefused: the call makes no sense, or a bound is reached.
	ErrRefused = errors.New("session: refused")
	// ErrPriorHolderLost: the holder before has lost the lock. Its writes were dropped. Its work
	// outside may be half done.
	ErrPriorHolderLost = errors.New("session: the holder before was lost")
)

// failure is an answer as an error, nil if all is well.
func failure(op, name string, a protocol.Answer) error {
	switch a.Code {
	case protocol.OK:
		return nil
	case protocol.Stale:
		return fmt.Errorf("%s %q: %w", op, name, ErrLost)
	}
	return fmt.Errorf("%s %q: %w: %s", op, name, ErrRefused, a.Why)
}

const (
	// writeTimeout ends a line whose other end takes nothing. The lease ends the session.
	writeTimeout = 10 * time.Second
	// mostUnwritten is how many bytes wait to be written on a line.
	mostUnwritten = 16 << 20
)

// line writes messages to a stream, in a goroutine of its own, so that its callers never wait.
type line struct {
	stream p2p.Stream

	mu     sync.Mutex
	more   sync.Cond
	bytes  []byte
	closed bool // no message is appended; those before are still written
}

// newLine makes a line. Call run in a goroutine.
func newLine(stream p2p.Stream) *line {
	l := &line{stream: stream}
	l.more.L = &l.mu
	return l
}

// put appends a message.
func (l *line) put(m protocol.Message) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed:
	case len(l.bytes) > mostUnwritten:
		l.closed, l.bytes = true, nil // the messages that the client has not taken come again, on another line
	default:
		l.bytes = m.Append(l.bytes)
		l.more.Signal()
	}
}

// close ends the line behind what was put.
func (l *line) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	l.more.Signal()
}

// run writes until the line is closed, or its stream is. Then it closes the stream.
func (l *line) run() {
	defer l.stream.Close()
	frozen := time.AfterFunc(writeTimeout, l.stream.Close)
	frozen.Stop()
	var spare []byte
	for {
		l.mu.Lock()
		for len(l.bytes) == 0 && !l.closed {
			l.more.Wait()
		}
		bytes := l.bytes
		l.bytes = spare[:0]
		l.mu.Unlock()
		if len(bytes) == 0 {
			return
		}
		frozen.Reset(writeTimeout)
		_, err := l.stream.Write(bytes)
		frozen.Stop()
		if err != nil {
			l.close()
			return
		}
		spare = bytes
	}
}
