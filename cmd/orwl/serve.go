package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/orwl/go-orwl/internal/command"
	"github.com/orwl/go-orwl/internal/terminal"
	"github.com/orwl/go-orwl/net/p2p"
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
	f.StringVar(&o.Listen, "listen", session.DefaultAddress, command.Usage("listen", "; port 0 is any"))
	f.DurationVar(&o.Lease, "lease", 0, "a session is lost after a `TIME` of silence and a sixth of that, at most 250ms; 1.5s if 0")
	if err := command.Parse(f, args); err != nil {
		return err
	}
	var err error
	if o.Key, err = launch.KeyFromEnvironment(); err != nil {
		return command.Misusef("%w", err)
	}
	o.Log = terminal.Log(os.Stderr, slog.LevelInfo)
	ctx, stop, interrupted := command.Interrupts()
	defer stop()
	s, err := session.Listen(ctx, o)
	if errors.Is(err, p2p.ErrNoKey) {
		return command.Misusef("-listen is %q: want a key in ORWL_KEY_FILE, or 127.0.0.1: others would connect", o.Listen)
	}
	if err != nil {
		return err
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

// sessionFlags are how a command finds the server.
type sessionFlags struct{ at string }

// addressVariable is where the server is, if no flag says so.
const addressVariable = "ORWL_SERVER"

func (o *sessionFlags) define(f *flag.FlagSet) {
	f.StringVar(&o.at, "at", os.Getenv(addressVariable), command.Usage("at", "; by default that of "+addressVariable+", or "+session.DefaultAddress))
}

// dialTimeout is how long a server may take to welcome a session. One that has just been started
// waits for a lease.
const dialTimeout = 30 * time.Second

// dial connects to the server.
func (o *sessionFlags) dial(ctx context.Context, who string) (*session.Session, error) {
	key, err := launch.KeyFromEnvironment()
	if err != nil {
		return nil, command.Misusef("%w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	s, err := session.Dial(ctx, session.Options{Addresses: session.Addresses(o.at), Key: key, Who: who})
	if err != nil {
		return nil, fmt.Errorf("%w: start orwl serve, or say by -at or %s where it is", err, addressVariable)
	}
	return s, nil
}
