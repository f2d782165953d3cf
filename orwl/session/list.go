package session

import (
	"context"
	"iter"
	"time"

	"github.com/orwl/go-orwl/orwl/session/internal/protocol"
)

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
