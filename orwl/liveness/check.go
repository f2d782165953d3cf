package liveness

import "github.com/orwl/go-orwl/internal/invariant"

// Check plays one round of the system on empty FIFOs, from the first requests in
// canonical order. It returns nil if the system goes round for ever, whatever the
// speed of its tasks. It returns a [*DeadlockError] if the system comes to a stop, and
// a [*SystemError] if the system is not well formed.
//
// # Why one round is enough
//
// Two accesses to one resource conflict unless both read. A FIFO grants a request
// exactly if nothing ahead of it conflicts with it. The order among readers of a group
// does not matter. So only the order of conflicting requests matters, and it never
// changes. Let x be ahead of y at first. Then their requests are, in the FIFO and in
// time,
//
//	x1 y1 x2 y2 x3 y3 ...
//
// The holder of x1 requests x2. At that time y1 is in the queue. The holder of y1
// requests y2. This is after the release of x1, and so after the request of x2. In the
// same way, the holder of x2 requests x3. This is after the release of y1, and so
// after the request of y2. And so on. A reader that comes round may join the last
// group, and groups may merge. The order does not change by this: the reader passes
// nothing that conflicts with it.
//
// Write (t, n) for round n of task t. Write s → t if at first an access of s is ahead
// of a conflicting access of t; s may be t. All accesses of t are granted for (t, n)
// exactly when these rounds are over:
//
//	(s, n)   for each s → t
//	(s, n-1) for each t → s, and (t, n-1)
//
// Suppose that → has no cycle. Sort the tasks by it. Take the rounds that are not
// over, of these the rounds with the least n, and of these the round of the first
// task. It waits for nothing. So at any time some task can go on, and every round of
// every task ends.
//
// Suppose that → has a cycle. Then the first rounds of its tasks wait for one another.
// None of these tasks ever runs, and no task that follows them by → runs.
//
// Both conclusions hold for every schedule, because the first requests alone determine
// →. If several tasks can fire, it does not matter which task fires first, or how
// their renewals interleave. Check lets each task fire once, as soon as it can. This
// sorts the tasks by →. When all have fired, every FIFO holds what it held at first,
// except for the order among readers of a group: the state repeats.
//
// It follows that if s → t, s has done as many rounds as t, or one more.
//
// A task may renew some accesses before others are granted. Its rounds still follow
// one another and wait only for the rounds above, so it stays alive. Such a system may
// live although Check says that it stops: Check is about tasks that hold all their
// accesses at once.
//
// If all priorities are equal, → leads from earlier tasks to later ones. Then a cycle
// is a single task that requests one resource twice, at least once to write.
func (s System) Check() error {
	if err := s.validate(); err != nil {
		return err
	}
	r := newRound(s)
	r.play()
	if r.fired == len(s.Tasks) {
		if invariant.Enabled {
			invariant.Check(r.repeats(), "a round of %v does not lead back to its beginning", s)
		}
		return nil
	}
	return r.deadlock()
}
