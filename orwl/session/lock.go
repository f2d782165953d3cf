package session

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/orwl/go-orwl/orwl/session/internal/protocol"
)

// Lock is a lock that the session holds, with its bytes. Any goroutine may use it.
type Lock struct {
	s       *Session
	name    string
	number  uint64
	ready   chan struct{} // closed when it is granted, or never will be
	failure error         // why it never will be
	grant   protocol.Grant
	ctx     context.Context
	cancel  context.CancelCauseFunc
}

// Lock waits until the session holds the lock of a name for writing. If ctx ends first, it takes
// the request back and returns the reason.
func (s *Session) Lock(ctx context.Context, name string) (*Lock, error) {
	return s.lock(ctx, name, false)
}

// RLock is Lock for reading. Neighbours in the queue that read hold it together.
func (s *Session) RLock(ctx context.Context, name string) (*Lock, error) {
	return s.lock(ctx, name, true)
}

// lock waits for a lock.
func (s *Session) lock(ctx context.Context, name string, read bool) (*Lock, error) {
	l, err := s.request(name, read)
	if err != nil {
		return nil, err
	}
	select {
	case <-l.ready:
		return l.granted()
	case <-s.ctx.Done():
		return nil, context.Cause(s.ctx)
	case <-ctx.Done():
	}
	// It may be granted by now, or be on its way.
	s.giveBack(l)
	return nil, fmt.Errorf("lock %q: %w", name, context.Cause(ctx))
}

// TryLock is Lock without waiting. The error matches ErrBusy if the lock is not free. ctx bounds
// the way to the server and back.
func (s *Session) TryLock(ctx context.Context, name string) (*Lock, error) {
	l, err := s.request(name, false)
	if err != nil {
		return nil, err
	}
	a, err := s.call(ctx, protocol.Message{Withdraw: &protocol.Withdraw{Request: l.number}})
	switch {
	case err != nil:
		s.giveBack(l)
		return nil, fmt.Errorf("lock %q: %w", name, err)
	case a.Code == protocol.OK:
		s.forget(l)
		return nil, fmt.Errorf("lock %q: %w", name, ErrBusy)
	}
	<-l.ready // the grant, or the refusal, came before the answer
	return l.granted()
}

// request puts a request into the queue.
func (s *Session) request(name string, read bool) (*Lock, error) {
	if len(name) == 0 || len(name) > protocol.MaxName {
		return nil, fmt.Errorf("%w: the name of a lock has %d bytes, want 1 to %d", ErrRefused, len(name), protocol.MaxName)
	}
	l := &Lock{s: s, name: name, ready: make(chan struct{})}
	l.ctx, l.cancel = context.WithCancelCause(context.Background())
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() != nil {
		return nil, context.Cause(s.ctx)
	}
	l.number = s.client.Say(protocol.Message{Request: &protocol.Request{Name: name, Read: read}})
	s.locks[l.number] = l
	s.step()
	return l, nil
}

// granted is what has come of a request that is ready.
func (l *Lock) granted() (*Lock, error) {
	if l.failure != nil {
		l.cancel(l.failure)
		return nil, l.failure
	}
	return l, nil
}

// giveBack takes back a request, in whatever state it is. It does not wait.
func (s *Session) giveBack(l *Lock) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() != nil || s.locks[l.number] != l {
		return
	}
	delete(s.locks, l.number) // a grant that is on its way is given back when it comes
	select {
	case <-l.ready:
		s.client.Say(protocol.Message{Release: l.grip()})
	default:
		s.client.Say(protocol.Message{Withdraw: &protocol.Withdraw{Request: l.number}})
	}
	l.cancel(context.Canceled)
	s.step()
}

func (s *Session) forget(l *Lock) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.locks, l.number)
	l.cancel(ErrBusy)
}

// Name is the lock's name.
func (l *Lock) Name() string { return l.name }

// Fence is the number of the grant. It grows with each writer, and no server uses one again.
// A reader has the last writer's. Give it to whatever you change under the lock, and have
// that refuse smaller ones.
func (l *Lock) Fence() uint64 { return l.grant.Fence }

// Version counts the writes of the bytes that were committed before the grant.
func (l *Lock) Version() uint64 { return l.grant.Version }

// Prior is nil, or an error that matches ErrPriorHolderLost: a holder before was lost.
func (l *Lock) Prior() error {
	if l.grant.Lost {
		return ErrPriorHolderLost
	}
	return nil
}

// Context ends when the lock is lost, was released by force, or is unlocked. Its cause matches
// ErrLost, ErrRevoked, or is context.Canceled. Work under the lock stops then.
func (l *Lock) Context() context.Context { return l.ctx }

// Read returns the bytes.
func (l *Lock) Read(ctx context.Context) ([]byte, error) {
	a, err := l.call(ctx, "read", protocol.Message{Read: l.grip()})
	return a.Bytes, err
}

// Write replaces the bytes, when the lock is unlocked. They are at most 1 MiB.
func (l *Lock) Write(ctx context.Context, b []byte) error {
	if len(b) > protocol.MaxBytes {
		return fmt.Errorf("write %q: %w: %d bytes, want at most %d", l.name, ErrRefused, len(b), protocol.MaxBytes)
	}
	// The message is kept until the server has taken it, and b is the caller's.
	b = append([]byte(nil), b...)
	_, err := l.call(ctx, "write", protocol.Message{Write: &protocol.Write{Request: l.number, Fence: l.grant.Fence, Bytes: b}})
	return err
}

// Unlock gives the lock back and commits what was written. An error that matches ErrLost says
// that the lock was lost before, and nothing is committed. If ctx or the session ends before the
// answer, it is not known which.
func (l *Lock) Unlock(ctx context.Context) error {
	l.cancel(context.Canceled)
	_, err := l.call(ctx, "unlock", protocol.Message{Release: l.grip()})
	l.s.mu.Lock()
	defer l.s.mu.Unlock()
	delete(l.s.locks, l.number)
	return err
}

func (l *Lock) grip() *protocol.Grip { return &protocol.Grip{Request: l.number, Fence: l.grant.Fence} }

// call is a call under the lock.
func (l *Lock) call(ctx context.Context, op string, m protocol.Message) (protocol.Answer, error) {
	a, err := l.s.call(ctx, m)
	if errors.Is(err, ErrOver) {
		err = fmt.Errorf("%w: %w", ErrLost, err)
	}
	if err != nil {
		return a, fmt.Errorf("%s %q: %w", op, l.name, err)
	}
	return a, failure(op, l.name, a)
}

// State lists the holders of a lock, and the requests that wait for it, at one moment.
type State struct {
	Name     string
	Requests []Request // the first of the queue, in order
	Length   int       // of the queue
}

// Request is a request in a queue.
type Request struct {
	Session uint64 // its number
	Who     string // Options.Who
	Read    bool
	Held    bool
	Revoked bool          // its holder was told to let go
	Fence   uint64        // 0 if it waits
	For     time.Duration // how long it holds, or waits
}

func stateOf(s protocol.State) State {
	state := State{Name: s.Name, Length: s.Length}
	for _, r := range s.Requests {
		state.Requests = append(state.Requests, Request{r.Session, r.Who, r.Read, r.Held, r.Revoked, r.Fence, time.Duration(r.For)})
	}
	return state
}

// List returns the locks that sessions hold or wait for, whose names begin with prefix, in the order of their names.
func (s *Session) List(ctx context.Context, prefix string) (all []State, err error) {
	for after := ""; ; {
		a, err := s.call(ctx, protocol.Message{List: &protocol.List{Prefix: prefix, After: after}})
		if err == nil {
			err = failure("list", prefix, a)
		}
		if err != nil {
			return nil, err
		}
		for _, state := range a.States {
			all = append(all, stateOf(state))
			after = state.Name
		}
		if !a.More {
			return all, nil
		}
	}
}

// Watch yields the state of a lock, and again after changes, until ctx or the session ends. It
// skips states that are over before it could yield them.
func (s *Session) Watch(ctx context.Context, name string) iter.Seq2[State, error] {
	return func(yield func(State, error) bool) {
		for stamp := ^uint64(0); ; {
			a, err := s.asks(ctx, "watch", name, protocol.Message{Watch: &protocol.Watch{Name: name, Stamp: stamp}})
			if err != nil {
				yield(State{Name: name}, err)
				return
			}
			if !yield(stateOf(a.States[0]), nil) {
				return
			}
			stamp = a.States[0].Stamp
		}
	}
}

// Revoke releases a lock by force: the holder with that fence, or all holders if it is 0. It
// returns how many there were. Each is told, and its context ends. The next request is granted
// when the holder has unlocked, or after lease and skew. So even then two never hold the lock.
func (s *Session) Revoke(ctx context.Context, name string, fence uint64) (int, error) {
	a, err := s.asks(ctx, "revoke", name, protocol.Message{Revoke: &protocol.Revoke{Name: name, Fence: fence}})
	return a.Count, err
}

// asks is a call about a name.
func (s *Session) asks(ctx context.Context, op, name string, m protocol.Message) (protocol.Answer, error) {
	a, err := s.call(ctx, m)
	if err == nil {
		err = failure(op, name, a)
	}
	return a, err
}
