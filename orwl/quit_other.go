//go:build !unix

package orwl

import "os"

// Here no signal asks for a report, or for the end.
var quitSignals, leaveSignals []os.Signal

func raise(os.Signal) {}
