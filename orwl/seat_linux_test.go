package orwl

import (
	"fmt"
	"runtime"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/orwl/go-orwl/net/topology"
	"github.com/orwl/go-orwl/net/topology/host"
)

// onlyCPU returns the one CPU that the calling thread may use.
func onlyCPU() (int, error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return 0, err
	}
	if n := set.Count(); n != 1 {
		return 0, fmt.Errorf("the thread may use %d CPUs, want 1", n)
	}
	cpu := 0
	for !set.IsSet(cpu) {
		cpu++
	}
	return cpu, nil
}

// Each pinned worker runs on its own CPU of the tree. As many steps as there are
// workers meet in their first round, so each of them runs on a worker of its own.
func TestPinnedWorkersRunOnTheirCPUs(t *testing.T) {
	tree, err := host.Detect()
	if err != nil {
		t.Fatal(err)
	}
	n := tree.Ranks()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(n))
	rt := mustNew(t, Options{PinWorkers: true, tree: tree})
	var meeting sync.WaitGroup
	var mu sync.Mutex
	steps := map[int]int{} // by CPU
	for i := range n {
		task := rt.Task(fmt.Sprint(i))
		task.Write(rt.Resource(fmt.Sprint(i), 8))
		task.Each(1, func(int) error {
			meeting.Done()
			meeting.Wait()
			cpu, err := onlyCPU()
			mu.Lock()
			defer mu.Unlock()
			steps[cpu]++
			return err
		})
	}
	meeting.Add(n)
	if err := rt.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(steps) != n {
		t.Errorf("steps on CPUs: %v, want one on each of %d", steps, n)
	}
	for p := range topology.Rank(n) {
		cpu, _ := rt.seats.cpus.CPU(p)
		if steps[cpu] != 1 {
			t.Errorf("%d steps ran on CPU %d of worker %d, want 1", steps[cpu], cpu, p)
		}
	}
}
