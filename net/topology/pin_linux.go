package topology

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// pinThread binds the calling thread to a CPU and returns what undoes it;
// restore reports whether that worked.
func pinThread(p Rank, cpu int) (restore func() bool, err error) {
	before, err := affinity()
	if err != nil {
		return nil, &PinError{Rank: p, CPU: cpu, Err: err}
	}
	// Checked here because the kernel checks only against the cpuset, and lets
	// a thread leave the affinity that somebody chose for the process.
	if !unix.CPUSetDynamic(before).IsSet(cpu) {
		return nil, &PinError{Rank: p, CPU: cpu, Allowed: before.cpus().String()}
	}
	only := unix.NewCPUSet(maxCPUs)
	only.Set(cpu)
	if err := unix.SchedSetaffinityDynamic(0, only); err != nil {
		return nil, &PinError{Rank: p, CPU: cpu, Allowed: before.cpus().String(), Err: err}
	}
	thread := unix.Gettid()
	return func() bool {
		if unix.Gettid() != thread {
			panic(fmt.Sprintf("topology: rank %d is unpinned by another goroutine than the one that pinned it", p))
		}
		return unix.SchedSetaffinityDynamic(0, unix.CPUSetDynamic(before)) == nil
	}, nil
}
