package host

import (
	"errors"
	"fmt"
	"os"
	"strconv"

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

// Bind has all threads of this process run on some CPUs only, also those that begin later, until unbind. It does not
// know of threads that are pinned one by one.
func Bind(cpus []int) (unbind func(), err error) {
	before, err := affinity()
	if err != nil {
		return nil, bindError(cpus, err)
	}
	only := unix.NewCPUSet(maxCPUs)
	for _, cpu := range cpus {
		only.Set(cpu)
	}
	if err := bindAll(only); err != nil {
		_ = bindAll(unix.CPUSetDynamic(before))
		return nil, bindError(cpus, err)
	}
	return func() { _ = bindAll(unix.CPUSetDynamic(before)) }, nil
}

func bindError(cpus []int, err error) error {
	return fmt.Errorf("host: the process cannot be bound to CPUs %v: %w", cpus, err)
}

// bindAll binds all threads. A thread that begins gets the CPUs of the one that begins it, so it looks again until all that it
// finds are bound.
func bindAll(cpus unix.CPUSetDynamic) error {
	const threads = "/proc/self/task"
	bound := make(map[int]bool)
	for more := true; more; {
		all, err := os.ReadDir(threads)
		if err != nil {
			return err
		}
		more = false
		for _, t := range all {
			id, err := strconv.Atoi(t.Name())
			if err != nil || bound[id] {
				continue
			}
			if err := unix.SchedSetaffinityDynamic(id, cpus); err != nil && !errors.Is(err, unix.ESRCH) {
				return err
			}
			bound[id], more = true, true
		}
	}
	return nil
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
