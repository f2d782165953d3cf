package mem

import (
	"runtime"
	"time"

	"github.com/orwl/go-orwl/net/internal/direct"
)

// Where each rank has a processor, one that waits looks for as long as an interrupt keeps the
// processor of the one that it waits for, and the kernel's clock makes some hundreds of them a
// second. To be woken takes several times as long, since the processor that comes for a
// goroutine has fallen asleep meanwhile; and then the kernel may leave both on one processor,
// with the other one idle, for milliseconds.
const spinFor = 20 * time.Microsecond

func spinning(ranks int) direct.Spin {
	if ranks > runtime.GOMAXPROCS(0) {
		return direct.Spin{}
	}
	return direct.Spin{Most: direct.Looks(spinFor)}
}
