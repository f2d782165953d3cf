package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/orwl/go-orwl/internal/command"
	"github.com/orwl/go-orwl/orwl/session"
)

const lockText = `orwl serve keeps the locks. Those that wait for a lock have it one after the other, first
come, first served. COMMAND has these variables:

  ORWL_LOCK    the name
  ORWL_FENCE   the number of the grant. It grows: give it to what the command changes, and
               have that refuse smaller ones
  ORWL_PRIOR   "lost" if the holder before was lost, and may have done half of its work

If the lock is lost, COMMAND is killed, with its process group. If somebody releases the
lock by force, it gets SIGTERM first. If orwl lock itself is killed, Linux kills COMMAND. If
orwl lock is stopped (SIGSTOP), or its machine, COMMAND may run on although the lock is lost:
only the fence keeps its writes out then.

The exit code is that of COMMAND, or 1 if the lock was lost or is not free.
`

// grace is how long a command may take to end by SIGTERM: less than a lease.
const grace = time.Second

// runLock is orwl lock.
func runLock(f *flag.FlagSet, args []string, out io.Writer) error {
	var at sessionFlags
	at.define(f)
	try := f.Bool("try", false, "do not wait: fail if the lock is not free; -n, too, as flock has it")
	command.Old(f, "n", "try")
	wait := f.Duration("wait", 0, "wait for a `TIME` at most; for ever if 0")
	read := f.Bool("read", false, "share the lock with others that read")
	if err := command.ParseFlags(f, args); err != nil {
		return err
	}
	line := f.Args()
	if len(line) > 1 && line[1] == "--" {
		line = append(line[:1:1], line[2:]...)
	}
	switch {
	case len(line) < 2:
		return command.Misusef("want a name and a command, as in orwl lock backup -- ./backup.sh")
	case *try && (*wait != 0 || *read):
		return command.Misusef("-try excludes -wait and -read")
	case *wait < 0:
		return command.Misusef("-wait is %v, want 0 or more", *wait)
	}
	program, err := findProgram(line[1])
	if err != nil {
		return err
	}
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, forwarded...)
	defer signal.Stop(signals)
	s, err := at.dial(context.Background(), describe(line[1:]))
	if err != nil {
		return err
	}
	defer s.Close()
	l, err := acquire(s, line[0], *try, *read, *wait, signals)
	if errors.Is(err, session.ErrBusy) {
		return fmt.Errorf("%w: orwl holders %s shows who has it", err, line[0])
	}
	if err != nil {
		return err
	}
	ran := hold(l, exec.Command(program, line[2:]...), out, signals)
	if err := l.Unlock(context.Background()); err != nil && !errors.Is(ran, session.ErrLost) {
		return errors.Join(err, ran)
	}
	return ran
}

// findProgram finds a program as a shell does.
func findProgram(name string) (string, error) {
	program, err := exec.LookPath(name)
	if err != nil {
		return "", command.Misusef("%w: name a program of $PATH, or the path of one, such as ./prog", err)
	}
	return program, nil
}

// describe is what lists show of this process.
func describe(line []string) string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s pid %d: %s", host, os.Getpid(), strings.Join(line, " "))
}

// acquire waits for the lock, or for a signal.
func acquire(s *session.Session, name string, try, read bool, wait time.Duration, signals <-chan os.Signal) (*session.Lock, error) {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	if wait > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, wait, fmt.Errorf("%w after %v", session.ErrBusy, wait))
		defer stop()
	}
	done := make(chan struct{})
	defer close(done)
	go func() {
		select {
		case s := <-signals:
			cancel(fmt.Errorf("%v", s))
		case <-done:
		}
	}()
	switch {
	case try:
		return s.TryLock(ctx, name)
	case read:
		return s.RLock(ctx, name)
	}
	return s.Lock(ctx, name)
}

// exitOf is the error of a command that has ended. Its code becomes ours: 128 and the signal for
// a command that a signal has ended, as in a shell.
func exitOf(err error) error {
	var exited *exec.ExitError
	if !errors.As(err, &exited) {
		return err
	}
	code := exited.ExitCode()
	if code < 0 {
		code = 128 + signalOf(exited)
	}
	return &command.ExitError{Code: code, Err: fmt.Errorf("the command ended with %w", err)}
}

// hold runs the command, and ends it when the lock is lost.
func hold(l *session.Lock, c *exec.Cmd, out io.Writer, signals <-chan os.Signal) error {
	// On Linux a process dies with the thread that started it, not with its parent.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, command.Below(out), os.Stderr
	c.Env = append(os.Environ(), "ORWL_LOCK="+l.Name(), fmt.Sprintf("ORWL_FENCE=%d", l.Fence()))
	if errors.Is(l.Prior(), session.ErrPriorHolderLost) {
		c.Env = append(c.Env, "ORWL_PRIOR=lost")
	}
	group := prepare(c)
	if err := c.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	var why error
	lost := l.Context().Done()
	var late <-chan time.Time
	for {
		select {
		case err := <-ended:
			if why != nil {
				return why
			}
			return exitOf(err)
		case s := <-signals:
			group.signal(s)
		case <-lost:
			lost = nil
			why = context.Cause(l.Context())
			if errors.Is(why, session.ErrRevoked) {
				group.signal(syscall.SIGTERM)
				late = time.After(grace)
			} else {
				group.kill()
			}
		case <-late:
			group.kill()
		}
	}
}
