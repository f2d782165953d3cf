package session

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/orwl/go-orwl/net/p2p"
	"github.com/orwl/go-orwl/net/p2p/rendezvous"
	"github.com/orwl/go-orwl/orwl/session/internal/protocol"
)

// DefaultAddress is where a server listens, and where a session looks for it. The port spells
// orwl on a telephone.
const DefaultAddress = "127.0.0.1:6795"

// The lease of a server by default.
const (
	standardLease = 1500 * time.Millisecond
	standardSkew  = 250 * time.Millisecond
	leastLease    = 50 * time.Millisecond
)

// ServerOptions say where a server listens and what it keeps. The zero value keeps locks that
// are made on demand, for this machine.
type ServerOptions struct {
	// Listen is where it listens: DefaultAddress if empty. Beyond the loopback interface a Key
	// is required.
	Listen string
	// Key is a secret that sessions must have. Without one every process of this machine can
	// connect.
	Key []byte
	// Lease is for how long a session is believed to live after it was heard, and Skew by how
	// much two clocks may differ over that time: 1.5 s, and a sixth of the lease but at most
	// 250 ms, by default.
	Lease, Skew time.Duration
	// Find, if not nil, lets sessions find the server without its address: by multicast DNS, or
	// by the discovery that it has. It needs a Key. Sessions have the same way in Options.Find.
	Find *rendezvous.Way
	// Log is told what goes wrong; slog.Default if nil.
	Log *slog.Logger
}

func (o ServerOptions) withDefaults() ServerOptions {
	if o.Listen == "" {
		o.Listen = DefaultAddress
	}
	if o.Lease == 0 {
		o.Lease = standardLease
	}
	if o.Skew == 0 {
		o.Skew = min(o.Lease/6, standardSkew)
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	return o
}

func (o ServerOptions) validate() error {
	switch {
	case o.Lease < leastLease || o.Lease > time.Hour:
		return fmt.Errorf("session: ServerOptions.Lease is %v, want %v to an hour", o.Lease, leastLease)
	case o.Find != nil && len(o.Key) == 0:
		return fmt.Errorf("session: ServerOptions.Find is set without a Key: %w", rendezvous.ErrNoKey)
	case o.Skew < 0 || o.Skew > o.Lease/2:
		return fmt.Errorf("session: ServerOptions.Skew is %v, want 0 to half of the lease, %v", o.Skew, o.Lease/2)
	}
	return nil
}

func (o ServerOptions) lease() protocol.Lease {
	return protocol.Lease{Lease: o.Lease, Skew: o.Skew}
}

// quarantine is for how long the server takes no session: see Server.Ready.
func (o ServerOptions) quarantine() time.Duration {
	if _, port, err := net.SplitHostPort(o.Listen); err == nil && port == "0" {
		return 0 // no session knows the address
	}
	return o.Lease + o.Skew
}

// Options say where a session finds its server.
type Options struct {
	// Addresses are where servers may be: DefaultAddress if there is none, and no Find. The session
	// goes to the first one that answers.
	Addresses []string
	// Find, if not nil, finds the server without an address, by the Key: by multicast DNS, or by
	// the discovery that it has. Addresses that there are come first.
	Find *rendezvous.Way
	// Key is the server's key.
	Key []byte
	// The session is called Who in lists: by default its host, process and program.
	Who string
}

// Addresses splits a list at its commas.
func Addresses(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
}

func (o Options) withDefaults() Options {
	if len(o.Addresses) == 0 && o.Find == nil {
		o.Addresses = []string{DefaultAddress}
	}
	if o.Who == "" {
		host, err := os.Hostname()
		if err != nil {
			host = "unknown"
		}
		o.Who = fmt.Sprintf("%s pid %d %s", host, os.Getpid(), filepath.Base(os.Args[0]))
	}
	o.Who = strings.ToValidUTF8(o.Who[:min(len(o.Who), protocol.MaxWho)], "")
	return o
}

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
