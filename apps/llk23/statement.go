package main

import (
	"os"
	"runtime"
	"time"
)

// statement is what a node has to say of its part in a run. Times are by the node's
// clock, which began with the run.
type statement struct {
	Host       string
	Processors int   // that Go uses
	Begin      int64 // when the clock began, by the host's calendar, in nanoseconds
	Took       time.Duration
	Shipped    int64     // bytes of contents that have come from other nodes
	Accounts   []account // of the node's parts
}

// account is how a main task has spent the time, and what it has read.
type account struct {
	Spent [phases]time.Duration
	Tally tally
}

// statement is this node's, once its actors have ended.
func (f *field) statement() statement {
	s := statement{
		Processors: runtime.GOMAXPROCS(0), Begin: calendar(f.begin), Took: f.ended(),
		Shipped: int64(f.nodes.Counts().BytesIn),
	}
	s.Host, _ = os.Hostname() // a host without a name is like no other
	for p := range f.here() {
		s.Accounts = append(s.Accounts, account{p.watch.spent, p.tally})
	}
	return s
}

// calendar is when a clock began, by the host's calendar. The two are read one after
// the other, and a process may stand still in between, so it looks several times: the
// latest answer is the one with the least in between.
func calendar(begin time.Time) int64 {
	latest := begin.UnixNano()
	for range 10 {
		now := time.Now()
		latest = max(latest, now.UnixNano()-int64(now.Sub(begin)))
	}
	return latest
}

// astray is how far apart the calendars of nodes on one host can be when they begin,
// which is when the last has come. If they are further apart the hosts are two that
// have the same name.
const astray = time.Second

// leads are how much later than the first of them each node has begun. Nodes of one
// host have one calendar, by which their clocks are compared. Of other hosts nothing is
// known but that a message made all begin: they are taken to have begun together
// with node 0, and are wrong by what it took to get there.
func leads(all []statement) []time.Duration {
	first := time.Duration(0)
	leads := make([]time.Duration, len(all))
	for node, s := range all {
		later := time.Duration(s.Begin - all[0].Begin)
		if s.Host != "" && s.Host == all[0].Host && later.Abs() < astray {
			leads[node] = later
		}
		first = min(first, leads[node])
	}
	for node := range leads {
		leads[node] -= first
	}
	return leads
}

// settle makes of what all nodes have said what the field's own parts and tasks
// would have, if they were all here: times are by one clock, from when the first
// node has begun until the last has ended.
func (f *field) settle(all []statement) *measured {
	done := &measured{field: f}
	leads := leads(all)
	for node, s := range all {
		done.took = max(done.took, leads[node]+s.Took)
		done.shipped += s.Shipped
		done.processors += s.Processors
	}
	for node, s := range all {
		for p := range f.of(node) {
			p.watch.spent, p.tally = s.Accounts[0].Spent, s.Accounts[0].Tally
			p.watch.spent[outside] += done.took - s.Took
			s.Accounts = s.Accounts[1:]
		}
	}
	return done
}
