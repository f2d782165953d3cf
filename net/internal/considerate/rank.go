package considerate

import (
	"math"
	"sync/atomic"
	"time"
)

// State is what a rank is doing between two turns.
type State uint8

// The states. The package documentation has the diagram.
const (
	Running State = iota // it has its turns
	Beside               // it lets a rank run that runs beside it
	Away                 // it keeps out of a queue of ranks that sleep
	Resting              // it has had a run, and lets others have theirs
)

func (s State) String() string {
	return [...]string{"running", "beside", "away", "resting"}[s]
}

// Do is what a rank does next.
type Do uint8

// The actions.
const (
	GoOn  Do = iota // come for its next turn
	Spin            // let a moment pass on its processor, and ask Next
	Offer           // offer its processor to another rank, and ask Next
	Sleep           // sleep for Action.For, and ask Next
)

func (d Do) String() string {
	return [...]string{"go on", "spin", "offer", "sleep"}[d]
}

// Action is the answer to an event.
type Action struct {
	Do  Do
	For time.Duration // of Sleep
	// Look says, with GoOn, that the ranks before this one are likely to run, so that
	// its next wait is worth looking.
	Look bool
}

// Rank is what one rank knows of its turns. All times are by one clock of the rank,
// and none is 0.
type Rank struct {
	crowd *Crowd
	state State

	handed time.Duration // when it handed over, if it has not returned since: else 0

	// Used in the state Beside.
	own  int           // turns since it let another rank run
	more time.Duration // how much longer than a moment it stays Beside

	// Used in the state Away.
	came time.Duration // when it came for the turn that it had last
	away time.Duration // how long it stayed away

	// Used in the states Away and Resting.
	began, until time.Duration
	rested       time.Duration // when the last one ended
	turns        int           // since then
	overs        int           // hand-overs since then
	run          int           // turns until it rests
	quiet        int           // rests in a row that no rank used
}

// Rank is a rank of the crowd that has had no turn.
func (c *Crowd) Rank() Rank { return Rank{crowd: c, run: c.run} }

// State is the state that the rank is in.
func (r *Rank) State() State { return r.state }

// HandedOver is the event that the rank has handed something over to a waiting rank.
func (r *Rank) HandedOver(now time.Duration) { r.overs, r.handed = r.overs+1, now }

// Returns is the event that the rank comes for a turn, after so many turns since the
// last Returns. slept says how its last wait ended: while it slept, or while it looked
// at its word. We assume that the rank that it handed over to waited in the same way.
func (r *Rank) Returns(turns int, slept bool, now time.Duration) Action {
	handed, back := r.handed, time.Duration(math.MaxInt64)
	if handed != 0 {
		r.handed, r.quiet, back = 0, 0, now-handed
	}
	r.turns += turns
	r.own += turns
	switch {
	case !slept && back < moment && r.own >= ownTurns:
		r.letRun(handed)
		return r.Next(now)
	case slept && back < soon && r.convoy():
		r.began, r.until = now, now+r.stayAway(turns, handed-r.came)
		return r.enter(Away, now)
	}
	return r.ready(now)
}

// Next is the event that the rank has done what the last Action says.
func (r *Rank) Next(now time.Duration) Action {
	if now < r.until {
		return r.enter(r.state, now)
	}
	look := r.state == Away
	switch r.state {
	case Beside:
		r.state = Running
		return r.ready(now)
	case Away, Resting:
		r.rest(now)
	}
	r.state, r.came = Running, now
	return Action{Do: GoOn, Look: look}
}

// Again is after how many turns the rank has to return though it has not handed over.
// Zero means never.
func (r *Rank) Again() int {
	if !r.crowd.crowded || r.quiet >= r.crowd.quiet {
		return 0
	}
	return r.run - r.turns
}

// ready lets the rank come for its turn, or rest if it has had a run.
func (r *Rank) ready(now time.Duration) Action {
	if r.crowd.crowded && r.turns >= r.run {
		r.away /= 2
		r.began, r.until = now, now+r.crowd.rest
		return r.enter(Resting, now)
	}
	r.came = now
	return Action{Do: GoOn}
}

// enter begins the state s, or goes on with it.
func (r *Rank) enter(s State, now time.Duration) Action {
	r.state = s
	switch {
	case s == Beside:
		return Action{Do: Spin}
	case r.crowd.rest > 0:
		return Action{Do: Sleep, For: r.until - now}
	}
	return Action{Do: Offer}
}

// letRun begins Beside. Runs even out: after a run that was longer than the run before
// it, of any rank, the rank lets the other one run for a little longer, up to twice a
// moment. After a shorter run it lets it run for a little less. Ranks differ because
// the lock's memory is nearer to some.
func (r *Rank) letRun(handed time.Duration) {
	even := r.crowd.even
	if own := int64(r.own); own > r.crowd.lastRun.Swap(own) {
		r.more = min(r.more+even, moment)
	} else {
		r.more = max(r.more-even, 0)
	}
	r.own, r.state, r.until = 0, Beside, handed+moment+r.more
}

// convoy reports whether a rank that slept for its turn stays away. A rank with longer
// runs than usual, beside goroutines that compute, does so once a run.
func (r *Rank) convoy() bool {
	c := r.crowd
	return r.run == c.run || r.turns >= r.run || r.overs >= c.run
}

// stayAway is how long the rank stays away, after so many turns. It slept for the last
// one.
//
// If n ranks are in a convoy and a hand-over to one that sleeps takes c, the queue is
// empty once all ranks stay away for n*c. A round of a rank, its time away and its wait,
// takes as long. So the rank stays away for one round. The time grows while the rank
// waits, and by the same amount for all ranks, since they wait in one queue. It halves
// when the rank has had more than one turn in a row, because the queue was empty.
func (r *Rank) stayAway(turns int, waited time.Duration) time.Duration {
	if turns == 1 {
		r.away += waited
	} else {
		r.away /= 2
	}
	r.away = min(r.crowd.most, max(r.crowd.least, r.away))
	return r.away
}

// rest ends a rest or a time away.
func (r *Rank) rest(now time.Duration) {
	c, took := r.crowd, now-r.began
	runs := 1 + max(r.until-r.began, (r.began-r.rested)*time.Duration(c.ranks)) // one of each rank
	switch {
	case took > max(longRest, slow*runs):
		r.run = min(c.longest, r.run*int(min(took/runs, time.Duration(c.longest))))
	case took < 2*runs:
		r.run = max(c.run, r.run/4)
	}
	if r.quiet++; r.overs > 0 || took > c.used {
		r.quiet = 0
	}
	r.turns, r.overs, r.rested = 0, 0, now
}

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
