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

// Request is a session's request in a queue.
type Request struct {
	Session uint64 // its number
	Who     string // as Options.Who says
	Read    bool
	Held    bool
	Revoked bool          // its holder was told to let go
	Fence   uint64        // 0 if it waits
	For     time.Duration // that it holds, or waits
}

func stateOf(s protocol.State) State {
	state := State{Name: s.Name, Length: s.Length}
	for _, r := range s.Requests {
		state.Requests = append(state.Requests, Request{r.Session, r.Who, r.Read, r.Held, r.Revoked, r.Fence, time.Duration(r.For)})
	}
	return state
}

// List returns the locks that sessions hold or wait for, whose names begin with prefix, in the
// order of their names. Tasks of a run that use the same resources are not in it.
func (s *Session) List(ctx context.Context, prefix string) ([]State, error) {
	var all []State
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
		a, err := s.call(ctx, protocol.Message{Watch: &protocol.Watch{Name: name, Stamp: ^uint64(0)}})
		for {
			if err == nil {
				err = failure("watch", name, a)
			}
			if err != nil {
				yield(State{Name: name}, err)
				return
			}
			if !yield(stateOf(a.States[0]), nil) {
				return
			}
			a, err = s.call(ctx, protocol.Message{Watch: &protocol.Watch{Name: name, Stamp: a.States[0].Stamp}})
		}
	}
}

// Revoke releases a lock by force: the holder with that fence, or all holders if it is 0. It
// returns how many there were. Each is told, and its context ends. The next request is granted
// when the holder has unlocked, or after lease and skew. So even then two never hold the lock.
func (s *Session) Revoke(ctx context.Context, name string, fence uint64) (int, error) {
	a, err := s.call(ctx, protocol.Message{Revoke: &protocol.Revoke{Name: name, Fence: fence}})
	if err == nil {
		err = failure("revoke", name, a)
	}
	return a.Count, err
}
