package session

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	"github.com/orwl/go-orwl/net/node"
	"github.com/orwl/go-orwl/orwl/session/internal/protocol"
)

// reachTimeout is how long a home may take to answer a session that another node has sent there.
const reachTimeout = 10 * time.Second

// follow does something at the home of a name. If the server that is asked says that another node
// is the home, it goes there.
func follow[T any](ctx context.Context, s *Session, name string, do func(v *visit) (T, error)) (done T, err error) {
	v, err := s.home(name)
	if err != nil {
		return done, err
	}
	for range 2 { // a home that sends us on errs
		done, err = do(v)
		var other *elsewhere
		if !errors.As(err, &other) {
			return done, err
		}
		at := seenFrom(other.at, v.address)
		if v, err = s.visit(ctx, at); err != nil {
			return done, fmt.Errorf("%q: %s: %w", name, other.why, err)
		}
		s.know(name, at)
	}
	return do(v)
}

// home is the visit at the home of a name, if that is known, or else the one to ask.
func (s *Session) home(name string) (*visit, error) {
	s.mu.Lock()
	at, known := s.homes[name]
	s.mu.Unlock()
	if v := s.at(at); known && v != nil {
		return v, nil
	}
	return s.guide()
}

// guide is the first visit that is not over. All nodes of a run know the homes.
func (s *Session) guide() (*visit, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, v := range s.visits {
		if v.ctx.Err() == nil {
			return v, nil
		}
	}
	if len(s.visits) > 0 {
		return nil, context.Cause(s.visits[0].ctx)
	}
	return nil, context.Cause(s.ctx)
}

// at is the visit at an address, or nil.
func (s *Session) at(address string) *visit {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.visits, func(v *visit) bool { return v.address == address && v.ctx.Err() == nil })
	if i < 0 {
		return nil
	}
	return s.visits[i]
}

// know notes where the home of a name is.
func (s *Session) know(name, at string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.homes[name] = at
}

// visit is the visit at an address. It begins one if there is none.
func (s *Session) visit(ctx context.Context, address string) (*visit, error) {
	if v := s.at(address); v != nil {
		return v, nil
	}
	select {
	case s.goes <- struct{}{}:
		defer func() { <-s.goes }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if v := s.at(address); v != nil {
		return v, nil
	}
	short, cancel := context.WithTimeout(ctx, reachTimeout)
	defer cancel()
	stream, err := dialAt(short, address, s.o.Key)
	if err != nil {
		return nil, err
	}
	v, err := newVisit(ctx, s.o, address, stream)
	if err != nil {
		return nil, err
	}
	if !s.begin(v) {
		v.close()
		return nil, fmt.Errorf("%w: it was closed", ErrOver)
	}
	return v, nil
}

// seenFrom is the address of a node for a session, as another node says it. An address on
// the loopback interface there is on the machine at which the session has reached that node.
func seenFrom(at, from string) string {
	host, port, err := net.SplitHostPort(at)
	there, _, failed := net.SplitHostPort(from)
	ip := net.ParseIP(host)
	if err != nil || failed != nil || ip == nil || !ip.IsLoopback() && !ip.IsUnspecified() {
		return at
	}
	return net.JoinHostPort(there, port)
}

// sendOn is the error of a resource that has its home on another node, with the address. The
// home may be lost.
func sendOn(n node.Node, err error) error {
	var e *node.ElsewhereError
	if !errors.As(err, &e) {
		return err
	}
	if why := n.Lost(e.Home); why != nil {
		return fmt.Errorf("%w: %w, and that is lost: %w", protocol.ErrBroken, e, why)
	}
	return &protocol.ElsewhereError{Why: e.Error(), At: n.Where(e.Home)}
}

// others are where the other nodes of a run listen, without those that are lost.
func others(n node.Node) (all []string) {
	for i := range n.Nodes() {
		if i != n.Number() && n.Lost(i) == nil {
			all = append(all, n.Where(i))
		}
	}
	return all
}
