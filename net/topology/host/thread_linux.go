package host

import (
	"fmt"
	"os"

	"github.com/orwl/go-orwl/net/topology"
	"golang.org/x/sys/unix"
)

func detectHere() (*topology.Tree, error) {
	// If there is no affinity, the files alone decide.
	allowed, _ := affinity()
	return detect(os.DirFS("/"), allowed.cpus())
}

// mask is a set of CPUs as system calls take it.
type mask unix.CPUSetDynamic

// affinity returns the CPUs that the calling thread may use.
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

// pinThread binds the calling thread to a CPU. restore undoes this and reports
// whether the kernel agreed.
func pinThread(p topology.Rank, cpu int) (restore func() bool, err error) {
	before, err := affinity()
	if err != nil {
		return nil, &PinError{Rank: p, CPU: cpu, Err: err}
	}
	// The kernel checks the cpuset only: it lets a thread leave the affinity
	// that the user chose for the process.
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
			panic(fmt.Sprintf("host: another goroutine pinned rank %d: call unpin from that goroutine", p))
		}
		return unix.SchedSetaffinityDynamic(0, unix.CPUSetDynamic(before)) == nil
	}, nil
}
