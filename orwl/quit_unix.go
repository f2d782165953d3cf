//go:build unix

package orwl

import (
	"os"
	"syscall"
)

// quitSignals are the signals that a run answers with a report, and leaveSignals those at which a node leaves it.
var (
	quitSignals  = []os.Signal{syscall.SIGQUIT}
	leaveSignals = []os.Signal{syscall.SIGTERM}
)

// raise has the process get a signal.
func raise(s os.Signal) { _ = syscall.Kill(os.Getpid(), s.(syscall.Signal)) }
