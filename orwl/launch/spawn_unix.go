//go:build unix

package launch

import (
	"context"
	"os"
	"os/signal"
	"runtime"
	"syscall"
)

// forwarded are the signals that go to the nodes. The last one makes Go programs print their
// goroutines, and orwl programs print which task waits for which.
var forwarded = []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}

// Spawn starts the nodes of a run, node 0 first and the others when it has said where it listens.
// It returns when all have ended: nil if all ended well, else a [*NodeError] of the first that did
// not, or ctx's reason. A node that was killed comes before those that failed because they missed
// it. As soon as one node fails, or ctx ends, the others are asked to end, by SIGTERM, and killed
// after Run.Grace. If a node has said that the run goes on ([Place.GoOn]), a node that fails does
// not end the others: a line on Run.Stderr names it, and Run.Restarts may start it again. SIGINT,
// SIGTERM, SIGHUP and SIGQUIT meanwhile go to the nodes instead of to this process, and SIGUSR1
// starts one node more, if Run.Begin has left any. If this process dies they do not outlive it: on
// this machine Linux kills them, and elsewhere FromEnvironment has them end by SIGTERM, and be
// killed 5 s later. They read no input.
func Spawn(ctx context.Context, r Run) error {
	r, err := r.withDefaults()
	if err == nil {
		err = r.validate()
	}
	if err != nil {
		return err
	}
	// On Linux a process dies with the thread that started it, not with its parent.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	signals := make(chan os.Signal, 8)
	for _, s := range forwarded {
		if !signal.Ignored(s) { // nohup's ignored SIGHUP stays so
			signal.Notify(signals, s)
		}
	}
	if r.Begin < r.Nodes {
		signal.Notify(signals, syscall.SIGUSR1)
	}
	defer signal.Stop(signals)

	c := newCrew(r)
	defer c.close()
	c.begin()
	done := ctx.Done()
	for c.running > 0 || c.waits() {
		select {
		case said := <-c.reports:
			c.hear(said)
		case e := <-c.endings:
			c.bury(e)
		case s := <-signals:
			if s == syscall.SIGUSR1 {
				c.grow()
				continue
			}
			c.asked = c.asked || s != syscall.SIGQUIT
			c.signal(s.(syscall.Signal))
		case <-done:
			done = nil
			c.fail(context.Cause(ctx))
		case <-c.overdue:
			c.remind()
		case <-c.patience:
			c.kill()
		}
	}
	return c.failure
}

func signalNumber(s os.Signal) int {
	if s, ok := s.(syscall.Signal); ok {
		return int(s)
	}
	return 0
}
