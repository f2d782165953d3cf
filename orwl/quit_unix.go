//go:build unix

package orwl

import (
	"os"
	"syscall"
	"time"
)

// quitSignals are the signals that a run answers with a report, and leaveSignals those at which a node leaves it.
var (
	quitSignals  = []os.Signal{syscall.SIGQUIT}
	leaveSignals = []os.Signal{syscall.SIGTERM}
)

// comes is for how long raise waits.
const comes = 100 * time.Millisecond

// raise has the process get a signal. The kernel gives it to any thread, so this one waits: else the process could end with the exit code of an error
// before. A program that heeds the signal goes on.
func raise(s os.Signal) {
	_ = syscall.Kill(os.Getpid(), s.(syscall.Signal))
	<-time.After(comes)
}
