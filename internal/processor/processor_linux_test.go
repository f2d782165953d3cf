package processor

import (
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// A thread that is bound to a CPU finds its number.
func TestNumberIsTheCPU(t *testing.T) {
	if !known {
		t.Skip("this processor has no RDPID")
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		t.Skip(err)
	}
	defer unix.SchedSetaffinity(0, &before)
	for cpu := range 1024 {
		if !before.IsSet(cpu) {
			continue
		}
		var only unix.CPUSet
		only.Set(cpu)
		if err := unix.SchedSetaffinity(0, &only); err != nil {
			t.Fatal(err)
		}
		if got := Number(); got != cpu {
			t.Errorf("on CPU %d: %d", cpu, got)
		}
	}
}
