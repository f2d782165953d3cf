package considerate

import (
	"sync/atomic"
	"time"
)

// Crowd is what all ranks of a process share: how many they are, and what it takes
// to let another rank run. Make one with Goroutines or Processes.
type Crowd struct {
	habits
	ranks   int
	crowded bool // there are more ranks than processors

	// lastRun is the length of the run that ended last, in turns. Each run writes
	// it, so it has a line of its own.
	_       [64]byte
	lastRun atomic.Int64
	_       [64]byte
}

// Goroutines is a crowd of ranks that are goroutines of one process.
func Goroutines(ranks, processors int) *Crowd {
	return &Crowd{habits: goroutines, ranks: ranks, crowded: ranks > processors}
}

// Processes is a crowd of ranks in several processes of one machine.
func Processes(ranks, processors int) *Crowd {
	return &Crowd{habits: processes, ranks: ranks, crowded: ranks > processors}
}

// Crowded reports whether the crowd has more ranks than processors.
func (c *Crowd) Crowded() bool { return c.crowded }

// habits are the constants that depend on what a rank is.
type habits struct {
	run     int // turns of a run
	longest int // turns of the longest run
	// rest is how long a rank sleeps after a run. If zero, it offers its processor
	// instead.
	rest time.Duration
	// used is the length of a rest that let another rank run.
	used time.Duration
	// quiet is how many rests a rank takes in a row if no other rank uses them.
	quiet int
	// least and most bound the time for which a rank stays away.
	least, most time.Duration
	// even is by how much a rank with longer runs than others lets them run longer.
	even time.Duration
}

// moment is how long a rank lets another one run that runs beside it: several times
// as long as a hand-over takes, 0.2 to 0.4 µs. Both have runs of turns then, and not each
// turn is a hand-over. With 0.5 µs a lock with two ranks was 1.3 times as slow, and the 99th
// percentile of waits was 1.1 µs instead of 1.6.
const moment = time.Microsecond

// ownTurns is how many turns a rank has before it lets another one run. A rank may find
// the lock free between two turns of the other one. It must hand the lock over at once.
// If it let the other one run then, it would lose its run again and again. A run must be
// longer than ownTurns: with 16, locks that take 40 ns or more a turn (D-MCS, HMCS, C-MCS-MCS)
// had to hand over each second or third turn, and took twice as long.
const ownTurns = 4

// soon is how soon a rank returns that returns at once. A rank that does other work
// for longer never notices this package.
const soon = 20 * time.Microsecond

// mostAway is the longest time for which a rank stays away: what a convoy of 160 takes with
// hand-overs of 60 µs. A processor that has nothing to do falls asleep, and takes 5 to 30 µs to
// wake up, also for goroutines.
const mostAway = 10 * time.Millisecond

// A rank whose rest takes longer than longRest, and than slow times what all ranks
// of the crowd need for a run each, is beside goroutines that compute. Its runs grow,
// so that it keeps its share.
const (
	longRest = time.Millisecond
	slow     = 4
)

// goroutines: to offer the processor costs 0.1 µs, and a hand-over to a goroutine
// that sleeps 0.2 to 0.4 µs.
var goroutines = habits{
	run:     64, // 1 to 2 µs
	longest: 1 << 20,
	used:    time.Microsecond, // ten times an offer
	// The Go scheduler seldom moves a goroutine to another processor. So many rests in
	// a row can seem to be of no use though other ranks wait for their processor.
	quiet: 5000,
	least: time.Microsecond,
	most:  mostAway,
	even:  moment / 4,
}

// processes: to sleep costs 5 µs of a processor, and at least 70 µs pass, since the
// kernel's timers have a slack of 50 µs. A rank sleeps and does not yield. Each session
// and each container is a scheduling group, and sched_yield does not make a process give
// way to one of another group that computes, as the holder of a lock does. In its own
// group a process that yields loses the rest of a tick to one that computes.
var processes = habits{
	run:     4096, // 30 to 200 µs: a rest costs a tenth of that
	longest: 4096, // the kernel sees to shares
	rest:    50 * time.Microsecond,
	used:    200 * time.Microsecond, // twice as long as an idle processor takes
	quiet:   8,                      // 1 ms in all, since a rank alone loses what it rests
	least:   50 * time.Microsecond,
	most:    mostAway,
}
