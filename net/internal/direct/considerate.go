package direct

import (
	"math"
	"runtime"
	"time"

	"github.com/orwl/go-orwl/net/rma"
)

var _ rma.Considerate = (*Window)(nil)

// moment is for how long a rank lets the one be that it has handed over to, where both
// run: several times what it takes a cache line to go to another processor and back. They
// have runs of turns by turns then, and not every turn a hand-over.
const moment = 500 * time.Nanosecond

// ownTurns is how many turns make a run that the next one may follow. Whoever comes may find
// the lock free, between two turns of the other one's run, and has to hand it over
// at once, since that one is back: its own run is still to come, and it lets nobody be
// before. Otherwise the same rank would lose its run again and again.
const ownTurns = 16

// A rank that has more turns in its runs than others, perhaps because what it uses is
// nearer, lets them be for more than a moment: for so much more after each such run, and less
// again after one that was shorter than theirs.
const evenOut = moment / 4

// Where ranks outnumber processors, a lock ends up in a convoy: it is handed to a rank
// that sleeps, and whoever has let go of it comes again, and falls asleep behind all
// others, long before that one runs. From then on every turn costs a sleep, though hardly
// anybody would have to wait if ranks came only while they run. Goroutines get into it even
// with processors enough: one that is woken is the next on the processor of who woke it,
// which soon falls asleep, and no other processor comes by in between.
//
//	                    ┌── so many turns ──▶ rests ──┐
//	                    │                             │
//	comes ──▶ is let in by who runs ◀─────────────────┘
//	  │                                               ▲
//	  └─────▶ sleeps for its turn, hands on ──▶ stays away
//
// A rank that has slept for its turn, has handed on and comes again at once therefore
// stays away until those who wait can have had their turns. Then the queue is short, and
// whoever runs finds the lock free, or held by another one that runs, and lets that one be
// for a moment. So that all have as many turns, a rank rests after some, if there are not
// processors for all: it offers its own.
//
// Nobody is overtaken in a queue: who stays away or rests is not in it. All of this is for
// ranks that come again at once; who does something else in between for longer never
// notices.
const (
	// atOnce is how soon a rank comes again that is asked to stay away.
	atOnce = 40 * moment

	// Ranks that are goroutines of this process, and those of several processes.
	turnsHere, turnsElsewhere = 64, 1024
	awayHere, awayElsewhere   = 400 * time.Nanosecond, 20 * time.Microsecond // for each rank
	mostAwayHere              = 20 * time.Microsecond
	mostAwayElsewhere         = 500 * time.Microsecond

	// A rank does not rest any more after so many runs in which nobody waited, if nobody ran
	// in the rests, either: these were shorter than quietRest then.
	quietRuns = 5000
	quietRest = time.Microsecond

	// A goroutine that gets its processor back later than all ranks of the window can be the
	// cause of is beside others that compute, and has more turns in a row, so that it keeps
	// its share; unless somebody waits in each of them. Of processes the kernel sees to that.
	mostRest  = 4
	someRest  = time.Millisecond // in any case
	mostTurns = 1 << 20
)

// considerate is what a rank remembers of its turns.
type considerate struct {
	born    time.Time
	crowded bool          // there are more ranks than processors
	gave    int           // how often it gave way since it has rested
	since   time.Duration // when it gave way, if it is to wait for that: else 0
	more    time.Duration // than a moment
	own     int           // turns since it has let somebody be
	turns   int           // turns since it has rested
	run     int           // turns until it rests
	least   int           // that are a run
	quiet   int           // runs
	rested  time.Duration // when it has last
}

func newConsiderate(parks bool, ranks int, s Spin) considerate {
	if parks {
		return considerate{born: time.Now(), crowded: ranks > runtime.GOMAXPROCS(0), run: turnsHere, least: turnsHere}
	}
	return considerate{born: time.Now(), crowded: s.Yield != nil, run: turnsElsewhere, least: turnsElsewhere}
}

// HandedOver implements rma.Considerate.
func (w *Window) HandedOver() {
	w.gave++
	if w.looked || w.crowded || w.parks {
		w.since = w.now()
	}
}

// Returns implements rma.Considerate. That the other one looks at its word right now, or
// sleeps, is to be supposed if this one did so when it waited for the last time.
func (w *Window) Returns(turns int) (again int) {
	gave, came := w.since, time.Duration(math.MaxInt64)
	if gave != 0 {
		came, w.since = w.now()-gave, 0
	}
	if w.own += turns; w.looked && came < moment && w.own >= ownTurns {
		w.letRun(gave)
	}
	w.turns += turns
	slept := came < atOnce && !w.looked && (w.crowded || w.parks)
	over := w.turns >= w.run
	if slept && (over || w.run == w.least || w.gave >= w.least) {
		w.stayAway()
		over = false
	}
	if !w.crowded || over && !w.rest() {
		return 0
	}
	return w.run - w.turns
}

// letRun lets another rank be, since this one gave way.
func (w *Window) letRun(gave time.Duration) {
	if w.parks {
		if own := int64(w.own); own > w.world.lastRun.Swap(own) {
			w.more = min(w.more+evenOut, moment)
		} else {
			w.more = max(w.more-evenOut, 0)
		}
	}
	for w.own = 0; w.now() < gave+moment+w.more; {
		relax(spinRelax)
	}
}

// stayAway lets those have their turns who wait. Whom this rank finds before it then is
// likely to run, so that it is worth looking.
func (w *Window) stayAway() {
	away, most := awayElsewhere, mostAwayElsewhere
	if w.parks {
		away, most = awayHere, mostAwayHere
	}
	began, long := w.now(), min(most, away*time.Duration(len(w.segments)))
	for w.offer(); w.now() < began+long; {
		w.offer()
	}
	w.spin.looks, w.looked = int32(w.spin.Most), true
	w.goesOn(began, long)
}

// rest offers the processor after a run, and reports whether there is to be another one.
func (w *Window) rest() bool {
	began := w.now()
	w.offer()
	if w.quiet++; w.gave > 0 || w.now()-began > quietRest {
		w.quiet = 0
	}
	w.goesOn(began, 0)
	return w.quiet < quietRuns
}

// goesOn is the end of a rest that was to be so long at least.
func (w *Window) goesOn(began, least time.Duration) {
	now := w.now()
	theirs := 1 + max(least, (began-w.rested)*time.Duration(len(w.segments)))
	switch took := now - began; {
	case !w.parks:
	case took > max(someRest, mostRest*theirs):
		w.run = min(mostTurns, w.run*int(min(mostTurns, took/theirs)))
	case took < 2*theirs:
		w.run = max(w.run/4, w.least)
	}
	w.turns, w.gave, w.rested = 0, 0, now
}

// offer lets others run: processes, and goroutines if they are ranks, too. Without any, the
// Go scheduler would wake a thread to look for one, which with 32 processes makes each
// turn a hundred times as long.
func (w *Window) offer() {
	if w.world.here.Load() > 1 {
		runtime.Gosched()
	}
	if !w.parks {
		w.spin.Yield()
	}
}

// now is the time by the rank's own clock, and never 0.
func (c *considerate) now() time.Duration { return time.Since(c.born) + 1 }
