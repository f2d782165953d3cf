//go:build unix

package orwl

import (
	"os"
	"syscall"
)

// quitSignals are the signals that a run answers with a report.
var quitSignals = []os.Signal{syscall.SIGQUIT}
