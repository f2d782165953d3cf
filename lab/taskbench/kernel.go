package taskbench

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// KernelType is what a task computes.
type KernelType int

// The kernels of Task Bench that are here.
const (
	Empty KernelType = iota
	ComputeBound
	MemoryBound
	LoadImbalance
)

var kernelNames = []string{"empty", "compute_bound", "memory_bound", "load_imbalance"}

// KernelByName returns the kernel with this name of Task Bench.
func KernelByName(name string) (k KernelType, ok bool) {
	i := slices.Index(kernelNames, name)
	return KernelType(i), i >= 0
}

// KernelNames are the names of all kernels: "empty, compute_bound, ...".
func KernelNames() string { return strings.Join(kernelNames, ", ") }

func (k KernelType) String() string { return kernelNames[k] }

// Kernel is what the tasks of a graph compute.
type Kernel struct {
	Type       KernelType
	Iterations int
	Samples    int     // into how many parts the memory-bound kernel divides its scratch
	Imbalance  float64 // how far the iterations of the load-imbalance kernel are apart
}

const mostIterations = 1 << 30

// check says what is wrong with the kernel for a column with so many bytes of scratch.
func (k Kernel) check(scratch int) string {
	switch {
	case k.Iterations < 0 || k.Iterations > mostIterations:
		return fmt.Sprintf("-iter %d: want 0 to %d", k.Iterations, mostIterations)
	case k.Samples < 1:
		return fmt.Sprintf("-sample %d: want at least 1", k.Samples)
	case k.Imbalance < 0 || k.Imbalance > 2 || k.Imbalance != k.Imbalance:
		return fmt.Sprintf("-imbalance %v: want 0 to 2", k.Imbalance)
	case k.Type == MemoryBound && scratch < 2*k.Samples:
		return fmt.Sprintf("-scratch %d: -kernel %v needs at least 2 bytes for each of its %d samples", scratch, k.Type, k.Samples)
	}
	return ""
}

// iterations is how many iterations the kernel does in a task.
func (g *Graph) iterations(step, column int) int {
	k := g.Kernel
	if k.Type != LoadImbalance {
		return k.Iterations
	}
	apart := uniform(g.Number, step, column) - 0.5
	return int(math.Round((1 + apart*k.Imbalance) * float64(k.Iterations)))
}

// operations are the floating-point operations of a task, and the bytes that it copies.
func (g *Graph) operations(step, column int) (flops, bytes int) {
	switch n := g.iterations(step, column); g.Kernel.Type {
	case ComputeBound, LoadImbalance:
		return flopsIteration*n + lanes, 0
	case MemoryBound:
		return 0, g.Scratch * n / g.Kernel.Samples
	}
	return 0, 0
}

// memory copies inside of the scratch. An iteration copies one half of a sample to the other.
// Iterations beside each other are one copy. Each step goes on where the last one ended.
func memory(scratch []byte, samples, iterations, step int) {
	size := len(scratch) / samples
	at := step * iterations % samples
	for left := iterations; left > 0; {
		n := min(left, samples-at)
		part := scratch[at*size : (at+n)*size]
		copy(part[len(part)/2:], part[:len(part)/2])
		left -= n
		at = (at + n) % samples
	}
}
