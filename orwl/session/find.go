package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/orwl/go-orwl/net/p2p"
	"github.com/orwl/go-orwl/net/p2p/rendezvous"
)

// ErrTwin says that another server has the key already. Sessions would find one or the other, and
// two would hold one lock.
var ErrTwin = errors.New("session: another server with this key is there: use that one, or another key")

const (
	// oneTry is how long an address that was found may take to answer. It may be one of
	// another network.
	oneTry = 2 * time.Second
	// twinPatience is how long a server looks for another one with its key, before it listens.
	twinPatience = time.Second
)

// find connects to the first server that answers: at the addresses, or where one is found.
func find(ctx context.Context, o Options) (address string, stream p2p.Stream, err error) {
	var errs []error
	for _, address := range o.Addresses {
		stream, err := dialAt(ctx, address, o.Key)
		if err == nil {
			return address, stream, nil
		}
		errs = append(errs, err)
	}
	if o.Find == nil {
		return "", nil, errors.Join(errs...)
	}
	var last error // the error of the last server that was found
	for address, err := range o.Find.Find(ctx, o.Key) {
		if err != nil {
			return "", nil, errors.Join(append(errs, err, last)...)
		}
		if stream, err = tryAt(ctx, address, o.Key); err == nil {
			return address, stream, nil
		}
		last = err
	}
	panic("session: Find has ended without an error")
}

// tryAt dials an address at which there may be no server.
func tryAt(ctx context.Context, address string, key []byte) (p2p.Stream, error) {
	ctx, cancel := context.WithTimeout(ctx, oneTry)
	defer cancel()
	return dialAt(ctx, address, key)
}

func dialAt(ctx context.Context, address string, key []byte) (p2p.Stream, error) {
	return p2p.DialSession(ctx, p2p.SessionOptions{Address: address, Key: key})
}

// alone looks for a server that has the key already.
func alone(ctx context.Context, o ServerOptions) error {
	way := *o.Find
	way.Patience = twinPatience
	for address, err := range way.Find(ctx, o.Key) {
		if err != nil {
			if errors.Is(err, rendezvous.ErrNobody) {
				err = nil
			}
			return err
		}
		if stream, err := tryAt(ctx, address, o.Key); err == nil {
			stream.Close()
			return fmt.Errorf("%w: it is at %s", ErrTwin, address)
		}
	}
	panic("session: Find has ended without an error")
}

// announce lets sessions find the server, until it is closed.
func (s *Server) announce(o ServerOptions) {
	if o.Find == nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.hide = cancel
	s.group.Go(func() {
		if err := o.Find.Announce(ctx, s.node.Host(), o.Key, s.log); err != nil {
			s.log.Warn("session: no session can find this server: give its address to sessions", "why", err)
		}
	})
}
