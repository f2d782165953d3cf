package considerate

import (
	"math"
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
