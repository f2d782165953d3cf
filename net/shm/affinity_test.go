//go:build linux

package shm

import (
	"os"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
)

// The placements of two processes. Which one it is decides a ping-pong.
const (
	anywhere = "free" // wherever the system likes
	same     = "same-CPU"
	apart    = "one-CPU-each"
)

var placements = []string{anywhere, same, apart}

// pinned puts this process where a placement has it, for the length of a
// benchmark, and says which CPU the other process is to use, -1 for any.
func pinned(b *testing.B, placement string) (other int) {
	b.Helper()
	var before unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		b.Fatal(err)
	}
	var cpus []int
	for cpu := 0; len(cpus) < before.Count(); cpu++ {
		if before.IsSet(cpu) {
			cpus = append(cpus, cpu)
		}
	}
	if placement == anywhere {
		return -1
	}
	if placement == apart && len(cpus) < 2 {
		b.Skip("one CPU each needs two CPUs")
	}
	if err := pin(cpus[0]); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := affinity(before); err != nil {
			b.Error(err)
		}
	})
	if placement == same {
		return cpus[0]
	}
	return cpus[1]
}

// pin moves this process to a CPU, unless that is -1.
func pin(cpu int) error {
	if cpu < 0 {
		return nil
	}
	var set unix.CPUSet
	set.Set(cpu)
	return affinity(set)
}

// affinity sets the CPUs of every thread of this process.
func affinity(set unix.CPUSet) error {
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return err
	}
	for _, thread := range threads {
		id, err := strconv.Atoi(thread.Name())
		if err != nil {
			return err
		}
		if err := unix.SchedSetaffinity(id, &set); err != nil {
			return err
		}
	}
	return nil
}
