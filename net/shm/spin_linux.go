package shm

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"github.com/orwl/go-orwl/net/internal/direct"
)

// A rank whose partner is on another CPU and answers at once waits half a
// microsecond if it spins, and fifty if both sleep: that is what it takes to
// wake a CPU that has halted, twice. Hence spinning pays up to the time that a
// wake-up takes, and a rank that has stopped spinning must try for as long, or
// the two would never find out. Tries that fail become rare, so that they cost
// nothing where spinning never pays: two ranks on one CPU.
//
// Where ranks outnumber CPUs, a rank that spins may keep the one that it waits for
// from running; then it yields between looks. That is slower than looking alone
// where it was not needed (1,300 ns a round trip between two CPUs instead of 700),
// and ten times as fast where it was: of 8 processes that hand over a lock on two
// CPUs, all sleep between any two steps otherwise, and each step wakes a CPU.
const spinFor = 50 * time.Microsecond

func spinning(ranks int) direct.Spin {
	looks := direct.Looks(spinFor)
	s := direct.Spin{Most: looks, Probe: looks, Elsewhere: true}
	if ranks > runtime.NumCPU() {
		s.Yield = yield
	}
	return s
}

// yield lets another process have the processor, if one wants it.
func yield() { _, _, _ = unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }
