package session

import (
	"context"
	"slices"
	"sync"
)

// Session is this process's right to hold locks of a server, or of the nodes of a run. Any
// goroutine may use it.
//
// It visits one server first. If that is not the home of a resource, it says which node is, and
// the session visits that one, too. Each visit has a lease of its own, so what is held at one
// node outlives the others. The session is over when no visit is left.
type Session struct {
	o   Options
	ctx context.Context // done when the session is over; the cause is why
	end context.CancelCauseFunc
	// goes is held while a new server is dialled, so that each is visited once.
	goes chan struct{}

	mu     sync.Mutex
	visits []*visit          // the first one answers what the session does not know
	homes  map[string]string // by name: where its home is, if a server has said so
	closed bool
}

// Dial connects to a server and returns when it has welcomed the session. ctx bounds only that.
// If no server listens at any address, Dial fails at once.
func Dial(ctx context.Context, o Options) (*Session, error) {
	o = o.withDefaults()
	address, stream, err := find(ctx, o)
	if err != nil {
		return nil, err
	}
	v, err := newVisit(ctx, o, address, stream)
	if err != nil {
		return nil, err
	}
	s := &Session{o: o, goes: make(chan struct{}, 1), homes: make(map[string]string)}
	s.ctx, s.end = context.WithCancelCause(context.Background())
	s.begin(v)
	return s, nil
}

// begin adds a visit, until it is over. It is false if the session is closed.
func (s *Session) begin(v *visit) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.visits = append(s.visits, v)
	context.AfterFunc(v.ctx, func() { s.ended(v) })
	return true
}

// ended forgets a visit. Without any, the session is over.
func (s *Session) ended(v *visit) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.visits = slices.DeleteFunc(s.visits, func(other *visit) bool { return other == v })
	if len(s.visits) == 0 {
		s.end(context.Cause(v.ctx))
	}
}

// Done is closed when the session is over. Err then says why.
func (s *Session) Done() <-chan struct{} { return s.ctx.Done() }

// Err is why the session is over, or nil. It matches ErrOver.
func (s *Session) Err() error { return context.Cause(s.ctx) }

// Close leaves. It gives back all that it holds, and what was written and not unlocked is dropped.
func (s *Session) Close() error {
	s.mu.Lock()
	s.closed = true
	visits := slices.Clone(s.visits)
	s.mu.Unlock()
	var group sync.WaitGroup
	for _, v := range visits {
		group.Go(v.close)
	}
	group.Wait()
	<-s.ctx.Done() // the last visit has ended
	return nil
}

// Lock waits until the session holds the lock of a name for writing. If ctx ends first, it takes
// the request back and returns the reason.
func (s *Session) Lock(ctx context.Context, name string) (*Lock, error) {
	return follow(ctx, s, name, func(v *visit) (*Lock, error) { return v.lock(ctx, name, false) })
}

// RLock is Lock for reading. Neighbours in the queue that read hold it together.
func (s *Session) RLock(ctx context.Context, name string) (*Lock, error) {
	return follow(ctx, s, name, func(v *visit) (*Lock, error) { return v.lock(ctx, name, true) })
}

// TryLock is Lock without waiting. The error matches ErrBusy if the lock is not free. ctx bounds
// the way to the server and back.
func (s *Session) TryLock(ctx context.Context, name string) (*Lock, error) {
	return follow(ctx, s, name, func(v *visit) (*Lock, error) { return v.tryLock(ctx, name) })
}
