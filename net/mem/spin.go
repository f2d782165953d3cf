package mem

import (
	"runtime"
	"time"

	"github.com/orwl/go-orwl/net/internal/direct"
)

// Where each rank has a processor, a waiting rank looks for as long as an interrupt takes.
// The kernel's clock interrupts each processor some hundreds of times a second, and so
// the rank that it waits for. A wake-up takes several times as long, since the
// processor that comes for the goroutine has fallen asleep meanwhile. The kernel may then
// leave both ranks on one processor for milliseconds, with the other one idle.
const spinFor = 20 * time.Microsecond

func spinning(ranks int) direct.Spin {
	if ranks > runtime.GOMAXPROCS(0) {
		return direct.Spin{}
	}
	return direct.Spin{Most: direct.Looks(spinFor)}
}
