package rendezvous

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/libp2p/go-libp2p/core/discovery"
	"github.com/libp2p/go-libp2p/core/host"
)

// Match errors by these.
var (
	// ErrFull is for a process that is one too many.
	ErrFull = errors.New("rendezvous: the run is full")
	// ErrRefused is for a process that does not fit into the run.
	ErrRefused = errors.New("rendezvous: refused")
	// ErrAlone is for a process that has not found enough others in time.
	ErrAlone = errors.New("rendezvous: not all processes came")
	// ErrNoKey is for a process without a key, which could not tell its run from another.
	ErrNoKey = errors.New("rendezvous: processes find each other by a key: give all the same, and keep it secret")
)

// Options say which processes to look for, and how.
type Options struct {
	// Nodes is how many processes there are, 1 and more. Required.
	Nodes int
	// Key is the run's secret. Required.
	Key []byte
	// Discovery finds the others, together with Host, on which it is: any of libp2p's
	// discoveries. If nil, they are found on the networks of this machine, by multicast DNS.
	Discovery discovery.Discovery
	// Host is where this process talks to the others before it is a node. It has any
	// identity. If nil, one is made, which no process without the key can talk to. It uses TCP.
	Host host.Host
	// Listen is where the host listens that is made if Host is nil, as host:port; all
	// interfaces and any port if empty.
	Listen string
	// Patience is how long Meet waits; 30 s if zero.
	Patience time.Duration
	// Log is told what goes wrong; nothing is logged if nil.
	Log *slog.Logger
}

func (o Options) withDefaults() Options {
	if o.Listen == "" {
		o.Listen = ":0"
	}
	if o.Patience == 0 {
		o.Patience = 30 * time.Second
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// mostNodes is the largest run whose processes find each other.
const mostNodes = 1 << 10

func (o Options) validate() error {
	bad := func(format string, args ...any) error { return fmt.Errorf("rendezvous: Options."+format, args...) }
	switch {
	case len(o.Key) == 0:
		return ErrNoKey
	case o.Nodes < 1 || o.Nodes > mostNodes:
		return bad("Nodes is %d, want 1 to %d", o.Nodes, mostNodes)
	case o.Patience < 0:
		return bad("Patience is %v, want more than 0", o.Patience)
	case o.Discovery != nil && o.Host == nil:
		return bad("Discovery is set without the Host on which it is")
	}
	return nil
}
