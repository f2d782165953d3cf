//go:build !linux

package trace

import "time"

// machineName is "": it cannot be told which processes share a clock, so that clocks are
// compared by messages.
func machineName() string { return "" }

func monotonic() (time.Duration, bool) { return 0, false }
