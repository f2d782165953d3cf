package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/orwl/go-orwl/internal/command"
	"github.com/orwl/go-orwl/internal/terminal"
	"github.com/orwl/go-orwl/metrics"
	"github.com/orwl/go-orwl/net/p2p"
	"github.com/orwl/go-orwl/net/p2p/rendezvous"
	"github.com/orwl/go-orwl/orwl/launch"
	"github.com/orwl/go-orwl/orwl/session"
)

const serveText = `A lock is made when it is first used. Every process that has the key may use all of them:
by orwl lock and orwl holders, or by session.Dial. The key is that of ORWL_KEY or of the file
ORWL_KEY_FILE. Without one, only this machine can connect.

A server that listens at a port that it was given waits for lease and skew before it takes
the first session: a server before it may have had holders.

Ctrl-C (exit code 130) and SIGTERM (0) end it. Then every lock is lost.
`

// runServe is orwl serve.
func runServe(f *flag.FlagSet, args []string, out io.Writer) error {
	var o session.ServerOptions
	f.StringVar(&o.Listen, "listen", "", command.Usage("listen", "; port 0 is any; "+session.DefaultAddress+", or with -find "+everywhere+", by default"))
	show := f.String("metrics", "", command.Usage("metrics", ""))
	found := f.Bool("find", false, command.Usage("find", ""))
	f.DurationVar(&o.Lease, "lease", 0, "a session is lost after a `TIME` of silence and a sixth of that, at most 250ms; 1.5s if 0")
	if err := command.Parse(f, args); err != nil {
		return err
	}
	var err error
	if o.Listen != "" {
		if err := hostAndPort(o.Listen, 0); err != nil {
			return command.Misusef("-listen is %q: %w", o.Listen, err)
		}
	}
	if o.Key, err = launch.KeyFromEnvironment(); err != nil {
		return command.Misusef("%w", err)
	}
	if *found {
		if len(o.Key) == 0 {
			return errNoKey
		}
		o.Find = new(rendezvous.Way)
		o.Listen = cmp.Or(o.Listen, everywhere)
	}
	o.Log = terminal.Log(os.Stderr, slog.LevelInfo)
	ctx, stop, interrupted := command.Interrupts()
	defer stop()
	s, err := session.Listen(ctx, o)
	if errors.Is(err, p2p.ErrNoKey) {
		return command.Misusef("-listen is %q: want a key in ORWL_KEY_FILE, or 127.0.0.1: others would connect", o.Listen)
	}
	if errors.Is(err, p2p.ErrTaken) {
		return fmt.Errorf("%w by -listen; if it is orwl serve, orwl lock and orwl holders can use it", err)
	}
	if err != nil {
		return err
	}
	if *show != "" {
		m, err := monitorServer(s, *show, len(o.Key) > 0)
		if err != nil {
			return errors.Join(err, s.Close(context.Background()))
		}
		defer m.Close()
		fmt.Fprintf(out, "metrics at %s\n", m.Address())
	}
	fmt.Fprintf(out, "locks at %s\n", s.Address())
	select {
	case <-s.Ready():
		fmt.Fprintln(out, "ready")
	case <-ctx.Done():
	}
	<-ctx.Done()
	leave, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := s.Close(leave); err != nil || !interrupted() {
		return err
	}
	return command.ErrInterrupted
}

// monitorServer serves the metrics of a server.
func monitorServer(s *session.Server, address string, key bool) (*metrics.Server, error) {
	registry := prometheus.NewRegistry()
	m, err := metrics.New(metrics.Options{Registerer: registry})
	if err != nil {
		return nil, err
	}
	m.Sessions(s)
	shown, err := metrics.Serve(context.Background(), metrics.ServerOptions{Address: address, Key: key, Gatherer: registry})
	if errors.Is(err, metrics.ErrAddress) || errors.Is(err, metrics.ErrNoKey) {
		err = command.Misusef("-metrics is %q: %w", address, err)
	}
	return shown, err
}

// everywhere is where a server listens that others find.
const everywhere = ":6795"

// errNoKey is for -find.
var errNoKey = command.Misusef("-find needs a key in ORWL_KEY_FILE or ORWL_KEY: by it the server is found")

// sessionFlags are how a command finds the server.
type sessionFlags struct {
	at   string
	find bool
}

// addressVariable is where the server is, if no flag says so.
const addressVariable = "ORWL_SERVER"

func (o *sessionFlags) define(f *flag.FlagSet) {
	f.StringVar(&o.at, "at", os.Getenv(addressVariable), command.Usage("at", "; by default that of "+addressVariable+", or "+session.DefaultAddress))
	f.BoolVar(&o.find, "find", false, command.Usage("find", ""))
}

// hostAndPort checks an address. The least port is 0 where the system may choose one. A list of multiaddresses is as good.
func hostAndPort(text string, least int) error {
	if strings.HasPrefix(text, "/") {
		return nil
	}
	_, port, err := net.SplitHostPort(text)
	if n, bad := strconv.Atoi(port); err != nil || bad != nil || n < least || n > 65535 {
		return fmt.Errorf("want HOST:PORT, such as %s, with a port from %d to 65535", session.DefaultAddress, least)
	}
	return nil
}

// dialTimeout is how long a server may take to admit a session. One that has just been started
// waits for a lease.
const dialTimeout = 30 * time.Second

// dial connects to the server.
func (o *sessionFlags) dial(ctx context.Context, who string) (*session.Session, error) {
	key, err := launch.KeyFromEnvironment()
	if err != nil {
		return nil, command.Misusef("%w", err)
	}
	for _, one := range session.Addresses(o.at) {
		if err := hostAndPort(one, 1); err != nil {
			return nil, command.Misusef("-at or %s has %q: %w", addressVariable, one, err)
		}
	}
	at := session.Options{Addresses: session.Addresses(o.at), Key: key, Who: who}
	if o.find {
		if len(key) == 0 {
			return nil, errNoKey
		}
		at.Find = new(rendezvous.Way)
	}
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	s, err := session.Dial(ctx, at)
	switch {
	case errors.Is(err, rendezvous.ErrNobody):
		return nil, fmt.Errorf("%w: start orwl serve -find on this network, with the same key", err)
	case errors.Is(err, p2p.ErrStranger):
		return nil, fmt.Errorf("%w: set ORWL_KEY_FILE or ORWL_KEY to the key of that orwl serve, or unset both if it has none", err)
	case err != nil:
		return nil, fmt.Errorf("%w: start orwl serve, or say by -at or %s where it is", err, addressVariable)
	}
	return s, nil
}
