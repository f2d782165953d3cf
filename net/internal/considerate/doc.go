// Package considerate is the rule that keeps a lock out of convoys. The windows of
// ranks that share memory follow it; locks only report that they have handed over.
//
// # What a convoy is
//
// Let ranks outnumber processors. A lock is handed to a rank that sleeps. The rank
// that has let go comes again at once, joins the queue, and falls asleep there before
// the other one runs. From then on the queue holds all ranks, and each turn costs a
// sleep: 10 to 60 µs between processes and 0.4 µs or more between goroutines, where a turn
// alone takes 0.02 µs. Hardly any rank had to wait if ranks came only while they run.
//
// A convoy begins even if each rank has a processor. The rank whose turn it is may lose its
// processor for a moment, to something else; the others fall asleep meanwhile, and each turn
// after that costs a sleep. A processor that has nothing to do sleeps, too, and takes 5 to 30 µs
// to wake up. On a machine with 16 processors, 8 processes had 2.5 million turns a second, and
// 16 had 140,000, in a convoy.
//
// # The rule
//
//	                    slept for its turn, handed over,
//	            ┌────── and returns at once ──────▶ Away ───────┐
//	            │                                               │
//	            │       handed over to a rank that runs         │
//	Running ────┼────── beside it, after some turns ─▶ Beside ──┤
//	   ▲        │                                               │
//	   │        └────── has had a run of turns ──▶ Resting ─────┤
//	   └────────────────────────────────────────────────────────┘
//
// Away: the rank keeps out of the queue until all that wait can have had their turns.
// Then the queue is empty, and a rank that runs finds the lock free. The time away
// grows with the rank's own waits, so that it suits slow schedulers and fast ones.
//
// Beside: two ranks run on a processor each. If each turn is a hand-over, the lock's
// memory travels between the processors in each turn, which takes several times as
// long as the turn. The rank lets the other one run for a moment. Both have runs of
// turns then, equally long ones.
//
// Resting: ranks outnumber processors, and the rank has had a run. It lets others have
// theirs, so that all ranks get as many turns. It stops resting when no rank makes use
// of it, until it hands over again.
//
// A rank that is Away, Beside or Resting is in no queue, so no rank is overtaken in a
// queue. A rank that does other work between its turns is always Running.
//
// # A state machine without a clock
//
// A [Rank] has three events: HandedOver, Returns and Next. Each has the time. An
// [Action] answers the last two, and the caller carries it out with its own clock and
// scheduler:
//
//	for act := r.Returns(turns, slept, now()); act.Do != GoOn; act = r.Next(now()) {
//		// spin, offer the processor, or sleep
//	}
//
// Goroutines offer their processor (runtime.Gosched), processes sleep. The tests play
// crowds of ranks on a model of a scheduler, in virtual time.
package considerate
