package looks

import (
	"fmt"
	"slices"
	"time"

	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/orwl/inspect"
)

// Request is a request in a [Line].
type Request struct {
	Who           string // a task of this node, or "node 2"
	Node          int
	Mode          queue.Mode
	Granted, Held bool
	Ticket        uint32
	Round         int64         // of a task on another node: how many of its rounds are known here
	For           time.Duration // how long it has looked so, at least
}

// Line is the queue of a resource.
type Line struct {
	Resource string
	Home     int
	Whole    bool // the home is here
	Alone    bool // the run has one node
	Planned  bool // the run has the resource for itself, or waits for it
	Now      queue.State
	Guard    *inspect.Guard // nil: there was no relaxed access here
	Requests []Request      // in the order of the queue, after Look

	grants bool   // the plan grants some
	upTo   uint32 // the last ticket of these
}

// Look adds what only the resource knows to the requests of this node's tasks, and sorts them all.
func (l *Line) Look(r *queue.Resource) {
	l.Now = r.Inspect()
	if algorithm, all, each := r.Guarded(); algorithm != "" {
		l.Guard = &inspect.Guard{Algorithm: algorithm, Acquired: all.Acquired, Waited: all.Waited, Near: all.Passed, Unfair: inspect.Unfairness(each)}
	}
	for _, g := range l.Now.Guests() {
		l.Requests = append(l.Requests, Request{
			Who: fmt.Sprintf("node %d", g.Node), Node: int(g.Node), Mode: g.Mode, Granted: g.Granted, Ticket: g.Ticket,
		})
	}
	// Tickets wrap around, so only differences count.
	slices.SortStableFunc(l.Requests, func(a, b Request) int {
		if a.Granted != b.Granted { // one of them has moved meanwhile
			if a.Granted {
				return -1
			}
			return 1
		}
		return int(int32(a.Ticket - b.Ticket))
	})
	if l.Planned && l.Now.Planned {
		l.grant()
	}
}

// grant finds what the plan of a run grants: what a queue would grant.
func (l *Line) grant() {
	for i := range l.Requests {
		r := &l.Requests[i]
		if i > 0 && !r.Held && (r.Mode == queue.Write || l.Requests[i-1].Mode == queue.Write) {
			return
		}
		r.Granted, l.upTo = true, r.Ticket
		l.grants = true
	}
}

// Grants reports whether grant has granted the request with a ticket.
func (l *Line) Grants(ticket uint32) bool { return l.grants && int32(ticket-l.upTo) <= 0 }

// ahead names the holders of grants in the line.
func (l *Line) ahead() (who []string) {
	for _, r := range l.Requests {
		if r.Granted {
			who = append(who, r.Who)
		}
	}
	return who
}

// behind names the holders of grants in the line for a request that waits. stands says that
// nothing has moved since an earlier look.
func (l *Line) behind(stands bool) []string {
	who := append([]string{}, l.ahead()...)
	if len(who) == 0 && stands && l.Alone && l.Now.Broken == nil {
		who = append(who, outsider)
	}
	return who
}

// outsider is the one that is granted a resource if no task is. It may be a handle.Pair that
// was dropped after Next. If anything moves, a look may miss the task that is granted, so
// it names the outsider only if nothing does.
const outsider = "a handle of no task"

func (l *Line) state() inspect.ResourceState {
	s := inspect.ResourceState{
		Resource: l.Resource, Home: l.Home, Whole: l.Whole, Queue: []inspect.GroupState{},
		Size: l.Now.Size, Version: l.Now.Version, Fence: l.Now.Fence, Broken: l.Now.Broken != nil,
		RelaxedWaits: l.Now.RelaxedWaits, OrderedWaits: l.Now.OrderedWaits, Guard: l.Guard,
	}
	for i, r := range l.Requests {
		last := len(s.Queue) - 1
		if i == 0 || r.Mode == queue.Write || l.Requests[i-1].Mode == queue.Write || r.Granted != l.Requests[i-1].Granted {
			s.Queue = append(s.Queue, inspect.GroupState{Mode: r.Mode.String(), Granted: r.Granted})
			last++
		}
		s.Queue[last].Members = append(s.Queue[last].Members, inspect.RequestState{Who: r.Who, Node: r.Node, Held: r.Held})
	}
	return s
}
