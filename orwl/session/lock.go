package session

import (
	"context"
	"errors"
	"fmt"

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
