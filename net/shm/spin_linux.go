package shm

import (
	"time"

	"github.com/orwl/go-orwl/net/internal/direct"
)

// A rank whose partner is on another CPU and answers at once waits half a
// microsecond if it spins, and fifty if both sleep: that is what it takes to
// wake a CPU that has halted, twice. Hence spinning pays up to the time that a
// wake-up takes, and a rank that has stopped spinning must try for as long, or
// the two would never find out. Tries that fail become rare, so that they cost
// nothing where spinning never pays: more ranks than CPUs, or two on one CPU.
const spinFor = 50 * time.Microsecond

func spinning() direct.Spin {
	looks := direct.Looks(spinFor)
	return direct.Spin{Most: looks, Probe: looks, Elsewhere: true}
}
