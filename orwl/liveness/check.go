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
// nothing that conflicts with it. This holds for tasks of any kind, if they renew what
// they release.
//
// Write (e, n) for step e of a task in its round n. The step can be done exactly when
// these are over:
//
//	(d, n)    for the step d before e in the task
//	(d, n-1)  for the last step d of the task, if e is its first
//	(d, n)    for each d that releases x, if e acquires y and x was ahead of y at first
//	(d, n-1)  for each d that releases x, if e acquires y and y was ahead of x at first
//
// Here x and y conflict, and x may be an access of the same task. Write d → e if (e, n)
// waits for (d, n), in the same round: the first and the third line. So → is the same
// in all rounds, and the other two lines lead to an earlier round.
//
// Suppose that → has no cycle. Sort all steps by it. Take the steps that are not over,
// of these the steps with the least n, and of these the first one. It waits for
// nothing. So at any time some step can be done. A step that can be done stays so
// until it is done, since a step takes no grant from others. By induction over n and
// the sorted steps, every step of every round is done some time.
//
// Suppose that → has a cycle. Then the steps of the cycle wait for one another in round
// 1. They are never done, and no step is done that follows them by →. A task with such
// a step never ends a round.
//
// Both conclusions hold for every schedule, because the first requests and the
// sequences alone determine →. Check lets each task do the steps of one round, each as
// soon as it can. In round 1 only → can make a step wait, so all steps are done exactly
// if → has no cycle. At the end every FIFO holds what it held at first, except for the
// order among readers of a group: the state repeats.
//
// It follows that if x was ahead of y at first, x has been released as often as y, or
// once more.
//
// # Tasks without a Sequence
//
// Such a task does two steps: it acquires all, and it releases all. It may as well
// acquire and release its accesses one by one, in an order that changes from round to
// round. Then it holds less at once, each of its steps waits for no more than the two
// steps do, and it stays alive. Such a system may live although Check says that it
// stops. A Sequence lets Check see this.
//
// If all priorities are equal, a task waits in a round only for earlier tasks and for
// itself. Then a cycle is a single task with two accesses to one resource, at least one
// of them to write. It acquires the second access before it releases the first.
func (s System) Check() error {
	if err := s.validate(); err != nil {
		return err
	}
	r := newRound(s)
	r.play()
	if r.ended == len(s.Tasks) {
		if invariant.Enabled {
			invariant.Check(r.repeats(), "a round of %v does not lead back to its beginning", s)
		}
		return nil
	}
	return r.deadlock()
}
