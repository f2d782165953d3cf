package shm

import (
	"time"

	"github.com/orwl/go-orwl/net/internal/direct"
)

// A rank whose partner answers at once, from another CPU, waits half a microsecond if
// it spins, and fifty if both sleep: to wake a CPU that has halted takes that long,
// twice. So spinning pays for up to the time of a wake-up. A rank that has stopped
// spinning tries again for as long, or two such ranks never find out. A try that
// fails makes the next one rarer, so that tries cost nothing where spinning never
// pays: two ranks on one CPU.
//
// After that a rank sleeps in its futex. Where ranks outnumber CPUs it does so earlier:
// the rank that it waits for may need its CPU, and no CPU has halted. It does not call
// sched_yield between its looks: it would not give way to a rank of another session or
// container.
const (
	spinFor     = 50 * time.Microsecond
	spinCrowded = 10 * time.Microsecond
)

func spinning(crowded bool) direct.Spin {
	looks := direct.Looks(spinFor)
	if crowded {
		looks = direct.Looks(spinCrowded)
	}
	return direct.Spin{Most: looks, Probe: looks, Elsewhere: true}
}
