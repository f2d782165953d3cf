package orwl

import (
	"runtime"
	"sync"
)

// A worker that has steps keeps its processor of the Go scheduler. If workers keep all of them, a message
// waits until the scheduler's monitor looks at the network, every 10 ms. So there is one processor more, the
// spare one, while the workers of a run with several nodes run. The operating system gives its thread a CPU
// as soon as a message comes.
var spare struct {
	mu   sync.Mutex
	uses int // by runs of this process
	with int // GOMAXPROCS with the spare one
}

// takeSpare makes the spare processor until giveBack is called.
func takeSpare() {
	spare.mu.Lock()
	defer spare.mu.Unlock()
	if spare.uses++; spare.uses == 1 {
		spare.with = runtime.GOMAXPROCS(0) + 1
		runtime.GOMAXPROCS(spare.with)
	}
}

// giveSpare ends takeSpare. It leaves a GOMAXPROCS that the program has changed meanwhile. Go follows the limits
// of a container again if it did before: the number is the default one then.
func giveSpare() {
	spare.mu.Lock()
	defer spare.mu.Unlock()
	if spare.uses--; spare.uses > 0 || runtime.GOMAXPROCS(0) != spare.with {
		return
	}
	runtime.SetDefaultGOMAXPROCS()
	if before := spare.with - 1; runtime.GOMAXPROCS(0) != before {
		runtime.GOMAXPROCS(before)
	}
}

// processors is GOMAXPROCS without the spare processor.
func processors() int {
	spare.mu.Lock()
	defer spare.mu.Unlock()
	n := runtime.GOMAXPROCS(0)
	if spare.uses > 0 && n == spare.with {
		n--
	}
	return n
}
