package resource

import "github.com/orwl/go-orwl/internal/invariant"

// check asserts what holds of a group and its neighbours after every step. The
// rest of the queue is as it was.
func (q *FIFO) check(g *group) {
	if !invariant.Enabled {
		return
	}
	invariant.Check((q.first == nil) == (len(q.requests) == 0) && (q.first == nil) == (q.last == nil),
		"%d requests, first group %p, last %p", len(q.requests), q.first, q.last)
	if g == nil {
		return
	}
	invariant.Check(g.members != nil && g.tail != nil && g.members.prev == nil && g.tail.next == nil, "a group without ends")
	invariant.Check(g.mode == Read || g.members == g.tail, "two writers in a group")
	invariant.Check(g.members.group == g && g.tail.group == g, "a member of two groups")
	invariant.Check((g.prev == nil) == (g == q.first) && (g.next == nil) == (g == q.last), "a group outside the queue")
	for _, n := range []*group{g.prev, g.next} {
		invariant.Check(n == nil || n.mode == Write || g.mode == Write, "two groups of readers are neighbours")
	}
}
