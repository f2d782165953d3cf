package mem

import (
	"runtime"
	"time"

	"github.com/orwl/go-orwl/net/internal/direct"
)

// Where each rank has a processor, a waiting rank looks for as long as a wake-up takes: a
// processor that has nothing to do falls asleep, and needs 5 to 50 µs to wake up. The kernel may
// then leave both ranks on one processor for milliseconds, with the other one idle. An interrupt
// takes less, and each processor has some hundreds of them a second. A rank that has stopped
// looking tries again for as long, or ranks that once sleep sleep for ever.
const spinFor = 50 * time.Microsecond

func spinning(ranks int) direct.Spin {
	if ranks > runtime.GOMAXPROCS(0) {
		return direct.Spin{}
	}
	looks := direct.Looks(spinFor)
	return direct.Spin{Most: looks, Probe: looks}
}
