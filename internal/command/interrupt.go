package command

import (
	"context"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
)

// Interrupts is a context that ends by Ctrl-C or SIGTERM, and a function that tells whether it was
// Ctrl-C: the program's exit code is Interrupted then. A second signal ends the program at once.
func Interrupts() (ctx context.Context, stop func(), interrupted func() bool) {
	var pressed atomic.Bool
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	ctx, cancel := context.WithCancelCause(context.Background())
	go func() {
		select {
		case s := <-signals:
			pressed.Store(s == os.Interrupt)
			signal.Stop(signals)
			if s == os.Interrupt {
				cancel(ended("interrupted"))
			} else {
				cancel(ended("terminated"))
			}
		case <-ctx.Done():
			signal.Stop(signals)
		}
	}()
	return ctx, func() { cancel(nil) }, pressed.Load
}

// ended is the cause of a context that a signal has ended. It is context.Canceled, in other words.
type ended string

func (e ended) Error() string { return string(e) }

// Is reports whether target is context.Canceled.
func (e ended) Is(target error) bool { return target == context.Canceled }
