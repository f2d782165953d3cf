package trace

import (
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// machineName is the same for processes that share a monotonic clock. They run on one
// machine, since the same boot, in one namespace of times. It is "" if that is unknown.
func machineName() string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	space, err := os.Readlink("/proc/self/ns/time")
	if err != nil {
		space = "" // of a kernel that has none
	}
	return strings.TrimSpace(string(boot)) + space
}

// monotonic is the machine's monotonic clock.
func monotonic() (time.Duration, bool) {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		return 0, false
	}
	return time.Duration(now.Nano()), true
}
