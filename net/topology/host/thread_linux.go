package host

import (
	"fmt"
	"os"

	"github.com/orwl/go-orwl/net/topology"
	"golang.org/x/sys/unix"
)

func detectHere() (*topology.Tree, error) {
	// Where the affinity cannot be read, the files have to do.
	allowed, _ := affinity()
	return detect(os.DirFS("/"), allowed.cpus())
}

// mask is a set of CPUs in the form that system calls take.
type mask unix.CPUSetDynamic

// affinity is the set of CPUs that the calling thread may use.
func affinity() (mask, error) {
	set := unix.NewCPUSet(maxCPUs)
	if err := unix.SchedGetaffinityDynamic(0, set); err != nil {
		return nil, err
	}
	return mask(set), nil
}

func (m mask) cpus() (set cpuSet) {
	for cpu := range maxCPUs {
		if unix.CPUSetDynamic(m).IsSet(cpu) {
			set = set.with(cpu)
		}
	}
	return set
}

// pinThread binds the calling thread to a CPU and returns what undoes it;
// restore reports whether that worked.
func pinThread(p topology.Rank, cpu int) (restore func() bool, err error) {
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
			panic(fmt.Sprintf("host: rank %d is unpinned by another goroutine than the one that pinned it", p))
		}
		return unix.SchedSetaffinityDynamic(0, unix.CPUSetDynamic(before)) == nil
	}, nil
}
